//! [`BoardWorker`]: the thread of the board, which decides changes as the verbs decide them.
//!
//! It has the mesh open for itself: events about tasks, messages, discoveries or leases are a
//! compare-and-set there, in one turn and with one sync for all that wait. Between them it watches
//! the bridge file and the folder of additions, by their sizes and times and by what [`BridgeWatcher`] has
//! read. It applies edits, writes the board to the file, and does what is due by time. It reads the
//! routes from the user's configuration each time that it decides.
//!
//! Deliberately not here: subscribers. The hub finds what this thread appends as it finds the
//! events of other processes. If this thread fails, everything but the board continues.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, RecvTimeoutError, TrySendError},
    },
    thread,
    time::{Duration, Instant},
};

use callosum_mesh::{
    Mesh, MeshError, Undecided,
    board::Tally,
    bridge::{Bridge, FileStamp, Synced, WriteDelay},
    event::{Draft, Event},
};
use tokio::sync::{Notify, oneshot};

use super::{bridge_watcher::BridgeWatcher, serve_error::ServeError};
use callosum_config::{MatrixFile, ReloadOutcome};

/// Interval of looks at the files of the bridge.
const LOOK: Duration = Duration::from_millis(40);

/// Interval of reading them even if they look unchanged, and of checks of what is due. Also the
/// pause after a failure.
const READ: Duration = Duration::from_secs(1);

/// So much of what was written is taken over in one turn: others who append wait no longer.
const MOST_AT_ONCE: usize = 4;

/// After a write of the file, changes of the board alone are not written for this many times as
/// long as that took. Many changes are then written at once, and commands seldom wait for that.
const PAUSES: u32 = 4;

/// But for no longer than this.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Most lists that wait to be decided. One more is refused.
const MOST_WAITING: usize = 256;

/// Function that opens the mesh, and opens it again if its folder was removed.
pub(super) type Opener = Box<dyn Fn() -> Result<Mesh, MeshError> + Send>;

/// Reports a problem that the daemon continues in spite of.
pub(crate) type Warn = Box<dyn Fn(&str) + Send>;

/// Result for a list: each event as it is in the log, or `None` if it changed nothing.
pub(super) type Answer = Result<Vec<Option<Event>>, Arc<Undecided>>;

/// Job of the thread.
enum Job {
    Decide(WorkerRequest),
    /// The bridge file was written.
    Look,
}

struct WorkerRequest {
    list: Vec<Draft>,
    done: oneshot::Sender<Answer>,
}

/// The thread; it ends when this is dropped and all that waited was decided.
pub(super) struct BoardWorker {
    jobs: Option<Arc<mpsc::SyncSender<Job>>>,
    thread: Option<thread::JoinHandle<()>>,
    appended: Arc<Notify>,
    tallies: Arc<Tallies>,
}

/// Counts of the bridge since the process began.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub(super) edits: AtomicU64,
    pub(super) conflicts: AtomicU64,
    pub(super) rejected: AtomicU64,
    pub(super) errors: AtomicU64,
    /// State of the board at the last look.
    pub(super) board: Mutex<Tally>,
    /// Reason for which the user's configuration cannot be used now. The last valid one stays in
    /// effect.
    pub(super) configuration: Mutex<Option<String>>,
}

/// As many lists wait as may, or the thread has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Busy;

