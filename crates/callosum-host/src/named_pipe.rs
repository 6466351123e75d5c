//! Named pipes, by which a process sees that another one closed its end.
//!
//! Unlike a socket with a path, a pipe can be opened by a program that may make no socket.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use nix::sys::stat::Mode;
use rustix::fs::OFlags;

/// Creates a pipe that only its owner may open, and returns the end that is to be closed.
pub fn create(path: &Path) -> io::Result<File> {
    nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?;
    // An end that reads and writes waits for no other.
    OpenOptions::new().read(true).write(true).open(path)
}

/// Opens the end that sees the other one close; it does not wait.
pub fn open(path: &Path) -> io::Result<File> {
    let how = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(how).open(path)
}
