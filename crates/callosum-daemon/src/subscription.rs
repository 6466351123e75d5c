//! [`Subscription`]: the events of one subscriber, from a cursor on, without a gap between what was and what
//! is.

use std::rc::Rc;

use callosum_mesh::{
    journal::{Cursor, JournalError, Reader},
    topic::Pattern,
};

use super::{
    broker::Hub,
    encoded_event::EncodedEvent,
    send_queue::{Item, SendQueue},
};

/// So many events are read from the log before others have their turn.
const BATCH: usize = 64;

/// About so many bytes are sent at once. A subscriber that reads nothing keeps as many waiting in
/// this process, in addition to its queue.
const CHUNK: usize = 16 * 1024;

/// A subscription; it ends when this is dropped.
pub(super) struct Subscription {
    hub: Rc<Hub>,
    seat: Rc<SendQueue>,
    /// The log that it reads.
    origin: String,
    /// Reader, as long as the log has undelivered events.
    reader: Option<Reader>,
}

impl Subscription {
    /// Begins after `since`, or with what happens from now on.
    pub(super) fn begin(hub: &Rc<Hub>, patterns: Vec<Pattern>, since: Option<&Cursor>) -> Self {
        let seat = Rc::new(SendQueue::new(patterns, hub.seen()));
        let reader = since.map(|since| {
            // A position past the end of the log is from another log: the feed is reset at once, so
            // that no client keeps it as a cursor.
            let is_past = since.seq > hub.seen() && hub.last().is_ok_and(|last| since.seq > last);
            if is_past {
                let another = Some(String::new());
                return hub.read_after(&Cursor {
                    origin: another,
                    ..*since
                });
            }
            hub.read_after(since)
        });
        seat.is_live.set(reader.is_none());
        hub.seat(&seat);
        Self {
            hub: Rc::clone(hub),
            seat,
            origin: hub.origin(),
            reader,
        }
    }

    /// Returns the position of the feed.
    pub(super) fn cursor(&self) -> Cursor {
        match &self.reader {
            Some(reader) => reader.cursor(),
            None => Cursor {
                origin: Some(self.origin.clone()),
                seq: self.seat.passed.get(),
            },
        }
    }

    /// The next that there is to tell; waits where there is nothing. Nothing is lost where the waiting is
    /// given up.
    pub(super) async fn next(&mut self) -> Result<Vec<Item>, JournalError> {
        loop {
            if self.seat.is_live.get() {
                let items = self.seat.take(CHUNK);
                if !items.is_empty() {
                    return Ok(items);
                }
                self.seat.wake.notified().await;
                continue;
            }
            let hub = Rc::clone(&self.hub);
            let _piece = hub.piece().await;
            let items = self.replay()?;
            if !items.is_empty() {
                return Ok(items);
            }
        }
    }

    /// Reads some of the log. Switches to live events at its end: between the last look at the log
    /// and that, nothing else runs on this thread.
    fn replay(&mut self) -> Result<Vec<Item>, JournalError> {
        let current = self.hub.origin();
        if self.reader.is_none()
            && current == self.origin
            && let Some(items) = self.shared()
        {
            return Ok(items);
        }
        if current != self.origin {
            // Another log has begun. The cursor is from the old one, and the reader reports that.
            self.reader = None;
        }
        let reader = self.reader.get_or_insert_with(|| {
            self.hub.read_after(&Cursor {
                origin: Some(std::mem::replace(&mut self.origin, current)),
                seq: self.seat.passed.get(),
            })
        });
        let batch = reader.next_batch_within(BATCH, CHUNK as u64)?;
        let is_end = batch.is_end;
        let mut items: Vec<Item> = batch.notices.into_iter().map(Item::Notice).collect();
        let frames = batch
            .events
            .into_iter()
            .map(|event| Rc::new(EncodedEvent::new(event)));
        items.extend(
            frames
                .filter(|frame| self.seat.wants(frame))
                .map(Item::Event),
        );
        let passed = reader.cursor().seq;
        self.seat.passed.set(passed);
        if is_end && passed >= self.hub.seen() {
            self.reader = None;
            self.seat.is_live.set(true);
        }
        Ok(items)
    }

    /// Returns the next items if others got them a moment ago: nothing is read for them.
    fn shared(&self) -> Option<Vec<Item>> {
        let frames = self.hub.recent_after(self.seat.passed.get(), CHUNK)?;
        let passed = frames.last()?.event.seq;
        self.seat.passed.set(passed);
        if passed >= self.hub.seen() {
            self.seat.is_live.set(true);
        }
        let wanted = frames.into_iter().filter(|frame| self.seat.wants(frame));
        Some(wanted.map(Item::Event).collect())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hub.unseat(&self.seat);
    }
}
