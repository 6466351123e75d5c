//! [`Voice`]: the one answer of this process, said once and in time.

use std::{
    io::{self, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use super::answer::Reply;

/// Says one answer. Whoever is first says it: the one who decided, or the one who watches the time.
pub(super) struct Voice {
    was_used: Arc<AtomicBool>,
}

impl Voice {
    /// Begins to watch the time. Once it is over, `too_late` is the answer, and the process ends.
    pub(super) fn start(too_late: Reply, patience: Duration) -> Self {
        let was_used = Arc::new(AtomicBool::new(false));
        let used = Arc::clone(&was_used);
        let watch = move || {
            thread::sleep(patience);
            if !used.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(said(&too_late)));
            }
        };
        // Where no thread can be made there is no limit but the client's own.
        drop(thread::Builder::new().stack_size(64 * 1024).spawn(watch));
        Self { was_used }
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

/// Writes an answer. One that nobody could read any more denies by its exit code.
fn said(reply: &Reply) -> u8 {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(reply.stderr.as_bytes()));
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(reply.stdout.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Err(_) if reply.denies() => {
            drop(stderr.write_all(b"denied; standard output is closed\n"));
            2
        }
        Ok(()) | Err(_) => reply.exit,
    }
}
