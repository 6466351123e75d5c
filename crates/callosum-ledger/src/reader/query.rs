//! [`Query`]: which entries are asked for.

use jiff::Timestamp;

use super::place::{Candidate, ReadError, Source};
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

    /// Adds a file's entries that fit, newest first, until there are enough.
    pub(super) fn run(&self, source: &Source, found: &mut Vec<Entry>) -> Result<(), ReadError> {
        let mut fitting = Vec::new();
        for candidate in source.candidates() {
            if let Some((executor, Some(timestamp))) = &candidate.indexed {
                if self.fits_index(executor, *timestamp) {
                    fitting.push((*timestamp, candidate.number, Unread::At(candidate)));
                }
                continue;
            }
            let entry = source.read(&candidate)?;
            if self.fits(&entry) {
                let unread = Unread::Read(Box::new(entry));
                fitting.push((unread.timestamp(), candidate.number, unread));
            }
        }
        fitting.sort_by_key(|(timestamp, number, _)| std::cmp::Reverse((*timestamp, *number)));
        for (_, _, unread) in fitting {
            if self.is_full(found.len()) {
                break;
            }
            let entry = match unread {
                Unread::Read(entry) => *entry,
                Unread::At(candidate) => source.read(&candidate)?,
            };
            if self.fits(&entry) {
                found.push(entry);
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

enum Unread {
    At(Candidate),
    Read(Box<Entry>),
}

impl Unread {
    fn timestamp(&self) -> Timestamp {
        match self {
            Self::At(_) => Timestamp::MIN,
            Self::Read(entry) => entry.timestamp,
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
