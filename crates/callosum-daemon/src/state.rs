//! [`ServerState`]: all that an answer may need.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use callosum_host::{Clock, process::Cancel};
use serde_json::{Value, json};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, watch},
    task::JoinSet,
};

use super::{
    broker::Hub, counts::Gauges, instance::Serving, memory::Memory, metrics, models::Models,
    page::Page, rate::Rates, request::LONGEST_BODY, sink::Sink,
};
use callosum_metrics::{Family, text};

/// Most who listen at once.
const MOST_LISTENERS: usize = 128;

/// Most answers in pieces that are made at once. Of each some pieces wait to be taken.
const MOST_LONG_ANSWERS: usize = 16;

/// Bytes of long bodies that are in hand at once: what is made of one takes some times as much.
const LONG_BODIES: usize = LONGEST_BODY;

/// A body of more bytes is a long one.
const LONG_BODY: usize = 64 * 1024;

/// The daemon, as its answers see it.
pub(super) struct ServerState {
    pub(super) hub: Rc<Hub>,
    pub(super) rates: Rc<Rates>,
    pub(super) serving: Serving,
    /// Becomes true when it ends.
    pub(super) stop: watch::Receiver<bool>,
    /// Asks it to end.
    pub(super) cancel: Cancel,
    pub(super) listeners: Listeners,
    pub(super) long_answers: LongAnswers,
    pub(super) long_bodies: LongBodies,
    pub(super) guard: GuardMetrics,
    pub(super) sinks: Vec<Sink>,
    /// The models that are served, if any.
    pub(super) models: Option<Models>,
    /// The page, if one is served.
    pub(super) page: Option<Arc<dyn Page>>,
    /// The memory of past sessions, if it is served.
    pub(super) memory: Option<Memory>,
    /// The clock of heartbeats.
    pub(super) clock: Clock,
    /// When the folder of the log was found removed while it was served.
    pub(super) replaced: RefCell<Option<String>>,
    /// Everything that is waited for before it has ended.
    pub(super) tasks: RefCell<JoinSet<()>>,
}

/// Returns the metrics of guard and operator. It reads files, so it has a thread of its own.
pub(crate) type GuardMetrics = Arc<dyn Fn() -> Result<Vec<Family>, String> + Send + Sync>;

/// Numbers of subscribers, by transport.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    pub(super) streams: Rc<Cell<usize>>,
    pub(super) bus: Rc<Cell<usize>>,
}

/// The place of one who listens; free again when this is dropped.
#[derive(Debug)]
pub(super) struct Permit(Rc<Cell<usize>>);

/// The right to answer in pieces, for so many at once.
#[derive(Debug)]
pub(super) struct LongAnswers {
    places: Arc<Semaphore>,
    waiting: Cell<usize>,
}

impl LongAnswers {
    /// A place, where there is one left.
    pub(super) fn try_begin(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// A place; waits until there is one, but not for ever.
    pub(super) async fn begin(&self, patience: Duration) -> Option<OwnedSemaphorePermit> {
        let _waits = Waits::begin(&self.waiting);
        let place = Arc::clone(&self.places).acquire_owned();
        tokio::time::timeout(patience, place).await.ok()?.ok()
    }

    /// Whether any client waits for a place.
    pub(super) fn is_waited_for(&self) -> bool {
        self.waiting.get() > 0
    }
}

impl Default for LongAnswers {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(MOST_LONG_ANSWERS)),
            waiting: Cell::new(0),
        }
    }
}

/// One who waits; no longer when this is dropped.
struct Waits<'a>(&'a Cell<usize>);

impl<'a> Waits<'a> {
    fn begin(count: &'a Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// The right to read long bodies and to keep what is in them, for so many bytes at once.
#[derive(Debug)]
pub(super) struct LongBodies(Semaphore);

impl LongBodies {
    /// Waits until a body of so many bytes may be read; a short one may at once.
    pub(super) async fn begin(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        if bytes <= LONG_BODY {
            return None;
        }
        let bytes = bytes.min(LONG_BODIES);
        let bytes = u32::try_from(bytes).expect("it is no more than a megabyte");
        self.0.acquire_many(bytes).await.ok()
    }
}

impl Default for LongBodies {
    fn default() -> Self {
        Self(Semaphore::new(LONG_BODIES))
    }
}

impl ServerState {
    /// A place among those who listen, if there is one left.
    pub(super) fn listen(
        &self,
        transport: impl Fn(&Listeners) -> &Rc<Cell<usize>>,
    ) -> Option<Permit> {
        let Listeners { streams, bus } = &self.listeners;
        let count = transport(&self.listeners);
        (streams.get() + bus.get() < MOST_LISTENERS).then(|| {
            count.set(count.get() + 1);
            Permit(Rc::clone(count))
        })
    }

    /// Runs a task concurrently with all others.
    pub(super) fn begin(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.tasks.borrow_mut();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_local(task);
    }

    /// Waits for all that was begun, and for what that begins.
    pub(super) async fn end(&self) {
        loop {
            let mut tasks = self.tasks.take();
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }

    /// Returns the current values of the gauges.
    pub(super) fn gauges(&self) -> Gauges {
        let (log_bytes, log_files) = self.hub.size().unwrap_or_default();
        Gauges {
            streams: self.listeners.streams.get(),
            bus: self.listeners.bus.get(),
            log_bytes,
            log_files,
            last_seq: self.hub.seen(),
            resident_bytes: callosum_host::machine::resident_bytes(),
        }
    }

    /// Returns all metrics: those of the daemon, and those of guard and operator if they can be read.
    ///
    /// # Errors
    /// None in practice: a text in memory takes every write.
    pub(super) async fn metrics(&self) -> Result<String, std::fmt::Error> {
        let mut families = self.hub.counts.families(self.gauges());
        families.extend(self.hub.keeper().tallies().families());
        let sinks: Vec<_> = self.sinks.iter().map(Sink::status).collect();
        families.extend(metrics::sink_families(&sinks));
        let guard = Arc::clone(&self.guard);
        match tokio::task::spawn_blocking(move || guard()).await {
            Ok(Ok(guard)) => families.extend(guard),
            // The others are worth as much without them.
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot read the metrics of guard and operator");
                self.hub.counts.unreadable();
            }
            Err(error) => {
                tracing::error!(%error, "reading the metrics of guard and operator failed");
                self.hub.counts.unreadable();
            }
        }
        text(families)
    }

    /// Returns the current addresses, with the id of the present log: it changes if the log's
    /// folder is replaced.
    pub(super) fn serving(&self) -> Serving {
        Serving {
            origin: self.hub.origin(),
            ..self.serving.clone()
        }
    }

    /// Returns the state of the daemon, for `callosum serve status`.
    pub(super) fn status(&self) -> Value {
        json!({
            "serving": self.serving(),
            "replaced": *self.replaced.borrow(),
            "configuration_fault": self.hub.keeper().tallies().configuration_fault(),
            "last_seq": self.hub.last().unwrap_or_else(|_| self.hub.seen()),
            "subscribers": self.hub.listeners(),
            "sinks": self.sinks.iter().map(Sink::status).collect::<Vec<_>>(),
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
