//! [`Table`]: entries as numbers, read without a lock.
//!
//! A slot is one cache line with a version. The one thread that may write makes the version odd, writes, and makes it
//! even again. A reader that sees an odd version, or another one after it read, has read nothing. All fields are atomic,
//! so a read during a write is defined. A reader may miss an entry while its neighbor is removed. It then asks again
//! under the lock of the writers.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

use super::super::{context::Key, stripe::Touch};

/// Entries that a clock has put this much into the future are still valid, in nanoseconds: threads read the clock at
/// different times.
const SKEW: i64 = 60_000_000_000;

/// A valid entry, as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) target: u32,
    pub(crate) millionths: u32,
    pub(crate) policy: u64,
    pub(crate) touch: Touch,
}

/// Numbers of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) target: u32,
    pub(crate) millionths: u32,
    /// Version of the rules that the decision was made under.
    pub(crate) validity: u64,
    pub(crate) policy: u64,
    /// Nanoseconds since 1970.
    pub(crate) inserted: i64,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot {
    version: AtomicU32,
    symbol: AtomicU32,
    fingerprint: AtomicU64,
    context: AtomicU64,
    target: AtomicU32,
    millionths: AtomicU32,
    validity: AtomicU64,
    policy: AtomicU64,
    inserted: AtomicI64,
}

/// Slots, and an index with open addressing: the upper half of a cell is the lower half of the hash, the lower half is the
/// slot plus 1.
#[derive(Debug)]
pub(super) struct Table {
    slots: Box<[Slot]>,
    index: Box<[AtomicU64]>,
    shift: u32,
    ttl: i64,
}

/// Returns the cell of an entry.
#[inline]
fn cell(hash: u64, slot: u32) -> u64 {
    hash << 32 | u64::from(slot + 1)
}

impl Table {
    /// Returns an empty table for this many entries, each valid for `ttl` nanoseconds.
    pub(super) fn new(capacity: usize, ttl: i64) -> Self {
        // At most half full, so that a search ends after a few cells.
        let cells = (capacity * 2).next_power_of_two().max(4);
        Self {
            slots: std::iter::repeat_with(Slot::default)
                .take(capacity)
                .collect(),
            index: std::iter::repeat_with(AtomicU64::default)
                .take(cells)
                .collect(),
            shift: 64 - cells.trailing_zeros(),
            ttl,
        }
    }

    /// Returns the entry of a key if it is valid under these rules at this time.
    #[inline]
    pub(super) fn lookup(&self, key: &Key, hash: u64, validity: u64, at: i64) -> Option<Hit> {
        let mask = self.index.len() - 1;
        let home = (hash >> self.shift) as usize;
        for position in home..=home + mask {
            let found = self.index.get(position & mask)?.load(Ordering::Acquire);
            if found == 0 {
                return None;
            }
            if (found ^ (hash << 32)) >> 32 == 0
                && let Some(hit) = self.read(found as u32 - 1, key, validity, at)
            {
                return Some(hit);
            }
        }
        None
    }

    #[inline]
    fn read(&self, number: u32, key: &Key, validity: u64, at: i64) -> Option<Hit> {
        let slot = self.slots.get(number as usize)?;
        let version = slot.version.load(Ordering::Acquire);
        let is_key = slot.symbol.load(Ordering::Relaxed) == key.symbol
            && slot.fingerprint.load(Ordering::Relaxed) == key.fingerprint
            && slot.context.load(Ordering::Relaxed) == key.context;
        let target = slot.target.load(Ordering::Relaxed);
        let millionths = slot.millionths.load(Ordering::Relaxed);
        let is_current = slot.validity.load(Ordering::Relaxed) == validity;
        let policy = slot.policy.load(Ordering::Relaxed);
        let age = at.saturating_sub(slot.inserted.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let is_whole = version & 1 == 0 && slot.version.load(Ordering::Relaxed) == version;
        let is_fresh = (-SKEW..self.ttl).contains(&age);
        (is_whole && is_key && is_current && is_fresh).then_some(Hit {
            target,
            millionths,
            policy,
            touch: Touch {
                slot: number,
                version,
            },
        })
    }

    /// Returns the version of a slot.
    pub(super) fn version(&self, slot: u32) -> u32 {
        self.slots[slot as usize].version.load(Ordering::Relaxed)
    }

    /// Writes a slot. Only one thread may write at a time.
    pub(super) fn write(&self, number: u32, key: &Key, numbers: &Numbers) {
        let slot = &self.slots[number as usize];
        let version = slot.version.load(Ordering::Relaxed);
        slot.version
            .store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        slot.symbol.store(key.symbol, Ordering::Relaxed);
        slot.fingerprint.store(key.fingerprint, Ordering::Relaxed);
        slot.context.store(key.context, Ordering::Relaxed);
        slot.target.store(numbers.target, Ordering::Relaxed);
        slot.millionths.store(numbers.millionths, Ordering::Relaxed);
        slot.validity.store(numbers.validity, Ordering::Relaxed);
        slot.policy.store(numbers.policy, Ordering::Relaxed);
        slot.inserted.store(numbers.inserted, Ordering::Relaxed);
        slot.version
            .store(version.wrapping_add(2), Ordering::Release);
    }

    /// Makes a slot known under its hash. Only one thread may write at a time.
    pub(super) fn link(&self, hash: u64, slot: u32) {
        let mask = self.index.len() - 1;
        let mut position = (hash >> self.shift) as usize & mask;
        while self.index[position].load(Ordering::Relaxed) != 0 {
            position = (position + 1) & mask;
        }
        self.index[position].store(cell(hash, slot), Ordering::Release);
    }

    /// Removes a slot from the index. `hash_of` returns the hash of any slot in it. Only one thread may write at a time.
    pub(super) fn unlink(&self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> u64) {
        let mask = self.index.len() - 1;
        let home = |hash: u64| (hash >> self.shift) as usize & mask;
        let mut hole = home(hash);
        while self.index[hole].load(Ordering::Relaxed) != cell(hash, slot) {
            hole = (hole + 1) & mask;
        }
        // Cells behind the hole move into it, unless that is in front of where their search begins.
        let mut next = (hole + 1) & mask;
        loop {
            let moved = self.index[next].load(Ordering::Relaxed);
            if moved == 0 {
                break;
            }
            let from_home = next.wrapping_sub(home(hash_of(moved as u32 - 1))) & mask;
            if from_home >= next.wrapping_sub(hole) & mask {
                self.index[hole].store(moved, Ordering::Release);
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.index[hole].store(0, Ordering::Release);
        // A reader that still has the cell finds a slot that is no one's.
        self.write(
            slot,
            &Key {
                symbol: u32::MAX,
                fingerprint: 0,
                context: 0,
            },
            &Numbers {
                target: u32::MAX,
                millionths: 0,
                validity: u64::MAX,
                policy: 0,
                inserted: 0,
            },
        );
    }
}
