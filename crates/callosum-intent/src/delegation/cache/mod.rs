//! [`Cache`]: the L1 cache of decisions (Seed CCOS §3.b.2), with exact LRU order.
//!
//! Start with [`Cache::lookup`], which takes no lock. All that changes entries goes through the [`Shelf`], under one lock.

mod recency;
mod table;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use self::{recency::Recency, table::Table};
use super::{
    context::Key,
    decision::DelegationPlan,
    flight::Flight,
    locked,
    stripe::{Stripes, Touch},
    task_hash::TaskHash,
};

pub(super) use self::table::{Hit, Numbers};

/// The cache of an engine.
#[derive(Debug)]
pub(super) struct Cache {
    table: Table,
    shelf: Mutex<Shelf>,
}

/// An entry, as its writer sees it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) task: TaskHash,
    pub(super) hash: u64,
    pub(super) target: u32,
    pub(super) plan: Arc<DelegationPlan>,
}

/// State that is needed to change entries.
#[derive(Debug)]
pub(super) struct Shelf {
    entries: Vec<Option<Entry>>,
    slots: HashMap<Key, u32>,
    free: Vec<u32>,
    recency: Recency,
    /// Decisions that are being computed, by key and version of the rules.
    pub(super) flights: HashMap<(Key, u64), Arc<Flight>>,
}

impl Cache {
    /// Returns an empty cache for this many entries, each valid for `ttl` nanoseconds.
    pub(super) fn new(capacity: usize, ttl: i64) -> Self {
        let free = (0..capacity as u32).rev().collect();
        Self {
            table: Table::new(capacity, ttl),
            shelf: Mutex::new(Shelf {
                entries: vec![None; capacity],
                slots: HashMap::with_capacity(capacity),
                free,
                recency: Recency::new(capacity),
                flights: HashMap::new(),
            }),
        }
    }

    /// Returns the entry of a key if it is valid under these rules at this time. Takes no lock.
    #[inline]
    pub(super) fn lookup(&self, key: &Key, hash: u64, validity: u64, at: i64) -> Option<Hit> {
        self.table.lookup(key, hash, validity, at)
    }

    /// Takes the lock of all changes.
    pub(super) fn shelf(&self) -> MutexGuard<'_, Shelf> {
        locked(&self.shelf)
    }

    /// Applies uses of entries to the order, oldest first. A use of an entry that has since changed does not count.
    pub(super) fn apply(&self, shelf: &mut Shelf, uses: &[Touch]) {
        for touch in uses {
            if self.table.version(touch.slot) == touch.version {
                shelf.recency.touch(touch.slot);
            }
        }
    }

    /// Inserts or replaces an entry, as the newest. If all slots are taken, it evicts the entry that was not used for the
    /// longest time.
    pub(super) fn insert(
        &self,
        shelf: &mut Shelf,
        stripes: &Stripes,
        entry: Entry,
        numbers: &Numbers,
    ) {
        self.apply(shelf, &stripes.uses());
        if let Some(&slot) = shelf.slots.get(&entry.key) {
            self.table.write(slot, &entry.key, numbers);
            shelf.recency.touch(slot);
            shelf.entries[slot as usize] = Some(entry);
            return;
        }
        if shelf.free.is_empty()
            && let Some(oldest) = shelf.recency.oldest()
        {
            self.remove(shelf, oldest);
        }
        // A cache without capacity stores nothing.
        let Some(slot) = shelf.free.pop() else { return };
        self.table.write(slot, &entry.key, numbers);
        self.table.link(entry.hash, slot);
        shelf.recency.add(slot);
        shelf.slots.insert(entry.key, slot);
        shelf.entries[slot as usize] = Some(entry);
    }

    /// Removes the entries that match, and returns how many did.
    pub(super) fn remove_where(
        &self,
        shelf: &mut Shelf,
        matches: impl Fn(&Entry) -> bool,
    ) -> usize {
        let slots: Vec<u32> = (0..shelf.entries.len() as u32)
            .filter(|&slot| shelf.entries[slot as usize].as_ref().is_some_and(&matches))
            .collect();
        for &slot in &slots {
            self.remove(shelf, slot);
        }
        slots.len()
    }

    fn remove(&self, shelf: &mut Shelf, slot: u32) {
        let Some(entry) = shelf.entries[slot as usize].take() else {
            return;
        };
        let hash_of = |other: u32| {
            let other = shelf.entries[other as usize].as_ref();
            // The slot itself is not asked for: its cell is the hole.
            other.map_or(entry.hash, |other| other.hash)
        };
        self.table.unlink(entry.hash, slot, hash_of);
        shelf.recency.remove(slot);
        shelf.slots.remove(&entry.key);
        shelf.free.push(slot);
    }
}

impl Shelf {
    /// Returns all entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten()
    }

    /// Returns the entry of a key, valid or not.
    pub(super) fn entry(&self, key: &Key) -> Option<&Entry> {
        let slot = *self.slots.get(key)?;
        self.entries[slot as usize].as_ref()
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }
}
