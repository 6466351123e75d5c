//! [`Wake`]: a pipe that ends another thread's `poll`.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::pipe::{PipeFlags, pipe_with};

/// A descriptor that one thread waits on and others make readable.
#[derive(Debug)]
pub(crate) struct Wake {
    read_end: OwnedFd,
    write_end: OwnedFd,
}

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self {
            read_end,
            write_end,
        })
    }

    /// Ends the current or the next wait.
    pub(crate) fn wake(&self) {
        // It fails only if the pipe is full, and then the other thread wakes anyway.
        let _ = rustix::io::write(&self.write_end, &[1]);
    }

    /// Forgets past calls of [`wake`](Self::wake).
    pub(crate) fn clear(&self) {
        let mut bytes = [0; 64];
        while rustix::io::read(&self.read_end, &mut bytes).is_ok_and(|read| read == bytes.len()) {}
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read_end.as_fd()
    }
}
