//! [`Exit`]: how a run ended; [`RunError`]: why it could not start.

use std::io;

use callosum_host::process::SpawnError;

/// The end of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Exited(i32),
    /// A signal ended it.
    Signaled(i32),
}

/// The end of the tap.
#[derive(Debug)]
pub enum TapEnd<T> {
    /// It saw all that it was given.
    Finished(T),
    /// It panicked with this message, and its thread ended.
    Panicked(String),
    /// It was still busy after [`TAP_GRACE`](crate::TAP_GRACE), and was left behind.
    Unfinished,
}

/// The end of a run.
#[derive(Debug)]
pub struct Exit<T> {
    /// The end of the program.
    pub ending: Ending,
    /// Bytes that the caller has and the tap has not seen, because its queue was full or it had panicked.
    pub skipped_bytes: u64,
    /// The failure that ended a stream to the caller, for example a full disk. A reader that went away is none.
    pub output_error: Option<io::Error>,
    /// The end of the tap.
    pub tap: TapEnd<T>,
    /// The input filter panicked; keys passed it by from then on.
    pub has_filter_panicked: bool,
}

impl<T> Exit<T> {
    /// Returns the code to exit with, as shells do: the program's own, or 128 and the number of the signal.
    pub fn code(&self) -> u8 {
        match self.ending {
            Ending::Exited(code) => code as u8,
            Ending::Signaled(signal) => (128 + signal) as u8,
        }
    }
}

/// The reason that a run could not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program, or under a pseudo-terminal the launcher, could not be started.
    #[error(transparent)]
    Start(#[from] SpawnError),
    /// A pseudo-terminal needs a launcher, and none is named.
    #[error("no launcher is named for a run under a pseudo-terminal")]
    NoLauncher,
    /// The system gave no pseudo-terminal.
    #[error("cannot open a pseudo-terminal")]
    Terminal(#[source] io::Error),
    /// Another failure of the system.
    #[error("cannot {action}")]
    System {
        /// The step that failed.
        action: &'static str,
        /// The system's reason.
        source: io::Error,
    },
}

impl RunError {
    /// Returns the code to exit with, as shells define it: 127 if the program was not found, else 126.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Start(SpawnError::NotFound { .. }) => 127,
            _ => 126,
        }
    }

    /// Returns the error for an `action` that the system refused.
    pub(crate) fn of_system(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_after(ending: Ending) -> u8 {
        let exit = Exit {
            ending,
            skipped_bytes: 0,
            output_error: None,
            tap: TapEnd::Finished(()),
            has_filter_panicked: false,
        };
        exit.code()
    }

    /// CAKE-SHIM-2: the exit code passes through, and a signal is 128 and its number.
    #[test]
    fn exit_codes_are_those_of_a_shell() {
        assert_eq!(code_after(Ending::Exited(0)), 0);
        assert_eq!(code_after(Ending::Exited(255)), 255);
        assert_eq!(code_after(Ending::Signaled(9)), 137);
        assert_eq!(code_after(Ending::Signaled(15)), 143);
    }
}
