//! [`CallerStreams`]: the three streams between which a run passes bytes on, and the [`Mode`] that fits them.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::fstat,
    io::fcntl_dupfd_cloexec,
    process::getpgrp,
    stdio,
    termios::{Winsize, isatty, tcgetpgrp, tcgetwinsize},
};

/// The size of the program's terminal if the caller has none.
const DEFAULT_SIZE: Winsize = Winsize {
    ws_row: 24,
    ws_col: 80,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// Lowest number of a duplicated descriptor: the first three keep their meaning.
const FIRST_FREE: i32 = 3;

/// The streams that the program's bytes come from and go to.
#[derive(Debug)]
pub struct CallerStreams {
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
}

impl CallerStreams {
    /// Duplicates the streams of this process.
    pub fn of_this_process() -> io::Result<Self> {
        Ok(Self {
            stdin: fcntl_dupfd_cloexec(stdio::stdin(), FIRST_FREE)?,
            stdout: fcntl_dupfd_cloexec(stdio::stdout(), FIRST_FREE)?,
            stderr: fcntl_dupfd_cloexec(stdio::stderr(), FIRST_FREE)?,
        })
    }

    /// Returns whether standard error goes where standard output goes: the same file (`2>&1`), or a terminal, too. One
    /// stream for both keeps the order of their bytes.
    pub(crate) fn is_error_merged(&self) -> bool {
        if isatty(&self.stdout) && isatty(&self.stderr) {
            return true;
        }
        let (Ok(output), Ok(error)) = (fstat(&self.stdout), fstat(&self.stderr)) else {
            return false;
        };
        (output.st_dev, output.st_ino) == (error.st_dev, error.st_ino)
    }

    /// Returns a duplicate of the first of the streams that is a terminal.
    pub(crate) fn terminal(&self) -> io::Result<Option<OwnedFd>> {
        let mut streams = [&self.stdin, &self.stdout, &self.stderr].into_iter();
        let terminal = streams.find(|end| isatty(end));
        terminal.map(OwnedFd::try_clone).transpose()
    }

    /// Returns the size of the caller's terminal, else 80 columns by 24 rows.
    pub(crate) fn size(&self) -> Winsize {
        let streams = [&self.stdin, &self.stdout, &self.stderr];
        let mut sizes = streams.into_iter().filter_map(|end| tcgetwinsize(end).ok());
        sizes.next().unwrap_or(DEFAULT_SIZE)
    }
}

/// The kind of stream that the program gets as its standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A pseudo-terminal.
    Pty,
    /// Pipes; standard input is the caller's own.
    Pipes,
}

impl Mode {
    /// Returns [`Mode::Pty`] if standard input and output are terminals and this process is in the foreground.
    ///
    /// A process in the background must not change the terminal's settings: the system stops it for that.
    pub fn suited_to(caller: &CallerStreams) -> Self {
        let is_terminal = isatty(&caller.stdin) && isatty(&caller.stdout);
        if is_terminal && is_in_foreground(&caller.stdin) {
            Self::Pty
        } else {
            Self::Pipes
        }
    }
}

fn is_in_foreground(terminal: impl AsFd) -> bool {
    // A terminal that is not this session's own has no foreground that this process could be outside.
    tcgetpgrp(terminal).map_or(true, |group| group == getpgrp())
}