impl BoardWorker {
    pub(super) fn start(open: Opener, matrix: MatrixFile, warn: Warn) -> Result<Self, ServeError> {
        let mesh = open()?.with_matrix(matrix.matrix().clone());
        let (jobs, waiting) = mpsc::sync_channel(MOST_WAITING);
        let jobs = Arc::new(jobs);
        // A weak reference, so that it does not keep the thread from ending.
        let weak_jobs = Arc::downgrade(&jobs);
        let scribe =
            BridgeWatcher::start(mesh.disk().clone(), mesh.folder().to_owned(), move || {
                if let Some(jobs) = weak_jobs.upgrade() {
                    // Where as many jobs wait as may, it is looked after them all the same.
                    drop(jobs.try_send(Job::Look));
                }
            })
            .map_err(ServeError::Thread)?;
        let (appended, tallies) = (Arc::new(Notify::new()), Arc::new(Tallies::default()));
        let mut desk = BoardWorkerState {
            open,
            bridge: Bridge::of(mesh.disk(), &mesh).telling(scribe.tell_apart(mesh.disk().clone())),
            pause: None,
            mesh,
            matrix,
            warn,
            scribe,
            before: Vec::new(),
            overwritten: 0,
            seen: FileStamp::default(),
            looked: FileStamp::default(),
            shown: None,
            resting: WriteDelay::default(),
            read: None,
            failed: None,
            appended: Arc::clone(&appended),
            tallies: Arc::clone(&tallies),
        };
        let thread = thread::Builder::new()
            .spawn(move || desk.work(&waiting))
            .map_err(ServeError::Thread)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
            appended,
            tallies,
        })
    }

    /// Has a list decided, and tells what became of it. Nothing is waited for.
    pub(super) fn order(&self, list: Vec<Draft>) -> Result<oneshot::Receiver<Answer>, Busy> {
        let (done, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or(Busy)?;
        match jobs.try_send(Job::Decide(WorkerRequest { list, done })) {
            Ok(()) => Ok(answer),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(Busy),
        }
    }

    /// Woken when this thread has appended something by itself.
    pub(super) fn appended(&self) -> &Notify {
        &self.appended
    }

    pub(super) fn tallies(&self) -> &Tallies {
        &self.tallies
    }
}

