//! Terminals: the size of the one at standard output, and waiting for keys.

use std::{
    io,
    os::fd::BorrowedFd,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags};

use crate::process::supervise::wait_until;

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters on a line.
    pub columns: u16,
    /// Lines on the screen.
    pub rows: u16,
}

/// Returns the size of the terminal at standard output. Returns none if standard output is no terminal, or one that does
/// not know its size, as serial consoles do.
pub fn size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
    let (columns, rows) = (size.ws_col, size.ws_row);
    (columns > 0 && rows > 0).then_some(Size { columns, rows })
}

/// State of a terminal that keys come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Something was typed.
    Typed,
    /// Nothing was typed.
    None,
    /// The terminal is gone: its window was closed, or its connection lost. Reading it returns the end of file for ever.
    Gone,
}

/// Waits until something is typed at a terminal, but not longer than `most`.
///
/// # Errors
/// If the system cannot wait for it.
pub fn wait_for_keys(terminal: BorrowedFd<'_>, most: Duration) -> io::Result<Keys> {
    let mut waiting = [PollFd::from_borrowed_fd(terminal, PollFlags::IN)];
    wait_until(&mut waiting, Some(Instant::now() + most))?;
    let found = waiting[0].revents();
    Ok(
        if found.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            Keys::Gone
        } else if found.contains(PollFlags::IN) {
            Keys::Typed
        } else {
            Keys::None
        },
    )
}
