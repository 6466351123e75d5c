//! [`Voice`]: the one answer of this process, said once and in time.

use std::{
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use callosum_host::process::output_is_thrown_away;

use super::answer::Reply;

/// How long the process stays to leave a record of an answer that came too late: the client waits
/// for its end.
const LONGEST_RECORD: Duration = Duration::from_secs(3);

/// Says one answer. Whoever is first says it: the one who decided, or the one who watches the time.
pub(super) struct Voice {
    was_used: Arc<AtomicBool>,
}

impl Voice {
    /// Begins to watch the time. Once it is over, `too_late` is the answer, `record` is done as far
    /// as it can be in [`LONGEST_RECORD`], and the process ends.
    pub(super) fn start(
        patience: Duration,
        too_late: impl FnOnce() -> Reply + Send + 'static,
        record: impl FnOnce() + Send + 'static,
    ) -> Self {
        let was_used = Arc::new(AtomicBool::new(false));
        let used = Arc::clone(&was_used);
        let watch = move || {
            thread::sleep(patience);
            if used.swap(true, Ordering::SeqCst) {
                return;
            }
            let exit = said(&too_late());
            let (done, told) = mpsc::sync_channel(1);
            let recorded = thread::Builder::new().spawn(move || {
                record();
                let _ = done.send(());
            });
            if recorded.is_ok() {
                let _ = told.recv_timeout(LONGEST_RECORD);
            }
            std::process::exit(i32::from(exit));
        };
        // Where no thread can be made there is no limit but the client's own.
        drop(thread::Builder::new().stack_size(64 * 1024).spawn(watch));
        Self { was_used }
    }

    /// Whether the answer is said already.
    pub(super) fn was_used(&self) -> bool {
        self.was_used.load(Ordering::SeqCst)
    }

    /// Says the answer, and gives the exit code that belongs to it.
    pub(super) fn say(&self, reply: &Reply) -> u8 {
        if self.was_used.swap(true, Ordering::SeqCst) {
            // The other one is about to end the process.
            loop {
                thread::park();
            }
        }
        said(reply)
    }
}

/// Writes an answer. One that nobody can read denies by its exit code.
fn said(reply: &Reply) -> u8 {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(reply.stderr.as_bytes()));
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    let is_lost = || reply.exit == 0 && reply.denies() && output_is_thrown_away();
    if reply.denies() && written.is_err() || is_lost() {
        drop(stderr.write_all(b"denied; the answer could not be written to standard output\n"));
        return 2;
    }
    reply.exit
}
