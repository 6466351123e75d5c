//! [`Stats`]: the ledger in numbers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{read_error::ReadError, source::Source};
use crate::entry::Entry;

/// The ledger in numbers, archives included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Number of entries.
    pub entries: u64,
    /// Number of archived entries.
    pub archived_entries: u64,
    /// Number of archives.
    pub archives: u64,
    /// The size of the active ledger.
    pub ledger_bytes: u64,
    /// Ledgers in each state, and their entries.
    pub states: BTreeMap<LedgerState, StateStats>,
    /// Sum of the tokens used, according to all entries.
    pub tokens_used: u64,
    /// The same for each executor.
    pub executors: BTreeMap<String, ExecutorStats>,
    /// The time of the earliest entry.
    pub first: Option<Timestamp>,
    /// The time of the latest entry.
    pub last: Option<Timestamp>,
}

/// State in a ledger's life (Seed CAL §10.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LedgerState {
    /// It is written to.
    Active,
    /// It has its archive's name, and is active still: a rotation was interrupted.
    Rotating,
    /// It is an archive, in which an entry does not match its checksum.
    Archived,
    /// It is an archive, and every checksum in it was found right just now.
    Validated,
}

impl LedgerState {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [
        Self::Active,
        Self::Rotating,
        Self::Archived,
        Self::Validated,
    ];
}

impl std::fmt::Display for LedgerState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Active => "active",
            Self::Rotating => "rotating",
            Self::Archived => "archived",
            Self::Validated => "validated",
        })
    }
}

/// The ledgers of one state in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateStats {
    /// Number of ledgers.
    pub ledgers: u64,
    /// Number of their entries.
    pub entries: u64,
}

/// One executor in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExecutorStats {
    /// Number of entries that it produced.
    pub entries: u64,
    /// Tokens that it used, according to these entries.
    pub tokens_used: u64,
}

impl Stats {
    /// The same with the active ledger.
    pub(super) fn with_active(&self, source: &Source) -> Result<Self, ReadError> {
        let (mut stats, _) = self.with(source)?;
        if source.version().is_some() {
            let entries = stats.entries;
            stats.note(LedgerState::Active, entries);
        }
        Ok(stats)
    }

    /// The same with an archive.
    pub(super) fn with_archive(&self, source: &Source) -> Result<Self, ReadError> {
        let (mut stats, is_right) = self.with(source)?;
        let entries = stats.entries - self.entries;
        stats.archives += 1;
        stats.archived_entries += entries;
        let state = if is_right {
            LedgerState::Validated
        } else {
            LedgerState::Archived
        };
        stats.note(state, entries);
        Ok(stats)
    }

    /// The same with the ledger that an interrupted rotation left under two names; its entries are
    /// counted already.
    pub(super) fn note_rotating(&mut self, entries: u64) {
        self.note(LedgerState::Rotating, entries);
    }

    fn note(&mut self, state: LedgerState, entries: u64) {
        let of_state = self.states.entry(state).or_default();
        of_state.ledgers += 1;
        of_state.entries += entries;
    }

    /// The same with a file's entries, and whether every checksum in it is right.
    fn with(&self, source: &Source) -> Result<(Self, bool), ReadError> {
        source.ask(|source| {
            let (mut stats, mut is_right) = (self.clone(), true);
            source.each(|entry| {
                is_right &= entry.check().is_ok();
                stats.count(entry);
            })?;
            Ok((stats, is_right))
        })
    }

    fn count(&mut self, entry: &Entry) {
        let executor = self.executors.entry(entry.executor.clone()).or_default();
        executor.entries += 1;
        executor.tokens_used = executor.tokens_used.saturating_add(entry.tokens_used);
        self.entries += 1;
        self.tokens_used = self.tokens_used.saturating_add(entry.tokens_used);
        let time = entry.timestamp;
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
    }
}
