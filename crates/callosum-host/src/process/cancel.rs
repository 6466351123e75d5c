//! [`Cancel`]: one way to tell every running child to end.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    pipe::{PipeFlags, pipe_with},
};

/// A request to stop, seen at once by everyone who holds a clone.
///
/// It is a pipe whose reading end becomes readable, so that a waiting thread needs no polling.
#[derive(Clone, Debug)]
pub struct Cancel(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    asked: AtomicBool,
    read_end: OwnedFd,
    write_end: OwnedFd,
}

impl Cancel {
    /// A request that nobody has made yet.
    pub fn new() -> io::Result<Self> {
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        Ok(Self(Arc::new(Shared {
            asked: AtomicBool::new(false),
            read_end,
            write_end,
        })))
    }

    /// Asks everyone to stop. Asking twice is asking once.
    pub fn cancel(&self) {
        if !self.0.asked.swap(true, Ordering::SeqCst) {
            // One byte fits into an empty pipe, and is never read: the end stays readable.
            let _ = rustix::io::write(&self.0.write_end, &[1]);
        }
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// A descriptor that is readable once somebody asked.
    pub fn readable(&self) -> BorrowedFd<'_> {
        self.0.read_end.as_fd()
    }

    /// Blocks until somebody asked here, or at `other`.
    ///
    /// For the thread that passes a cancellation on and must not outlive what it is passed to.
    pub fn wait_here_or(&self, other: &Self) -> io::Result<()> {
        while !self.is_cancelled() && !other.is_cancelled() {
            let (here, there) = (self.readable(), other.readable());
            let mut ends = [
                PollFd::from_borrowed_fd(here, PollFlags::IN),
                PollFd::from_borrowed_fd(there, PollFlags::IN),
            ];
            match poll(&mut ends, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_when_either_is_asked() {
        let (stop, done) = (Cancel::new().unwrap(), Cancel::new().unwrap());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| stop.wait_here_or(&done));
            done.cancel();
            waiting.join().unwrap().unwrap();
        });
        assert!(!stop.is_cancelled());
    }
}
