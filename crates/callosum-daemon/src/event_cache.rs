//! [`Recent`]: frames of the latest events. A subscriber that is behind by no more than these gets them here, made once for all, instead of reading the log.

use std::{collections::VecDeque, rc::Rc};

use super::encoded_event::EncodedEvent;

/// Most bytes that are kept: more than the longest list of a post.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Approximate bytes of a frame in addition to its text and the event that it was made from.
const BESIDE: usize = 1024;

/// Events that follow one another in the log without a gap.
#[derive(Debug, Default)]
pub(super) struct Recent {
    frames: VecDeque<Rc<EncodedEvent>>,
    bytes: usize,
}

impl Recent {
    /// Adds an event of the log. Events that do not directly precede it are forgotten, and so are
    /// the oldest past the limit.
    pub(super) fn push(&mut self, frame: &Rc<EncodedEvent>) {
        let last = self.frames.back().map(|last| last.event.seq);
        if last.is_some_and(|last| last + 1 != frame.event.seq) {
            self.clear();
        }
        self.bytes += cost(frame);
        self.frames.push_back(Rc::clone(frame));
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.frames.pop_front()
        {
            self.bytes -= cost(&oldest);
        }
    }

    /// Returns the events after this one, up to about `most` bytes. `None` if some of them are not
    /// kept.
    pub(super) fn after(&self, seq: u64, most: usize) -> Option<Vec<Rc<EncodedEvent>>> {
        let first = self.frames.front()?.event.seq;
        let begin = usize::try_from((seq + 1).checked_sub(first)?).ok()?;
        if begin >= self.frames.len() {
            return None;
        }
        let mut bytes = 0;
        let following = self.frames.range(begin..).take_while(|frame| {
            let has_room = bytes < most;
            bytes += frame.len();
            has_room
        });
        Some(following.cloned().collect())
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}

fn cost(frame: &EncodedEvent) -> usize {
    // The text, and what it was made of.
    2 * frame.len() + BESIDE
}

#[cfg(test)]
mod tests {
    use callosum_mesh::event::Event;
    use serde_json::json;

    use super::*;

    fn frame(seq: u64, bytes: usize) -> Rc<EncodedEvent> {
        let value = json!({
            "seq": seq, "origin": "o", "id": "i", "type": "a.b", "event": "a.b", "source": "codex",
            "machine": "m", "timestamp": "2026-01-02T03:04:05Z", "ts": 1.0, "session_id": null,
            "pane_id": null, "cwd": null, "payload": {"text": "x".repeat(bytes)},
        });
        let event: Event = serde_json::from_value(value).unwrap();
        Rc::new(EncodedEvent::new(event))
    }

    fn seqs(found: Option<Vec<Rc<EncodedEvent>>>) -> Option<Vec<u64>> {
        found.map(|frames| frames.iter().map(|frame| frame.event.seq).collect())
    }

    /// CALC-L2-1: an event is framed once for all who fell behind, in slices; who is further behind reads the log.
    #[test]
    fn who_fell_behind_shares_what_was_made_for_others() {
        let mut recent = Recent::default();
        assert_eq!(seqs(recent.after(0, 1)), None);
        let frames: Vec<_> = (5..9).map(|seq| frame(seq, 100)).collect();
        for frame in &frames {
            recent.push(frame);
        }
        assert_eq!(seqs(recent.after(3, usize::MAX)), None);
        assert_eq!(seqs(recent.after(4, usize::MAX)), Some(vec![5, 6, 7, 8]));
        assert_eq!(seqs(recent.after(5, frames[0].len() + 1)), Some(vec![6, 7]));
        assert_eq!(seqs(recent.after(8, usize::MAX)), None);
        let (one, other) = (recent.after(7, 1).unwrap(), recent.after(7, 1).unwrap());
        assert!(Rc::ptr_eq(&one[0], &other[0]) && Rc::ptr_eq(&one[0], &frames[3]));
    }

    #[test]
    fn what_is_kept_is_bounded_and_has_no_gap() {
        let mut recent = Recent::default();
        for seq in 1..=5 {
            recent.push(&frame(seq, MOST_BYTES / 8));
        }
        assert_eq!(seqs(recent.after(0, usize::MAX)), None);
        assert_eq!(seqs(recent.after(2, usize::MAX)), Some(vec![3, 4, 5]));
        recent.push(&frame(9, 1));
        assert_eq!(seqs(recent.after(5, usize::MAX)), None);
        assert_eq!(seqs(recent.after(8, usize::MAX)), Some(vec![9]));
    }
}
