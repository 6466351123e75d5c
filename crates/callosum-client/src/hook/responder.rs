//! [`Responder`]: the single, timely answer of this process.

use std::{
    cell::Cell,
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use callosum_host::process::output_is_thrown_away;

use super::answer::Reply;

/// Time that the process stays to record an answer that came too late: the client waits for its
/// end.
const LONGEST_RECORD: Duration = Duration::from_secs(3);

/// No thread has begun to answer.
const SILENT: u8 = 0;

/// A thread writes the answer.
const SAYING: u8 = 1;

/// The answer is written.
const SAID: u8 = 2;

/// The answer is written, and its record is being written.
const RECORDING: u8 = 3;

/// Writes one answer: that of the first thread, the deciding one or the one that watches the time.
pub(super) struct Responder {
    state: Arc<AtomicU8>,
    /// The same exit code, for the thread that watches the time.
    code: Arc<AtomicU8>,
    /// The exit code of the answer that was written here.
    exit: Cell<Option<u8>>,
}

impl Responder {
    /// Begins to watch the time. Once it is over, `too_late` is the answer, `record` is done as far
    /// as it can be in [`LONGEST_RECORD`], and the process ends.
    pub(super) fn start(
        patience: Duration,
        too_late: impl FnOnce() -> Reply + Send + 'static,
        record: impl FnOnce() + Send + 'static,
    ) -> Self {
        let state = Arc::new(AtomicU8::new(SILENT));
        let known = Arc::clone(&state);
        let code = Arc::new(AtomicU8::new(0));
        let answered = Arc::clone(&code);
        let watch = move || {
            thread::sleep(patience);
            let begun = known.compare_exchange(SILENT, SAYING, Ordering::SeqCst, Ordering::SeqCst);
            let late = too_late();
            match begun {
                Ok(_) => {}
                // A client takes no answer from a process that does not end.
                Err(RECORDING) => {
                    thread::sleep(LONGEST_RECORD);
                    std::process::exit(i32::from(answered.load(Ordering::SeqCst)));
                }
                // No one reads the answer; ending the process frees those that wait for its locks.
                Err(SAYING) => std::process::exit(if late.denies() { 2 } else { 0 }),
                Err(_) => return,
            }
            let (exit, _) = write_reply(&late);
            let (done, finished) = mpsc::sync_channel(1);
            let recorded = thread::Builder::new().spawn(move || {
                record();
                let _ = done.send(());
            });
            if recorded.is_ok() {
                let _ = finished.recv_timeout(LONGEST_RECORD);
            }
            std::process::exit(i32::from(exit));
        };
        // Where no thread can be made there is no limit but the client's own.
        drop(thread::Builder::new().stack_size(64 * 1024).spawn(watch));
        Self {
            state,
            code,
            exit: Cell::new(None),
        }
    }

    /// Whether a thread has begun to write the answer.
    pub(super) fn was_used(&self) -> bool {
        self.state.load(Ordering::SeqCst) != SILENT
    }

    /// Writes the answer, unless one was written here before, and returns the exit code of the
    /// written one.
    pub(super) fn say(&self, reply: &Reply) -> u8 {
        match self.exit.get() {
            Some(exit) => exit,
            None => self.say_now(reply).0,
        }
    }

    /// Says the answer before a record of it is written, so that nothing that stops the record (a full disk, a file size
    /// limit, a kill) takes the answer with it. The record may take [`LONGEST_RECORD`] longer than the answer.
    pub(super) fn say_before_record(&self, reply: &Reply) {
        let (exit, _) = self.say_now(reply);
        self.code.store(exit, Ordering::SeqCst);
        self.state.store(RECORDING, Ordering::SeqCst);
    }

    /// Writes the answer at once, and returns whether it can be read. Later answers are ignored.
    pub(super) fn is_heard(&self, reply: &Reply) -> bool {
        let (_, is_written) = self.say_now(reply);
        is_written && !output_is_thrown_away()
    }

    fn say_now(&self, reply: &Reply) -> (u8, bool) {
        let begun = self
            .state
            .compare_exchange(SILENT, SAYING, Ordering::SeqCst, Ordering::SeqCst);
        if begun.is_err() {
            // The other one is about to end the process.
            loop {
                thread::park();
            }
        }
        let (exit, is_written) = write_reply(reply);
        self.exit.set(Some(exit));
        self.state.store(SAID, Ordering::SeqCst);
        (exit, is_written)
    }
}

/// Writes an answer, and returns the exit code and whether all of it was written. A denial that no
/// one can read becomes one by its exit code.
fn write_reply(reply: &Reply) -> (u8, bool) {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(reply.stderr.as_bytes()));
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    let is_lost = || reply.exit == 0 && reply.denies() && output_is_thrown_away();
    if reply.denies() && written.is_err() || is_lost() {
        drop(stderr.write_all(b"denied; the answer could not be written to standard output\n"));
        return (2, false);
    }
    (reply.exit, written.is_ok())
}
