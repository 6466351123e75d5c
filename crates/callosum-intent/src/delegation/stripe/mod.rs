//! [`Stripes`]: the latest decisions, in one buffer for each thread.
//!
//! Each buffer has two uses. It holds the records that the caller must write, and it holds the order in which entries
//! of the cache were used. So a hit writes to one place that no other processor reads, and the order is applied when an
//! entry is inserted or records are taken.

mod lease;
mod ring;

use std::sync::{Mutex, MutexGuard, OnceLock};

use self::{lease::number_of_thread, ring::Ring};
use super::{decision::Why, locked};

/// Threads with a ring of their own. Others share one buffer with a lock.
const RINGS: usize = 64;

/// Use of an entry: its slot, and the version of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) slot: u32,
    pub(super) version: u32,
}

impl Touch {
    /// No entry.
    pub(super) const NONE: Self = Self {
        slot: u32::MAX,
        version: 0,
    };
}

/// A decision, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawRecord {
    /// Nanoseconds since 1970.
    pub(super) at: i64,
    pub(super) task: u64,
    pub(super) policy: u64,
    pub(super) symbol: u32,
    pub(super) target: u32,
    pub(super) touch: Touch,
    /// Confidence, in millionths.
    pub(super) millionths: u32,
    pub(super) why: Why,
}

#[derive(Debug, Default)]
struct Buffer {
    records: Vec<RawRecord>,
    /// An empty vector that was written before, so that taking records costs no allocation.
    spare: Vec<RawRecord>,
    /// Records whose use of an entry was applied.
    applied: usize,
}

/// The buffers of all threads.
#[derive(Debug)]
pub(super) struct Stripes {
    rings: Box<[OnceLock<Box<Ring>>]>,
    /// For threads beyond the rings, and for threads that end.
    shared: Mutex<Buffer>,
}

impl Stripes {
    /// Returns empty buffers.
    pub(super) fn new() -> Self {
        Self {
            rings: std::iter::repeat_with(OnceLock::new).take(RINGS).collect(),
            shared: Mutex::default(),
        }
    }

    /// Adds a record to the buffer of this thread.
    #[inline]
    pub(super) fn push(&self, record: &RawRecord) {
        // No other thread that lives has this number, so none pushes to this ring.
        let ring = number_of_thread().and_then(|number| self.rings.get(number));
        match ring {
            Some(ring) => ring.get_or_init(|| Box::new(Ring::new())).push(record),
            None => locked(&self.shared).records.push(*record),
        }
    }

    /// Returns each buffer in turn, with its lock held and its ring emptied.
    fn buffers(&self) -> impl Iterator<Item = MutexGuard<'_, Buffer>> {
        let rings = self.rings.iter().filter_map(OnceLock::get);
        let buffers = rings.map(|ring| ring.buffer());
        buffers.chain(std::iter::once_with(|| locked(&self.shared)))
    }

    /// Returns the uses of entries since the last call, oldest first.
    pub(super) fn uses(&self) -> Vec<Touch> {
        self.collect_uses(|_| {})
    }

    /// Returns all records, oldest first, and the uses of entries since the last call.
    pub(super) fn take(&self) -> (Vec<RawRecord>, Vec<Touch>) {
        let mut taken: Vec<Vec<RawRecord>> = Vec::new();
        let uses = self.collect_uses(|buffer| {
            buffer.applied = 0;
            let spare = std::mem::take(&mut buffer.spare);
            taken.push(std::mem::replace(&mut buffer.records, spare));
        });
        let records = merged(&taken, |record| record.at);
        // A ring that was added meanwhile moves others by one. Then a vector goes to another thread's buffer.
        for (mut buffer, mut used) in self.buffers().zip(taken) {
            used.clear();
            if buffer.spare.capacity() < used.capacity() {
                buffer.spare = used;
            }
        }
        (records, uses)
    }

    /// Returns how many records were not taken.
    pub(super) fn len(&self) -> usize {
        self.buffers().map(|buffer| buffer.records.len()).sum()
    }

    fn collect_uses(&self, mut then: impl FnMut(&mut Buffer)) -> Vec<Touch> {
        let uses: Vec<Vec<(i64, Touch)>> = self
            .buffers()
            .map(|mut buffer| {
                let new = &buffer.records[buffer.applied..];
                let uses = new
                    .iter()
                    .filter(|record| record.touch != Touch::NONE)
                    .map(|record| (record.at, record.touch))
                    .collect();
                buffer.applied = buffer.records.len();
                then(&mut buffer);
                uses
            })
            .collect();
        merged(&uses, |(at, _)| *at)
            .into_iter()
            .map(|(_, touch)| touch)
            .collect()
    }
}

/// Merges lists by time. The order within a list stays, also if a clock was set back.
fn merged<T: Copy>(lists: &[Vec<T>], at: impl Fn(&T) -> i64) -> Vec<T> {
    let mut rests: Vec<&[T]> = lists
        .iter()
        .map(Vec::as_slice)
        .filter(|list| !list.is_empty())
        .collect();
    let mut merged = Vec::with_capacity(rests.iter().map(|list| list.len()).sum());
    while rests.len() > 1 {
        let earliest = (0..rests.len())
            .min_by_key(|&list| at(&rests[list][0]))
            .unwrap_or_default();
        merged.push(rests[earliest][0]);
        rests[earliest] = &rests[earliest][1..];
        if rests[earliest].is_empty() {
            rests.remove(earliest);
        }
    }
    if let Some(rest) = rests.first() {
        merged.extend_from_slice(rest);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_merged_by_time_and_each_keeps_its_order() {
        let lists = [vec![1, 5, 2], vec![3, 4], vec![], vec![0]];
        assert_eq!(merged(&lists, |&at| at), [0, 1, 3, 4, 5, 2]);
        assert_eq!(merged::<i64>(&[], |&at| at), [0; 0]);
    }

    #[test]
    fn a_use_is_returned_once_and_a_record_until_it_is_taken() {
        let stripes = Stripes::new();
        let record = |slot| RawRecord {
            at: 1,
            task: 0,
            policy: 0,
            symbol: 0,
            target: 0,
            touch: Touch { slot, version: 2 },
            millionths: 0,
            why: Why::Hit,
        };
        stripes.push(&record(7));
        assert_eq!(stripes.uses().len(), 1);
        assert_eq!(stripes.uses(), []);
        stripes.push(&record(8));
        stripes.push(&RawRecord {
            touch: Touch::NONE,
            ..record(0)
        });
        assert_eq!(stripes.len(), 3);
        let (records, uses) = stripes.take();
        assert_eq!((records.len(), uses.len()), (3, 1));
        assert_eq!(uses[0].slot, 8);
        assert_eq!(stripes.len(), 0);
        stripes.push(&record(9));
        assert_eq!(stripes.uses().len(), 1);
    }
}
