//! [`Ring`]: records of one thread, on their way to any other.
//!
//! One thread pushes, with plain stores: an atomic exchange or a lock would cost as much as the rest of a decision, and
//! would keep the processor from working on several decisions at once. A thread that takes records holds the ring's lock. The
//! pushing thread takes it only when the ring is full.

use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use super::{Buffer, RawRecord, Touch};
use crate::delegation::{decision::Why, locked};

/// Records in a ring: more than most callers let wait, since a full ring stops its thread for some microseconds.
const LENGTH: usize = 4_096;

/// A record as words: time, task, policy, symbol and target, slot and version, confidence and reason. It has a cache line of
/// its own, so that a push is as fast wherever the ring is in memory.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Words([AtomicU64; 6]);

/// A counter on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicUsize);

/// Records of one thread.
#[derive(Debug)]
pub(super) struct Ring {
    /// Records that were pushed. Only the pushing thread changes it.
    pushed: Counter,
    /// Records that were taken. Only the holder of the lock changes it.
    taken: Counter,
    cells: Box<[Words]>,
    buffer: Mutex<Buffer>,
}

impl Ring {
    /// Returns an empty ring.
    pub(super) fn new() -> Self {
        Self {
            pushed: Counter::default(),
            taken: Counter::default(),
            cells: std::iter::repeat_with(Words::default)
                .take(LENGTH)
                .collect(),
            buffer: Mutex::default(),
        }
    }

    /// Adds a record. Only one thread may call it at a time.
    #[inline]
    pub(super) fn push(&self, record: &RawRecord) {
        let pushed = self.pushed.0.load(Ordering::Relaxed);
        let taken = self.taken.0.load(Ordering::Acquire);
        if pushed.wrapping_sub(taken) >= LENGTH {
            self.make_room();
        }
        let words = words(record);
        for (cell, word) in self.cells[pushed % LENGTH].0.iter().zip(words) {
            cell.store(word, Ordering::Relaxed);
        }
        self.pushed
            .0
            .store(pushed.wrapping_add(1), Ordering::Release);
    }

    /// Moves all records to the buffer, and returns it with its lock held.
    pub(super) fn buffer(&self) -> MutexGuard<'_, Buffer> {
        let mut buffer = locked(&self.buffer);
        let taken = self.taken.0.load(Ordering::Relaxed);
        let pushed = self.pushed.0.load(Ordering::Acquire);
        let count = pushed.wrapping_sub(taken);
        let cells = (0..count).map(|offset| &self.cells[taken.wrapping_add(offset) % LENGTH]);
        buffer.records.extend(cells.map(record));
        // The pushing thread reuses the cells only after it sees this.
        self.taken.0.store(pushed, Ordering::Release);
        buffer
    }

    #[cold]
    fn make_room(&self) {
        drop(self.buffer());
    }
}

fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

#[inline]
fn words(record: &RawRecord) -> [u64; 6] {
    [
        record.at.cast_unsigned(),
        record.task,
        record.policy,
        pair(record.symbol, record.target),
        pair(record.touch.slot, record.touch.version),
        pair(record.millionths, record.why as u32),
    ]
}

fn record(cell: &Words) -> RawRecord {
    let [at, task, policy, names, touch, rest] =
        cell.0.each_ref().map(|word| word.load(Ordering::Relaxed));
    RawRecord {
        at: at.cast_signed(),
        task,
        policy,
        symbol: (names >> 32) as u32,
        target: names as u32,
        touch: Touch {
            slot: (touch >> 32) as u32,
            version: touch as u32,
        },
        millionths: (rest >> 32) as u32,
        why: match rest as u32 {
            0 => Why::Static,
            1 => Why::Hit,
            2 => Why::Metadata,
            _ => Why::Default,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn numbered(number: u64) -> RawRecord {
        RawRecord {
            at: -number.cast_signed(),
            task: number,
            policy: !number,
            symbol: number as u32,
            target: !number as u32,
            touch: Touch {
                slot: number as u32 ^ 1,
                version: number as u32 ^ 2,
            },
            millionths: number as u32 % 1_000_000,
            why: [Why::Static, Why::Hit, Why::Metadata, Why::Default][number as usize % 4],
        }
    }

    /// CCOS-DEL-2: no record is lost, doubled or torn between a thread that pushes and one that takes.
    #[test]
    fn every_record_arrives_once_whole_and_in_order() {
        let count = 50_000;
        let ring = Ring::new();
        let mut arrived = Vec::new();
        thread::scope(|scope| {
            let pushing =
                scope.spawn(|| (0..count).for_each(|number| ring.push(&numbered(number))));
            while !pushing.is_finished() {
                arrived.append(&mut ring.buffer().records);
            }
        });
        arrived.append(&mut ring.buffer().records);
        let expected: Vec<RawRecord> = (0..count).map(numbered).collect();
        assert!(arrived == expected);
    }

    #[test]
    fn a_full_ring_moves_its_records_to_the_buffer() {
        let ring = Ring::new();
        let count = 3 * LENGTH as u64 + 5;
        (0..count).for_each(|number| ring.push(&numbered(number)));
        let expected: Vec<RawRecord> = (0..count).map(numbered).collect();
        assert!(ring.buffer().records == expected);
    }
}
