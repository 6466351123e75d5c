//! [`Hub`]: appends for all clients of this process, and delivers to all subscribers.
//!
//! Everything here runs on one thread: between two `await`s nothing else has a turn, which makes
//! the way from the log to live events gap-free. Events of other processes are found by looking at
//! the log's files every 25 ms as long as there is a subscriber. A file watch of the system would
//! notice sooner, but costs a crate whose license the project does not accept (`notify` is CC0) or
//! code for each system; a look is a listing of one small folder.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use callosum_mesh::{
    Undecided,
    event::{Draft, Event},
    is_about_board,
    journal::{Cursor, Durability, Journal, JournalError, LogEnd, Reader},
};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot};

use super::{
    board_worker::{BoardWorker, Busy},
    counts::Counts,
    encoded_event::EncodedEvent,
    event_cache::Recent,
    fsync_worker::Syncer,
    send_queue::SendQueue,
    serve_error::ServeError,
};

/// Interval of looks at the log while there are subscribers.
const LOOK: Duration = Duration::from_millis(25);

/// Interval of looks at it without subscribers, for the metrics.
const IDLE_LOOK: Duration = Duration::from_secs(1);

/// So many events of others are read at once.
const BATCH: usize = 256;

/// Function that opens the log, and opens it again if its folder was removed.
pub(super) type Opener = Box<dyn Fn() -> Result<Journal, JournalError> + Send>;

/// Published events, as they were stored.
pub(super) struct Published {
    /// Each event as it is in the log. `None` if it changed nothing.
    pub(super) events: Vec<Option<Event>>,
    /// Their durability, which may be better than requested.
    pub(super) durability: Durability,
}

/// Reason for which events were not stored.
#[derive(Debug)]
pub(super) enum Unpublished {
    /// The log or the board did not take it.
    Mesh(Arc<Undecided>),
    /// More wait to be decided than may.
    Busy,
    /// An event that changes the board was to be ephemeral: its index in the list.
    Ephemeral(usize),
}

/// Sender for the result of a post.
pub(super) type Answer = oneshot::Sender<Result<Vec<Event>, Arc<Undecided>>>;

/// Events to append together, with the sender for their result.
pub(super) struct Post {
    pub(super) drafts: Vec<Draft>,
    pub(super) durability: Durability,
    pub(super) done: Answer,
}

/// Log and its subscribers.
pub(super) struct Hub {
    open: Opener,
    pub(super) journal: RefCell<Journal>,
    /// The `seq` up to which all live subscribers have got everything.
    pub(super) seen: Cell<u64>,
    /// The end of the log when all subscribers had got everything in it.
    pub(super) tip: RefCell<LogEnd>,
    pub(super) seats: RefCell<Vec<Rc<SendQueue>>>,
    /// Latest events, while there is any subscriber.
    recent: RefCell<Recent>,
    pub(super) posts: RefCell<Vec<Post>>,
    pub(super) posted: Notify,
    pub(super) syncer: Syncer,
    /// Permit to read a piece of the log for a subscriber that is behind. There is one at a time,
    /// in turns, so that a publisher waits for one piece and not for one of each.
    replaying: Semaphore,
    keeper: BoardWorker,
    pub(super) counts: Counts,
}

impl Hub {
    /// Opens the log. Events that are in it already go only to subscribers that ask for them.
    pub(super) fn open(open: Opener, keeper: BoardWorker) -> Result<Self, ServeError> {
        let mut journal = open()?;
        let before = journal.tip()?;
        let turn = journal.turn()?;
        let (seen, tip) = (turn.cursor().seq, turn.tip_after(&before));
        drop(turn);
        Ok(Self {
            open,
            journal: RefCell::new(journal),
            seen: Cell::new(seen),
            tip: RefCell::new(tip),
            seats: RefCell::default(),
            recent: RefCell::default(),
            posts: RefCell::default(),
            posted: Notify::new(),
            syncer: Syncer::start().map_err(ServeError::Thread)?,
            replaying: Semaphore::new(1),
            keeper,
            counts: Counts::default(),
        })
    }

    /// The log's own id.
    pub(super) fn origin(&self) -> String {
        self.journal.borrow().origin().to_owned()
    }

    /// Returns the last event that all subscribers have got.
    pub(super) fn seen(&self) -> u64 {
        self.seen.get()
    }

    /// Returns the last event of the log, no matter which process appended it. All subscribers have
    /// got it by then.
    pub(super) fn last(&self) -> Result<u64, JournalError> {
        self.look()?;
        Ok(self.seen())
    }

    /// Bytes and files of the log.
    pub(super) fn size(&self) -> Result<(u64, usize), JournalError> {
        self.journal.borrow().size()
    }

    /// Begins to read the log.
    pub(super) fn read_after(&self, cursor: &Cursor) -> Reader {
        self.journal.borrow().read_after(cursor)
    }

