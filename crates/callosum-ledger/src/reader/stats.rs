//! [`Stats`]: the ledger in numbers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::place::{ReadError, Source};
use crate::entry::Entry;

/// The ledger in numbers, archives included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// How many entries there are.
    pub entries: u64,
    /// How many of them are archived.
    pub archived_entries: u64,
    /// How many archives there are.
    pub archives: u64,
    /// The size of the active ledger.
    pub ledger_bytes: u64,
    /// What all entries say that they used.
    pub tokens_used: u64,
    /// The same for each executor.
    pub executors: BTreeMap<String, ExecutorStats>,
    /// The time of the earliest entry.
    pub first: Option<Timestamp>,
    /// The time of the latest entry.
    pub last: Option<Timestamp>,
}

/// One executor in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExecutorStats {
    /// How many entries it produced.
    pub entries: u64,
    /// What they say that it used.
    pub tokens_used: u64,
}

impl Stats {
    /// The same with a file's entries.
    pub(super) fn with(&self, source: &Source) -> Result<Self, ReadError> {
        source.ask(|source| {
            let mut stats = self.clone();
            source.each(|entry| stats.count(entry))?;
            Ok(stats)
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
