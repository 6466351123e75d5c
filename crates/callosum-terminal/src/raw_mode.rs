//! [`RawMode`]: the caller's terminal in raw mode, restored when the value is dropped.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Keeps a terminal raw: each key arrives at once and as it is, keys that make signals included.
#[derive(Debug)]
pub(crate) struct RawMode {
    terminal: OwnedFd,
    original: Termios,
    is_output_raw: bool,
}

impl RawMode {
    /// Makes `terminal` raw. Returns none if it is no terminal.
    ///
    /// Its output stays as it is unless `is_output_raw`: if the program's terminal is not shown on it, other programs'
    /// lines still are.
    pub(crate) fn enter(terminal: &OwnedFd, is_output_raw: bool) -> io::Result<Option<Self>> {
        let Ok(original) = tcgetattr(terminal) else {
            return Ok(None);
        };
        let mode = Self {
            terminal: terminal.as_fd().try_clone_to_owned()?,
            original,
            is_output_raw,
        };
        mode.resume()?;
        Ok(Some(mode))
    }

    /// The settings from before.
    pub(crate) fn original(&self) -> &Termios {
        &self.original
    }

    /// Makes the terminal raw again after [`pause`](Self::pause), or after another program changed it.
    pub(crate) fn resume(&self) -> io::Result<()> {
        let mut raw = self.original.clone();
        raw.make_raw();
        if !self.is_output_raw {
            raw.output_modes = self.original.output_modes;
        }
        Ok(tcsetattr(&self.terminal, OptionalActions::Now, &raw)?)
    }

    /// Restores the terminal for a while.
    pub(crate) fn pause(&self) {
        // It fails only on a terminal that is gone. `Drain` would wait for output that the person has halted.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.original);
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.pause();
    }
}
