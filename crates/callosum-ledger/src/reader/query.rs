//! [`Query`]: a filter for entries.

use std::{cmp::Reverse, collections::HashSet};

use jiff::Timestamp;

use super::{entries::Unanswered, source::Source};
use crate::{entry::Entry, task_id::TaskId};

/// Filter for entries; a field that is `None` excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The id of the executor that produced it.
    pub executor: Option<String>,
    /// Finished at this time or later.
    pub since: Option<Timestamp>,
    /// Finished at this time or earlier.
    pub until: Option<Timestamp>,
    /// Text that occurs in its summary or metadata, ignoring case.
    pub text: Option<String>,
    /// Its `metadata.mode`.
    pub mode: Option<String>,
    /// Its `metadata.repo`.
    pub repo: Option<String>,
    /// Its `metadata.branch`.
    pub branch: Option<String>,
    /// Maximum number of entries.
    pub limit: Option<usize>,
}

impl Query {
    /// Whether this many entries reach the limit.
    pub(super) fn is_full(&self, count: usize) -> bool {
        self.limit.is_some_and(|limit| count >= limit)
    }

    /// Gives a file's entries that fit, newest first, until there are enough of them; those of the
    /// tasks `given` were given before. The checksum of each is checked.
    pub(super) fn run(&self, source: &Source, given: &mut Given<'_>) -> Result<(), Unanswered> {
        let mut fitting = Vec::new();
        if !source.may_have(self.since, self.until) {
            return Ok(());
        }
        for candidate in source.candidates()? {
            if let Some((executor, timestamp)) = candidate.indexed() {
                if self.fits_index(executor, timestamp) {
                    fitting.push((timestamp, candidate));
                }
                continue;
            }
            let entry = source.read(&candidate)?;
            if self.fits(&entry) {
                fitting.push((entry.timestamp, candidate));
            }
        }
        fitting.sort_by_key(|(timestamp, candidate)| Reverse((*timestamp, candidate.number)));
        for (_, candidate) in fitting {
            if self.is_full(given.count) {
                break;
            }
            let entry = source.read(&candidate)?;
            if self.fits(&entry) {
                source.check(&entry, &candidate)?;
                given.give(entry);
            }
        }
        Ok(())
    }

    fn fits_index(&self, executor: &str, timestamp: Timestamp) -> bool {
        self.executor
            .as_deref()
            .is_none_or(|asked| asked == executor)
            && self.since.is_none_or(|since| timestamp >= since)
            && self.until.is_none_or(|until| timestamp <= until)
    }

    fn fits(&self, entry: &Entry) -> bool {
        self.fits_index(&entry.executor, entry.timestamp)
            && has_metadata(entry, "mode", self.mode.as_deref())
            && has_metadata(entry, "repo", self.repo.as_deref())
            && has_metadata(entry, "branch", self.branch.as_deref())
            && self
                .text
                .as_deref()
                .is_none_or(|text| has_text(entry, text))
    }
}

/// The entries that were given so far.
pub(super) struct Given<'t> {
    take: &'t mut dyn FnMut(Entry),
    count: usize,
    /// The tasks of this file's, which may have to be read once more by another way.
    of_file: HashSet<TaskId>,
}

impl<'t> Given<'t> {
    pub(super) fn to(take: &'t mut dyn FnMut(Entry)) -> Self {
        Self {
            take,
            count: 0,
            of_file: HashSet::new(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Continues with another file.
    pub(super) fn next_file(&mut self) {
        self.of_file.clear();
    }

    fn give(&mut self, entry: Entry) {
        if self.of_file.insert(entry.task_id.clone()) {
            self.count += 1;
            (self.take)(entry);
        }
    }
}

fn has_text(entry: &Entry, text: &str) -> bool {
    let text = text.to_lowercase();
    entry.summary.to_lowercase().contains(&text)
        || entry
            .metadata
            .values()
            .any(|value| value.to_string().to_lowercase().contains(&text))
}

fn has_metadata(entry: &Entry, key: &str, asked: Option<&str>) -> bool {
    asked.is_none_or(|asked| entry.metadata.get(key).is_some_and(|value| value == asked))
}
