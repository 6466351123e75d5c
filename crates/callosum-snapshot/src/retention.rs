//! [`Retention`]: selection of the snapshots that go. Pure: sizes and times are given.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;

use super::metadata::Snapshot;

/// Limits on age and size of what is kept (Seed CAKE §4, §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// One that is older goes, unless it is pinned.
    pub age: Duration,
    /// Over so many bytes in all the oldest go, unless they are pinned.
    pub bytes: u64,
}

impl Default for Retention {
    /// Seed CAKE §4: 72 hours, 1 GB.
    fn default() -> Self {
        Self {
            age: Duration::from_hours(72),
            bytes: 1_000_000_000,
        }
    }
}

impl Retention {
    /// The ids of those that are too old.
    pub(super) fn too_old(&self, all: &[Snapshot], now: Timestamp) -> BTreeSet<String> {
        let is_old = |snapshot: &&Snapshot| {
            let age = now.duration_since(snapshot.timestamp);
            !snapshot.is_pinned() && age.unsigned_abs() > self.age && !age.is_negative()
        };
        let old = all.iter().filter(is_old);
        old.map(|snapshot| snapshot.snapshot_id.clone()).collect()
    }

    /// The one that goes next where `bytes` are taken in all; the oldest that is not pinned.
    pub(super) fn next_to_go<'a>(&self, all: &'a [Snapshot], bytes: u64) -> Option<&'a Snapshot> {
        let is_too_much = bytes > self.bytes;
        let free = all.iter().filter(|snapshot| !snapshot.is_pinned());
        free.min_by_key(|snapshot| snapshot.timestamp)
            .filter(|_| is_too_much)
    }
}
