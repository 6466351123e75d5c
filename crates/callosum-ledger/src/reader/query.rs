//! [`Query`]: which entries are asked for.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::place::{Source, Unanswered};
use crate::entry::Entry;

/// Which entries are asked for; what is `None` excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The id of the executor that produced it.
    pub executor: Option<String>,
    /// Finished at this time or later.
    pub since: Option<Timestamp>,
    /// Finished at this time or earlier.
    pub until: Option<Timestamp>,
    /// A text that stands in its summary or metadata, upper and lower case alike.
    pub text: Option<String>,
    /// Its `metadata.mode`.
    pub mode: Option<String>,
    /// Its `metadata.repo`.
    pub repo: Option<String>,
    /// Its `metadata.branch`.
    pub branch: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

impl Query {
    /// Whether so many entries are as many as were asked for.
    pub(super) fn is_full(&self, count: usize) -> bool {
        self.limit.is_some_and(|limit| count >= limit)
    }

    /// A file's entries that fit, newest first, until there are enough besides the `before` that
    /// were found elsewhere. The checksum of each is checked.
    pub(super) fn run(&self, source: &Source, before: usize) -> Result<Vec<Entry>, Unanswered> {
        let mut fitting = Vec::new();
        if !source.may_have(self.since, self.until) {
            return Ok(Vec::new());
        }
        for candidate in source.candidates()? {
            if let Some((executor, timestamp)) = candidate.indexed() {
                if self.fits_index(executor, timestamp) {
                    fitting.push((timestamp, candidate, None));
                }
                continue;
            }
            let entry = source.read(&candidate)?;
            if self.fits(&entry) {
                fitting.push((entry.timestamp, candidate, Some(entry)));
            }
        }
        fitting.sort_by_key(|(timestamp, candidate, _)| Reverse((*timestamp, candidate.number)));
        let mut found = Vec::new();
        for (_, candidate, read) in fitting {
            if self.is_full(before + found.len()) {
                break;
            }
            let entry = match read {
                Some(entry) => entry,
                None => source.read(&candidate)?,
            };
            if self.fits(&entry) {
                source.check(&entry, &candidate)?;
                found.push(entry);
            }
        }
        Ok(found)
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
