//! The step between the pseudo-terminal and the program: a process of our own that makes it its terminal.
//!
//! A new session needs a call between `fork` and `exec`, which cannot be made without unsafe code. So the run starts
//! our own program first, which makes the calls on itself and then becomes the program.

use std::{ffi::OsString, io};

use callosum_host::process::replace;
use rustix::{
    process::{ioctl_tiocsctty, setsid},
    stdio,
};

/// Makes standard input this process's controlling terminal, in a new session, and becomes the program that
/// `arguments` begin with. Returns only on failure; print the error and exit with [`exit_code`].
pub fn become_session_leader_and_exec(arguments: impl IntoIterator<Item = OsString>) -> io::Error {
    let mut arguments = arguments.into_iter();
    let Some(program) = arguments.next() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "no program given");
    };
    let lead = || -> io::Result<()> {
        setsid()?;
        Ok(ioctl_tiocsctty(stdio::stdin())?)
    };
    match lead() {
        Ok(()) => replace(&program, arguments),
        Err(error) => error,
    }
}

/// Returns the exit code for a program that could not be started, as shells define it: 127 if it was not found, else
/// 126.
pub fn exit_code(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::NotFound => 127,
        _ => 126,
    }
}
