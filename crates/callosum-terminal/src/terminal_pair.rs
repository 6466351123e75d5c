//! [`TerminalPair`]: a new pseudo-terminal, our end and the program's.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    pty::{OpenptFlags, grantpt, openpt, unlockpt},
    termios::{
        LocalModes, OptionalActions, OutputModes, Termios, Winsize, tcgetattr, tcsetattr,
        tcsetwinsize,
    },
};

/// Both ends of a pseudo-terminal.
#[derive(Debug)]
pub(crate) struct TerminalPair {
    /// Our end; its reads and writes do not wait.
    pub(crate) ours: OwnedFd,
    /// The program's end, which it sees as a terminal.
    pub(crate) theirs: OwnedFd,
}

impl TerminalPair {
    /// Opens a pair of this size with the settings of the caller's terminal, if it has one.
    ///
    /// Two settings differ. If the caller's own terminal does not get the bytes as they are, nothing may be added to
    /// them here: `is_output_final` is false, and a line feed stays a line feed. If input does not come from a
    /// terminal, no one typed it, and it is not echoed.
    pub(crate) fn open(
        size: Winsize,
        settings: Option<&Termios>,
        is_output_final: bool,
    ) -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let theirs = open_other_end(&ours)?;
        let mut wanted = match settings {
            Some(settings) => settings.clone(),
            None => tcgetattr(&theirs)?,
        };
        if settings.is_none() {
            wanted.local_modes.remove(LocalModes::ECHO);
        }
        if !is_output_final {
            wanted.output_modes.remove(OutputModes::OPOST);
        }
        tcsetattr(&theirs, OptionalActions::Now, &wanted)?;
        tcsetwinsize(&theirs, size)?;
        set_nonblocking(&ours)?;
        Ok(Self { ours, theirs })
    }
}

#[cfg(target_os = "linux")]
fn open_other_end(ours: &OwnedFd) -> io::Result<OwnedFd> {
    let how = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    Ok(rustix::pty::ioctl_tiocgptpeer(ours, how)?)
}

#[cfg(not(target_os = "linux"))]
fn open_other_end(ours: &OwnedFd) -> io::Result<OwnedFd> {
    let name = rustix::pty::ptsname(ours, Vec::new())?;
    let how = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(name, how, rustix::fs::Mode::empty())?)
}

/// Lets reads and writes of a descriptor return at once. Only for one that this process alone has open.
pub(crate) fn set_nonblocking(end: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&end)?;
    Ok(fcntl_setfl(&end, flags | OFlags::NONBLOCK)?)
}
