//! [`Syncer`]: the thread that waits for the disk, so that the bus does not.
//!
//! While it waits, more is appended; one sync does for all that waited when it began.

use std::{
    io,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use callosum_mesh::{Undecided, journal::Unsynced};
use tokio::sync::oneshot;

/// Result of a sync, with the time that it took. All that waited for a failed one get the same
/// error.
pub(super) type Synced = Result<Duration, Arc<Undecided>>;

struct SyncRequest {
    what: Unsynced,
    done: oneshot::Sender<Synced>,
}

/// The thread; it ends when this is dropped and nothing waits any more.
pub(super) struct Syncer {
    orders: Option<mpsc::Sender<SyncRequest>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Syncer {
    pub(super) fn start() -> io::Result<Self> {
        let (orders, waiting) = mpsc::channel::<SyncRequest>();
        let thread = thread::Builder::new().spawn(move || {
            while let Ok(first) = waiting.recv() {
                let mut orders = vec![first];
                orders.extend(waiting.try_iter());
                while !orders.is_empty() {
                    let what = orders[0].what.clone();
                    let (same, others): (Vec<_>, Vec<_>) = orders
                        .into_iter()
                        .partition(|order| order.what.is_same(&what));
                    let began = Instant::now();
                    let synced = what.sync().map_err(|error| {
                        let error = error.into();
                        Arc::new(Undecided { at: 0, error })
                    });
                    let synced = synced.map(|()| began.elapsed());
                    for order in same {
                        // Who waited may have gone; what it wanted is on disk all the same.
                        drop(order.done.send(synced.clone()));
                    }
                    orders = others;
                }
            }
        })?;
        Ok(Self {
            orders: Some(orders),
            thread: Some(thread),
        })
    }

    /// Has `what` synced, and tells when it was.
    pub(super) fn order(&self, what: Unsynced) -> oneshot::Receiver<Synced> {
        let (done, result) = oneshot::channel();
        if let Some(orders) = &self.orders {
            // The thread ends only after this is dropped.
            drop(orders.send(SyncRequest { what, done }));
        }
        result
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