impl Tallies {
    /// Returns the reason for which the user's configuration cannot be used now.
    pub(super) fn configuration_fault(&self) -> Option<String> {
        let fault = self.configuration.lock();
        fault.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for BoardWorker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// State of the thread.
struct BoardWorkerState {
    open: Opener,
    mesh: Mesh,
    matrix: MatrixFile,
    warn: Warn,
    scribe: BridgeWatcher,
    /// Earlier contents of the bridge file that are not applied yet, oldest first.
    before: Vec<Vec<u8>>,
    /// Number of unread overwrites that are not reported yet.
    overwritten: usize,
    /// Created again with the mesh: it knows which files it has read.
    bridge: Bridge,
    /// Until when nothing is shown that only the board's changes ask for.
    pause: Option<Instant>,
    /// Stamp of the bridge's files when they were last synced.
    seen: FileStamp,
    /// Stamp right after that.
    looked: FileStamp,
    /// The change of the board that the bridge file shows.
    shown: Option<u64>,
    /// Text that is in the file instead, for a moment.
    resting: WriteDelay,
    /// When the files were last read.
    read: Option<Instant>,
    /// When something last failed.
    failed: Option<Instant>,
    appended: Arc<Notify>,
    tallies: Arc<Tallies>,
}

impl BoardWorkerState {
    fn work(&mut self, waiting: &mpsc::Receiver<Job>) {
        let mut looked = Instant::now();
        loop {
            match waiting.recv_timeout(LOOK.saturating_sub(looked.elapsed())) {
                Ok(first) => {
                    let mut is_written = false;
                    let mut orders = Vec::new();
                    for job in std::iter::once(first).chain(waiting.try_iter()) {
                        match job {
                            Job::Decide(order) => orders.push(order),
                            Job::Look => is_written = true,
                        }
                    }
                    if !orders.is_empty() {
                        self.decide(orders);
                    }
                    if !is_written && looked.elapsed() < LOOK {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Delayed changes are written now, because no one does it after this thread.
                    self.pause = None;
                    self.attend();
                    return;
                }
            }
            looked = Instant::now();
            self.attend();
        }
    }

    /// Decides all that waits in one turn, and answers everybody.
    fn decide(&mut self, orders: Vec<WorkerRequest>) {
        let (lists, waiting): (Vec<_>, Vec<_>) = orders
            .into_iter()
            .map(|order| (order.list, order.done))
            .unzip();
        self.heed_configuration();
        let opened = self.reopen_if_replaced();
        let decided = opened.and_then(|()| self.mesh.publish_lists(lists));
        match decided {
            Ok(answers) => {
                for (answer, done) in answers.into_iter().zip(waiting) {
                    // The author may have disconnected; the events are decided anyway.
                    drop(done.send(answer.map_err(Arc::new)));
                }
            }
            Err(error) => {
                let error = Arc::new(Undecided { at: 0, error });
                for done in waiting {
                    drop(done.send(Err(Arc::clone(&error))));
                }
            }
        }
    }

    /// Brings the bridge in line where there may be anything to do.
    fn attend(&mut self) {
        if self.failed.is_some_and(|at| at.elapsed() < READ) {
            return;
        }
        self.failed = None;
        if self.bring_in_line().is_err() {
            self.failed = Some(Instant::now());
            self.read = None;
            self.tallies.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reads the routes from the configuration. If it is invalid, the last ones stay in effect.
    fn heed_configuration(&mut self) {
        let fault = match self.matrix.look() {
            ReloadOutcome::Same => return,
            ReloadOutcome::Changed => {
                self.mesh.set_matrix(self.matrix.matrix().clone());
                None
            }
            ReloadOutcome::Broken(reason) => {
                (self.warn)(&reason);
                Some(reason)
            }
        };
        let known = self.tallies.configuration.lock();
        *known.unwrap_or_else(PoisonError::into_inner) = fault;
    }

    fn bring_in_line(&mut self) -> Result<(), MeshError> {
        self.reopen_if_replaced()?;
        let is_due = self.read.is_none_or(|at| at.elapsed() >= READ);
        if is_due {
            self.heed_configuration();
            let before = self.mesh.board()?.seq;
            self.mesh.settle()?;
            self.tell_if_after(before)?;
        }
        let read = self.scribe.take();
        self.before.extend(read.versions);
        self.overwritten += read.overwritten;
        // Files that cannot be looked at are synced, or reported, by reading them.
        let glimpse = self.bridge.glimpse().unwrap_or_default();
        let rev = self.mesh.board()?.rev;
        let is_shown = self.before.is_empty() && self.overwritten == 0 && self.shown == Some(rev);
        if !is_due && glimpse == self.seen && is_shown && !self.resting.is_over() {
            return Ok(());
        }
        let is_only_board = self.before.is_empty() && self.overwritten == 0;
        let is_pause = self.pause.is_some_and(|until| Instant::now() < until);
        if is_pause && is_only_board && glimpse == self.looked {
            return Ok(());
        }
        let before = self.mesh.board()?.seq;
        let begun = Instant::now();
        let some = self.before.len().min(MOST_AT_ONCE);
        let synced = self.bridge.sync_with(
            &mut self.mesh,
            &self.before[..some],
            self.overwritten,
            &mut self.resting,
        )?;
        let pause = (begun.elapsed() * PAUSES).min(LONGEST_PAUSE);
        self.pause = Some(Instant::now() + pause);
        self.looked = self.bridge.glimpse().unwrap_or_default();
        self.before.drain(..some);
        self.overwritten = 0;
        self.count(&synced);
        self.tell_if_after(before)?;
        // Taken before it was read: what was written since looks otherwise the next time.
        self.seen = if synced == Synced::default() {
            glimpse
        } else {
            FileStamp::default()
        };
        let now = self.mesh.journal().now();
        let board = self.mesh.board()?;
        let tally = self.tallies.board.lock();
        *tally.unwrap_or_else(PoisonError::into_inner) = board.tally(now);
        self.shown = Some(board.rev);
        self.read = Some(Instant::now());
        Ok(())
    }

    fn tell_if_after(&mut self, seq: u64) -> Result<(), MeshError> {
        if self.mesh.board()?.seq > seq {
            self.appended.notify_one();
        }
        Ok(())
    }

    fn count(&self, synced: &Synced) {
        for (tally, count) in [
            (&self.tallies.edits, synced.edits),
            (&self.tallies.conflicts, synced.conflicts.len()),
            (&self.tallies.rejected, synced.rejected.len()),
        ] {
            tally.fetch_add(count as u64, Ordering::Relaxed);
        }
    }

    /// Opens the mesh again where its folder was removed or replaced.
    fn reopen_if_replaced(&mut self) -> Result<(), MeshError> {
        if self.mesh.is_in_place()? {
            return Ok(());
        }
        self.mesh = (self.open)()?.with_matrix(self.matrix.matrix().clone());
        let bridge = Bridge::of(self.mesh.disk(), &self.mesh);
        self.bridge = bridge.telling(self.scribe.tell_apart(self.mesh.disk().clone()));
        self.pause = None;
        self.shown = None;
        self.read = None;
        Ok(())
    }
}
