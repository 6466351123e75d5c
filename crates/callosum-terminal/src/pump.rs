//! [`Pump`]: moves one stream of the program to the caller, on its own thread.
//!
//! A byte is written to the caller before the tap sees it. Writes wait for the caller as the program itself would, so
//! nothing is held back here beyond one read.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::Sender,
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
};

use crate::{
    tap::{Stream, TapFeed},
    wake::Wake,
};

/// Most bytes of one read.
const READ_BYTES: usize = 128 * 1024;

/// Capacity wanted for the program's pipes, the most that the system grants without privileges.
pub(crate) const PIPE_BYTES: usize = 1024 * 1024;

/// Longest silence after the program's exit before a stream counts as ended, though a process that it left behind has
/// it open.
const SILENCE_AFTER_EXIT: Duration = Duration::from_millis(200);

/// Longest time after the program's exit for bytes that only a process left behind can have written.
const LEFTOVER_TIME: Duration = Duration::from_secs(1);

/// The run's messages to a pump.
#[derive(Debug)]
pub(crate) struct PumpControl {
    wake: Wake,
    /// Set if `news` is worth a look; keeps the lock out of the way of a stream at full speed.
    has_news: AtomicBool,
    news: Mutex<News>,
}

#[derive(Debug, Default)]
struct News {
    has_exited: bool,
    is_hung_up: bool,
    for_caller: Vec<u8>,
}

impl PumpControl {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            wake: Wake::new()?,
            has_news: AtomicBool::new(false),
            news: Mutex::default(),
        })
    }

    /// Lets the pump end once nothing more comes.
    pub(crate) fn note_exit(&self) {
        self.change(|news| news.has_exited = true);
    }

    /// Ends the pump, since the terminal is gone.
    pub(crate) fn hang_up(&self) {
        self.change(|news| news.is_hung_up = true);
    }

    /// Writes bytes of our own to the caller, between two reads.
    pub(crate) fn show(&self, bytes: &[u8]) {
        self.change(|news| news.for_caller.extend_from_slice(bytes));
    }

    fn change(&self, change: impl FnOnce(&mut News)) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut news);
        self.has_news.store(true, Ordering::Release);
        // With the lock held: a wake after the news was taken would never be cleared.
        self.wake.wake();
    }

    fn take(&self) -> Option<News> {
        if !self.has_news.swap(false, Ordering::Acquire) {
            return None;
        }
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        self.wake.clear();
        Some(News {
            has_exited: news.has_exited,
            is_hung_up: news.is_hung_up,
            for_caller: std::mem::take(&mut news.for_caller),
        })
    }
}

/// The end of a pump.
#[derive(Debug)]
pub(crate) struct PumpEnd {
    /// Its stream.
    pub(crate) stream: Stream,
    /// The reason that the caller no longer takes bytes, if it does not.
    pub(crate) write_error: Option<Errno>,
}

/// Reports the end of a pump, also if its thread panics.
#[derive(Debug)]
struct Finish {
    stream: Stream,
    write_error: Option<Errno>,
    sender: Sender<PumpEnd>,
    done: Arc<Wake>,
}

impl Drop for Finish {
    fn drop(&mut self) {
        let end = PumpEnd {
            stream: self.stream,
            write_error: self.write_error,
        };
        // Fails only if the run no longer waits.
        drop(self.sender.send(end));
        self.done.wake();
    }
}

/// One stream, from the program to the caller and the tap.
#[derive(Debug)]
pub(crate) struct Pump {
    /// Read end of the stream; reads do not wait.
    pub(crate) source: Arc<OwnedFd>,
    /// The caller's end.
    pub(crate) target: OwnedFd,
    /// Its name for the tap.
    pub(crate) stream: Stream,
    /// The queue for copies.
    pub(crate) feed: TapFeed,
    /// The run's messages.
    pub(crate) control: Arc<PumpControl>,
}

/// The record of a stream since the program's exit.
#[derive(Debug)]
struct AfterExit {
    since: Instant,
    waited: Duration,
    bytes: usize,
}

impl AfterExit {
    /// Returns whether all that the program wrote is through, so that the rest is another process's.
    fn is_over(&self) -> bool {
        let has_own_bytes_behind =
            self.bytes >= PIPE_BYTES && self.since.elapsed() >= LEFTOVER_TIME;
        has_own_bytes_behind || self.waited >= LEFTOVER_TIME
    }
}

impl Pump {
    /// Starts the thread. At its end it closes the stream and wakes `done`.
    pub(crate) fn start(self, sender: Sender<PumpEnd>, done: Arc<Wake>) -> io::Result<()> {
        let mut finish = Finish {
            stream: self.stream,
            write_error: None,
            sender,
            done,
        };
        let thread = thread::Builder::new().name("pump".to_owned());
        thread.spawn(move || {
            finish.write_error = self.pass().err();
            // The program must see a closed stream before the run learns of it.
            drop(self);
            drop(finish);
        })?;
        Ok(())
    }

    /// Passes bytes until the stream ends. Fails if the caller takes no more.
    fn pass(&self) -> Result<(), Errno> {
        let mut buffer = vec![0; READ_BYTES];
        let mut after_exit: Option<AfterExit> = None;
        loop {
            if let Some(news) = self.control.take() {
                self.write_all(&news.for_caller)?;
                if news.is_hung_up {
                    return Ok(());
                }
                if news.has_exited && after_exit.is_none() {
                    after_exit = Some(AfterExit {
                        since: Instant::now(),
                        waited: Duration::ZERO,
                        bytes: 0,
                    });
                }
            }
            if after_exit.as_ref().is_some_and(AfterExit::is_over) {
                return Ok(());
            }
            match read(&*self.source, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    let bytes = &buffer[..count];
                    self.write_all(bytes)?;
                    self.feed.push(self.stream, bytes);
                    if let Some(after_exit) = &mut after_exit {
                        after_exit.bytes += count;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !self.wait(after_exit.as_mut()) {
                        return Ok(());
                    }
                }
                // A terminal that no process has open any more.
                Err(_) => return Ok(()),
            }
        }
    }

    /// Waits for bytes or news. Returns false if the stream was silent for too long after the program's exit.
    fn wait(&self, after_exit: Option<&mut AfterExit>) -> bool {
        let timeout = after_exit.is_some().then_some(SILENCE_AFTER_EXIT);
        let timeout = timeout.and_then(|silence| Timespec::try_from(silence).ok());
        let mut ends = [
            PollFd::new(&*self.source, PollFlags::IN),
            PollFd::new(&self.control.wake, PollFlags::IN),
        ];
        let begun = Instant::now();
        let ready = poll(&mut ends, timeout.as_ref());
        if let Some(after_exit) = after_exit {
            after_exit.waited += begun.elapsed();
        }
        !matches!(ready, Ok(0))
    }

    fn write_all(&self, mut bytes: &[u8]) -> Result<(), Errno> {
        while !bytes.is_empty() {
            match write(&self.target, bytes) {
                Ok(0) => return Err(Errno::IO),
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                // Another program, a script engine for example, left the caller's end in this mode.
                Err(Errno::AGAIN) => wait_until_writable(&self.target),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn wait_until_writable(end: impl AsFd) {
    // An error of the wait shows in the next write.
    let _ = poll(&mut [PollFd::new(&end, PollFlags::OUT)], None);
}
