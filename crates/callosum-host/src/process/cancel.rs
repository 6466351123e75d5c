//! [`Cancel`]: one way to tell every running child to end.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
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
    /// Creates a request that has not been made yet.
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

    /// Whether cancellation was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// Returns a descriptor that is readable once cancellation is requested.
    pub fn readable(&self) -> BorrowedFd<'_> {
        self.0.read_end.as_fd()
    }

    /// Blocks until someone asked, for `most` at the longest. Returns whether someone asked.
    pub fn wait_for(&self, most: Duration) -> io::Result<bool> {
        if !self.is_cancelled() {
            let timeout = Timespec::try_from(most).ok();
            let mut ends = [PollFd::from_borrowed_fd(self.readable(), PollFlags::IN)];
            match poll(&mut ends, timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.is_cancelled())
    }

    /// Blocks until cancellation is requested here, or at `other`.
    ///
    /// For a thread that forwards a cancellation and must not outlive its target.
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
    fn waiting_for_a_time_ends_when_it_is_asked() {
        let stop = Cancel::new().unwrap();
        assert!(!stop.wait_for(Duration::ZERO).unwrap());
        std::thread::scope(|scope| {
            // Without the request this waits for an hour, and the test does not end.
            let waiting = scope.spawn(|| stop.wait_for(Duration::from_hours(1)));
            stop.cancel();
            assert!(waiting.join().unwrap().unwrap());
        });
    }

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
