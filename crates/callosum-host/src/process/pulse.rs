//! [`Pulse`]: signs of life that a child gives elsewhere than at its pipes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// A clock of the last sign of life, for whoever sees one that does not come through a pipe. Clones share it.
#[derive(Clone, Debug)]
pub struct Pulse(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    since: Instant,
    /// Microseconds from then to the last sign.
    last: AtomicU64,
}

impl Pulse {
    /// Notes a sign of life, now.
    pub fn beat(&self) {
        let elapsed = self.0.since.elapsed().as_micros();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.0.last.fetch_max(elapsed, Ordering::Relaxed);
    }

    /// When the last sign was; when this was made, where there was none.
    pub fn last(&self) -> Instant {
        self.0.since + Duration::from_micros(self.0.last.load(Ordering::Relaxed))
    }
}

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(Shared {
            since: Instant::now(),
            last: AtomicU64::new(0),
        }))
    }
}