    /// Waits for the permit to read a piece of the log, after all waiting publishers have had their
    /// turn.
    pub(super) async fn piece(&self) -> SemaphorePermit<'_> {
        let turn = self.replaying.acquire().await;
        tokio::task::yield_now().await;
        turn.expect("it is never closed")
    }

    /// Returns recent events after this one, up to about `most` bytes. `None` if they have to be
    /// read from the log.
    pub(super) fn recent_after(&self, seq: u64, most: usize) -> Option<Vec<Rc<EncodedEvent>>> {
        self.recent.borrow().after(seq, most)
    }

    pub(super) fn seat(&self, seat: &Rc<SendQueue>) {
        self.seats.borrow_mut().push(Rc::clone(seat));
    }

    pub(super) fn unseat(&self, seat: &Rc<SendQueue>) {
        self.seats
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, seat));
    }

    /// Returns the number of subscribers.
    pub(super) fn listeners(&self) -> usize {
        self.seats.borrow().len()
    }

    /// The thread that keeps the board.
    pub(super) fn keeper(&self) -> &BoardWorker {
        &self.keeper
    }

    /// Stores these events with this durability, delivers them to all subscribers, and returns them
    /// in their places.
    ///
    /// Everything that arrives during an append goes into one write, and one sync is enough for all
    /// of it. A list with an event that changes the board is decided first, all or none, and always
    /// synced.
    pub(super) async fn publish(
        &self,
        drafts: Vec<Draft>,
        durability: Durability,
    ) -> Result<Published, Unpublished> {
        let began = Instant::now();
        let about = drafts.iter().position(|draft| is_about_board(&draft.topic));
        let published = match about {
            Some(at) if durability == Durability::Ephemeral => Err(Unpublished::Ephemeral(at)),
            Some(_) => self.decide(drafts).await,
            None => self.keep(drafts, durability).await,
        };
        if let Ok(published) = &published {
            self.counts.publish(published.durability, began.elapsed());
        }
        published
    }

    async fn decide(&self, drafts: Vec<Draft>) -> Result<Published, Unpublished> {
        let decided = self.keeper.order(drafts);
        let decided = decided.map_err(|Busy| Unpublished::Busy)?;
        let events = decided.await.map_err(|_| Unpublished::Busy)?;
        let events = events.map_err(Unpublished::Mesh)?;
        // By the acknowledgement all subscribers have got it. A failure here is reported by the
        // next look.
        if self.look().is_err() {
            self.counts.unreadable();
        }
        Ok(Published {
            events,
            durability: Durability::Synced,
        })
    }

    async fn keep(
        &self,
        drafts: Vec<Draft>,
        durability: Durability,
    ) -> Result<Published, Unpublished> {
        let events = if durability == Durability::Ephemeral {
            let events = self.journal.borrow().ephemeral(drafts);
            self.deliver(events.clone());
            events
        } else {
            let (done, result) = oneshot::channel();
            self.posts.borrow_mut().push(Post {
                drafts,
                durability,
                done,
            });
            self.posted.notify_one();
            let answered = result.await;
            let events = answered.expect("the writer answers everybody before it ends");
            events.map_err(Unpublished::Mesh)?
        };
        Ok(Published {
            events: events.into_iter().map(Some).collect(),
            durability,
        })
    }

    /// Looks at the log from time to time, until the end of the process.
    pub(super) async fn watch(self: Rc<Self>) {
        loop {
            let pause = if self.seats.borrow().is_empty() {
                IDLE_LOOK
            } else {
                LOOK
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.keeper.appended().notified() => {}
            }
            if self.look().is_err() {
                self.counts.unreadable();
            }
        }
    }

    /// Tells everybody what others have appended.
    fn look(&self) -> Result<(), JournalError> {
        self.reopen_if_replaced()?;
        let tip = self.journal.borrow().tip()?;
        if *self.tip.borrow() == tip {
            return Ok(());
        }
        let mut reader = self.journal.borrow().read_after(&Cursor {
            origin: None,
            seq: self.seen.get(),
        });
        self.follow(&mut reader)?;
        *self.tip.borrow_mut() = tip;
        Ok(())
    }

    /// Begins another log where this one was removed or replaced, and has everybody read that from its beginning; whether it
    /// did.
    pub(super) fn reopen_if_replaced(&self) -> Result<bool, JournalError> {
        if self.journal.borrow().is_in_place(&self.tip.borrow())? {
            return Ok(false);
        }
        let journal = (self.open)()?;
        // Events that are in it already are read by the next look.
        *self.tip.borrow_mut() = journal.tip()?.without_content();
        *self.journal.borrow_mut() = journal;
        self.seen.set(0);
        self.recent.borrow_mut().clear();
        for seat in self.seats.borrow().iter() {
            seat.restart();
        }
        self.counts.dropped("reset", 1);
        Ok(true)
    }

    /// Tells everybody what is left to read.
    pub(super) fn follow(&self, reader: &mut Reader) -> Result<(), JournalError> {
        loop {
            let batch = reader.next_batch(BATCH)?;
            for notice in &batch.notices {
                for seat in self.seats.borrow().iter() {
                    seat.queue_notice(notice);
                }
            }
            if batch.events.is_empty() {
                self.seen.set(self.seen.get().max(reader.cursor().seq));
                return Ok(());
            }
            self.deliver(batch.events);
            self.seen.set(reader.cursor().seq);
        }
    }

    pub(super) fn deliver(&self, events: Vec<Event>) {
        let began = Instant::now();
        let seats = self.seats.borrow();
        let mut recent = self.recent.borrow_mut();
        if seats.is_empty() {
            recent.clear();
        }
        for event in events {
            self.counts.event(&event);
            if seats.is_empty() {
                continue;
            }
            let frame = Rc::new(EncodedEvent::new(event));
            if frame.event.seq > 0 {
                recent.push(&frame);
            }
            for seat in seats.iter() {
                if !seat.offer(&frame) {
                    let reason = if frame.event.seq == 0 {
                        "ephemeral"
                    } else {
                        "slow"
                    };
                    self.counts.dropped(reason, 1);
                }
            }
        }
        if !seats.is_empty() {
            self.counts.fan_out(began.elapsed());
        }
    }
}
