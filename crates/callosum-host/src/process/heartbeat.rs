//! [`Heartbeat`]: signs of life that a child gives elsewhere than at its pipes.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::descendants;

/// A clock of the last sign of life, for a caller that sees one that does not come through a pipe.
/// Clones share it.
#[derive(Clone, Debug)]
pub struct Heartbeat(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    since: Instant,
    /// Microseconds from then to the last sign.
    last: AtomicU64,
    work: Mutex<Work>,
}

/// Work of a program that a child started and waits for.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    /// When the child was started.
    started: Option<Instant>,
    /// Since when it waits, as far as it tells.
    since: Option<Instant>,
    /// Ancestor of its processes.
    above: Option<u32>,
}

/// Time until a child is there, so that its own process does not count as a program that it
/// started.
const COMING: Duration = Duration::from_millis(500);

/// Time by which a program may have begun before the child reported it.
const REPORT_DELAY: Duration = Duration::from_millis(200);

impl Heartbeat {
    /// Notes a sign of life, now.
    pub fn beat(&self) {
        let elapsed = self.0.since.elapsed().as_micros();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.0.last.fetch_max(elapsed, Ordering::Relaxed);
    }

    /// Returns the time of the last sign; the time of creation, if there was none.
    pub fn last(&self) -> Instant {
        self.0.since + Duration::from_micros(self.0.last.load(Ordering::Relaxed))
    }

    /// Notes since when the child waits for programs that it started, as far as it tells; `None` where it waits for none.
    pub fn waits_since(&self, since: Option<Instant>) {
        self.work(|work| work.since = since);
    }

    /// Notes that a child was started, and that nothing about it is known yet.
    pub(super) fn begin(&self, started: Instant) {
        let started = Some(started);
        self.work(|work| {
            *work = Work {
                started,
                ..Work::default()
            };
        });
    }

    /// Notes whose descendants the child's processes are.
    pub(super) fn is_below(&self, above: Option<u32>) {
        self.work(|work| work.above = above);
    }

    /// Whether one runs of the programs that the child says that it waits for: one of its processes that began about
    /// then or later.
    ///
    /// Costs a look at every process of the machine, where the child waits. Never where the system does not tell (off Linux).
    pub fn is_at_work(&self) -> bool {
        match self.work(|work| *work) {
            Work {
                started: Some(started),
                since: Some(since),
                above: Some(above),
            } => {
                let reported = since.checked_sub(REPORT_DELAY).unwrap_or(since);
                descendants::began_since(above, reported.max(started + COMING))
            }
            _ => false,
        }
    }

    /// The last time that something came to one of the child's processes by a TCP connection, where the system tells; it does not of
    /// those in another network namespace, nor off Linux.
    ///
    /// Costs a look at every process and connection of the machine.
    pub fn last_received(&self) -> Option<Instant> {
        let ago = descendants::received_ago(self.work(|work| work.above)?)?;
        Instant::now().checked_sub(ago)
    }

    /// Returns the last sign of life of a child that was silent since `silent_since`, if there is
    /// one other than its own output.
    pub fn sign_after(&self, silent_since: Instant) -> Option<Instant> {
        if self.is_at_work() {
            return Some(Instant::now());
        }
        self.last_received().filter(|at| *at > silent_since)
    }

    fn work<T>(&self, look: impl FnOnce(&mut Work) -> T) -> T {
        look(&mut self.0.work.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self(Arc::new(Shared {
            since: Instant::now(),
            last: AtomicU64::new(0),
            work: Mutex::default(),
        }))
    }
}
