//! Append queue of the [`Hub`]: all waiting posts go into one turn, and each is acknowledged as
//! soon as its durability is reached.
//!
//! An acknowledgement waits for the write of the events and nothing else. The end of the turn, the
//! delivery to subscribers, and the disk come after it.

use std::{
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use callosum_host::{Disk, LockError};
use callosum_mesh::{
    MeshError, Undecided,
    event::Event,
    journal::{Cursor, Durability, JournalError, Rest},
};

use super::broker::{Answer, Hub, Post};

/// Longest wait for the lock of the log.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause between two tries at it.
const PAUSE: Duration = Duration::from_millis(1);

/// Result of a try to append.
enum Tried {
    /// Everybody is answered, and nothing was appended.
    Done,
    Appended(Appended),
    /// Another process has the turn.
    Busy(Vec<Post>),
    /// There was no turn to be had.
    Failed(Vec<Post>, JournalError),
}

/// Work that is left after the acknowledgements.
struct Appended {
    rest: Rest,
    /// Events for the subscribers.
    new_events: Vec<Event>,
}

impl Hub {
    /// Appends posts until the end of the process.
    pub(super) async fn write(self: Rc<Self>) {
        let mut is_busy = false;
        loop {
            self.posted.notified().await;
            // Everybody who is about to hand something in does so first, where several do: to look for them is a call of the system.
            if is_busy {
                tokio::task::yield_now().await;
            }
            let mut posts = self.posts.take();
            is_busy = posts.len() > 1;
            let began = Instant::now();
            while !posts.is_empty() {
                posts = match self.append(posts) {
                    Tried::Done => break,
                    Tried::Appended(appended) => {
                        // The authors get their turn before the subscribers, no matter how many
                        // those are.
                        tokio::task::yield_now().await;
                        self.finish(appended);
                        break;
                    }
                    Tried::Failed(again, error) => {
                        if !self.reopen_if_replaced().unwrap_or(false) {
                            refuse(again, error);
                            break;
                        }
                        again
                    }
                    Tried::Busy(again) if began.elapsed() < PATIENCE => {
                        tokio::time::sleep(PAUSE).await;
                        again
                    }
                    Tried::Busy(again) => {
                        let path = self.journal.borrow().lock_path();
                        let waited = began.elapsed();
                        refuse(
                            again,
                            LockError::timeout(&Disk::real(), &path, waited).into(),
                        );
                        break;
                    }
                }
            }
        }
    }

    /// Appends all of these in one turn, and acknowledges those that wait for no disk. The rest,
    /// which no acknowledgement waits for, is left to [`Hub::finish`].
    fn append(self: &Rc<Self>, posts: Vec<Post>) -> Tried {
        let mut journal = self.journal.borrow_mut();
        let mut turn = match journal.try_turn() {
            Ok(Some(turn)) => turn,
            Ok(None) => return Tried::Busy(posts),
            Err(error) => return Tried::Failed(posts, error),
        };
        // What others appended since comes first.
        if turn.cursor().seq > self.seen.get() {
            let mut reader = turn.read_after(&Cursor {
                origin: None,
                seq: self.seen.get(),
            });
            if let Err(error) = self.follow(&mut reader) {
                return Tried::Failed(posts, error);
            }
            self.seen.set(turn.cursor().seq);
        }
        let (lists, waiting): (Vec<_>, Vec<_>) = posts
            .into_iter()
            .map(|post| (post.drafts, (post.durability, post.done)))
            .unzip();
        let lists = match turn.append_lists(lists) {
            Ok(lists) => lists,
            Err(error) => {
                let error = undecided(error);
                for (_, waits) in waiting {
                    drop(waits.send(Err(Arc::clone(&error))));
                }
                return Tried::Done;
            }
        };
        let is_heard = !self.seats.borrow().is_empty();
        let mut new_events = Vec::new();
        let mut unsynced = Vec::new();
        for (list, (durability, waits)) in lists.into_iter().zip(waiting) {
            let list = match list {
                Ok(list) => list,
                Err(error) => {
                    drop(waits.send(Err(undecided(error))));
                    continue;
                }
            };
            // Events that were there already have reached the subscribers.
            for once in list.iter().filter(|once| once.is_new) {
                self.seen.set(once.event.seq);
                if is_heard {
                    new_events.push(once.event.clone());
                } else {
                    self.counts.event(&once.event);
                }
            }
            let own: Vec<Event> = list.into_iter().map(|once| once.event).collect();
            if durability == Durability::Synced {
                unsynced.push((own, waits));
            } else {
                // The author may have disconnected; the events are stored anyway.
                drop(waits.send(Ok(own)));
            }
        }
        let tip = turn.tip_after(&self.tip.borrow());
        *self.tip.borrow_mut() = tip;
        let rest = turn.answered();
        drop(journal);
        if !unsynced.is_empty() {
            self.sync(&rest, unsynced);
        }
        Tried::Appended(Appended { rest, new_events })
    }

    /// Has what was appended synced, and answers who waits for that.
    fn sync(self: &Rc<Self>, rest: &Rest, waiting: Vec<(Vec<Event>, Answer)>) {
        let synced = rest.unsynced().map(|unsynced| self.syncer.order(unsynced));
        let hub = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let synced = match synced {
                Some(synced) => synced.await.expect("the syncer answers everybody"),
                None => Ok(Duration::ZERO),
            };
            let failure = match synced {
                Ok(took) => {
                    hub.counts.sync(took);
                    None
                }
                Err(error) => {
                    hub.journal.borrow_mut().forget_end();
                    Some(error)
                }
            };
            for (events, waits) in waiting {
                drop(waits.send(match &failure {
                    None => Ok(events),
                    Some(error) => Err(Arc::clone(error)),
                }));
            }
        });
    }

    /// Gives the turn back, and tells everybody what was appended in it.
    fn finish(&self, appended: Appended) {
        let Appended { rest, new_events } = appended;
        let is_same = self.journal.borrow().origin() == rest.origin();
        if rest.end().is_err() {
            // The acknowledged events are in the log; the next turn looks at its end.
            self.journal.borrow_mut().forget_end();
        }
        if is_same {
            self.deliver(new_events);
        }
    }
}

/// Returns the reason for which no event of a post was stored.
fn undecided(error: JournalError) -> Arc<Undecided> {
    let error = MeshError::from(error);
    Arc::new(Undecided { at: 0, error })
}

fn refuse(posts: Vec<Post>, error: JournalError) {
    let error = undecided(error);
    for post in posts {
        drop(post.done.send(Err(Arc::clone(&error))));
    }
}
