//! [`SendQueue`]: send queue of one subscriber, which delays no other.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use callosum_mesh::{journal::Notice, topic::Pattern};
use tokio::sync::Notify;

use super::encoded_event::EncodedEvent;

/// Most bytes that wait for one subscriber. Who is further behind reads on from the log.
pub(super) const LONGEST_QUEUE: usize = 128 * 1024;

/// Item for a subscriber.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Event(Rc<EncodedEvent>),
    Notice(Notice),
}

/// A subscriber, as the hub sees it.
#[derive(Debug)]
pub(super) struct SendQueue {
    pub(super) patterns: RefCell<Vec<Pattern>>,
    queue: RefCell<VecDeque<Item>>,
    bytes: Cell<usize>,
    /// The `seq` up to which it got everything.
    pub(super) passed: Cell<u64>,
    /// Whether it hears of events as they happen; else it reads the log, and comes to the end of it.
    pub(super) is_live: Cell<bool>,
    /// Events that were kept nowhere and found no room.
    lost: Cell<u64>,
    pub(super) wake: Notify,
}

impl SendQueue {
    pub(super) fn new(patterns: Vec<Pattern>, passed: u64) -> Self {
        Self {
            patterns: RefCell::new(patterns),
            queue: RefCell::default(),
            bytes: Cell::new(0),
            passed: Cell::new(passed),
            is_live: Cell::new(false),
            lost: Cell::new(0),
            wake: Notify::new(),
        }
    }

    /// Whether it asked for this topic.
    pub(super) fn wants(&self, frame: &EncodedEvent) -> bool {
        let patterns = self.patterns.borrow();
        patterns
            .iter()
            .any(|pattern| pattern.matches(&frame.event.topic))
    }

    /// Queues an event without waiting. Returns whether there was room.
    ///
    /// If there is no room for a stored event, the whole queue is dropped and will be read from the
    /// log, in order. An event that is not stored is counted.
    pub(super) fn offer(&self, frame: &Rc<EncodedEvent>) -> bool {
        let seq = frame.event.seq;
        let is_kept = seq > 0;
        if is_kept && (!self.is_live.get() || seq <= self.passed.get()) {
            return true;
        }
        if !self.wants(frame) {
            if is_kept && self.queue.borrow().is_empty() {
                self.passed.set(seq);
            }
            return true;
        }
        let is_room = self.bytes.get() + frame.len() <= LONGEST_QUEUE;
        if is_room {
            self.bytes.set(self.bytes.get() + frame.len());
            self.queue
                .borrow_mut()
                .push_back(Item::Event(Rc::clone(frame)));
        } else if is_kept {
            self.fall_behind();
        } else {
            self.lost.set(self.lost.get() + 1);
        }
        self.wake.notify_one();
        is_room
    }

    /// Queues a notice.
    pub(super) fn queue_notice(&self, notice: &Notice) {
        if self.is_live.get() {
            self.queue
                .borrow_mut()
                .push_back(Item::Notice(notice.clone()));
            self.wake.notify_one();
        }
    }

    /// Another log has begun: everything waits to be read from there.
    pub(super) fn restart(&self) {
        self.fall_behind();
        self.passed.set(0);
        self.wake.notify_one();
    }

    fn fall_behind(&self) {
        self.is_live.set(false);
        let mut queue = self.queue.borrow_mut();
        let lost = queue
            .drain(..)
            .filter(|item| matches!(item, Item::Event(frame) if frame.event.seq == 0));
        self.lost.set(self.lost.get() + lost.count() as u64);
        self.bytes.set(0);
    }

    /// Takes items from the queue, up to about `most` bytes.
    pub(super) fn take(&self, most: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let lost = self.lost.replace(0);
        if lost > 0 {
            items.push(Item::Notice(Notice::Dropped { count: lost }));
        }
        let mut queue = self.queue.borrow_mut();
        let mut taken = 0;
        while taken < most
            && let Some(item) = queue.pop_front()
        {
            if let Item::Event(frame) = &item {
                taken += frame.len();
                self.bytes.set(self.bytes.get() - frame.len());
                if frame.event.seq > 0 {
                    self.passed.set(frame.event.seq);
                }
            }
            items.push(item);
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use callosum_mesh::event::{Draft, Event};
    use serde_json::json;

    use super::*;

    fn frame(seq: u64, topic: &str, bytes: usize) -> Rc<EncodedEvent> {
        let value = json!({
            "seq": seq, "origin": "o", "id": "i", "type": topic, "event": topic, "source": "codex",
            "machine": "m", "timestamp": "2026-01-02T03:04:05Z", "ts": 1.0, "session_id": null,
            "pane_id": null, "cwd": null, "payload": {"text": "x".repeat(bytes)},
        });
        let event: Event = serde_json::from_value(value).unwrap();
        assert!(Draft::read(&json!({"type": topic, "source": "codex"})).is_ok());
        Rc::new(EncodedEvent::new(event))
    }

    fn live(pattern: &str) -> SendQueue {
        let seat = SendQueue::new(vec![pattern.parse().unwrap()], 0);
        seat.is_live.set(true);
        seat
    }

    /// CALC-L2-1: who is slow costs no memory beyond its queue, and reads on from the log.
    #[test]
    fn a_full_queue_is_let_go_and_what_was_passed_is_known() {
        let seat = live("a.*");
        assert!(seat.offer(&frame(1, "a.b", 10)));
        assert_eq!(seat.take(1).len(), 1);
        assert_eq!(seat.passed.get(), 1);
        assert!(seat.offer(&frame(2, "a.b", LONGEST_QUEUE / 2)));
        assert!(!seat.offer(&frame(3, "a.b", LONGEST_QUEUE / 2)));
        assert!(!seat.is_live.get());
        assert_eq!(seat.passed.get(), 1, "both are read from the log");
        assert!(seat.take(usize::MAX).is_empty());
    }

    /// CALC-L2-1: what is kept nowhere and found no room is counted.
    #[test]
    fn ephemeral_events_that_found_no_room_are_reported() {
        let seat = live("**");
        assert!(seat.offer(&frame(0, "a", LONGEST_QUEUE - 1000)));
        assert!(!seat.offer(&frame(0, "a", 5000)));
        assert!(seat.is_live.get());
        let items = seat.take(usize::MAX);
        assert!(matches!(
            items[0],
            Item::Notice(Notice::Dropped { count: 1 })
        ));
        assert_eq!(items.len(), 2);
    }

    #[test]
    fn unwanted_events_count_as_passed() {
        let seat = live("a.*");
        assert!(seat.offer(&frame(1, "b", 10)));
        assert_eq!(seat.passed.get(), 1);
        assert!(seat.offer(&frame(1, "a.b", 10)), "it came before");
        assert!(seat.take(usize::MAX).is_empty());
    }
}
