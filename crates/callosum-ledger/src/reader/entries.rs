//! Lookup of entries in a [`Source`].
//!
//! The ledger file must confirm what the hashlog says of an entry, else the source does not answer:
//! see [`Source::ask`].

use std::collections::HashSet;

use callosum_host::DiskError;

use super::{
    candidate::{Candidate, CandidatePlace},
    location::{EntryLocation, LocatedEntry},
    read_error::ReadError,
    source::Source,
};
use crate::{
    entry::{Entry, EntryError, read_timestamp},
    task_id::TaskId,
};

/// Reason that a source did not answer.
pub(super) enum Unanswered {
    /// The ledger file does not confirm what the hashlog says of it.
    IndexWrong,
    Read(ReadError),
}

impl From<ReadError> for Unanswered {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<DiskError> for Unanswered {
    fn from(error: DiskError) -> Self {
        Self::Read(error.into())
    }
}

impl Source {
    /// Finds a task's last entry, and checks its checksum.
    pub(super) fn find(&self, task_id: &TaskId) -> Result<Option<LocatedEntry>, Unanswered> {
        let Some(candidate) = self.candidate_of(task_id)? else {
            return Ok(None);
        };
        let entry = self.read(&candidate)?;
        self.check(&entry, &candidate)?;
        Ok(Some(self.found(entry, &candidate)))
    }

    fn candidate_of(&self, task_id: &TaskId) -> Result<Option<Candidate<'_>>, Unanswered> {
        match self {
            Self::Missing => Ok(None),
            Self::Indexed { hashlog, .. } => {
                for asked in hashlog.places_of(task_id)? {
                    let candidate = Candidate::asked(asked);
                    // Rows of other tasks may have the same key.
                    if self.read(&candidate)?.task_id == *task_id {
                        return Ok(Some(candidate));
                    }
                }
                Ok(None)
            }
            Self::Scanned { bytes, file, .. } => {
                let quoted = format!("\"{task_id}\"");
                for (index, range) in file.entries.iter().enumerate().rev() {
                    if memchr::memmem::find(&bytes[range.clone()], quoted.as_bytes()).is_none() {
                        continue;
                    }
                    let candidate = Candidate::plain(index + 1, range.clone());
                    if self.read(&candidate)?.task_id == *task_id {
                        return Ok(Some(candidate));
                    }
                }
                Ok(None)
            }
        }
    }

    /// All entries, in the order of the file, before they are read.
    pub(super) fn candidates(&self) -> Result<Vec<Candidate<'_>>, DiskError> {
        Ok(match self {
            Self::Missing => Vec::new(),
            Self::Indexed { hashlog, .. } => hashlog.lines()?.map(Candidate::from_line).collect(),
            Self::Scanned { file, .. } => file
                .entries
                .iter()
                .enumerate()
                .map(|(index, range)| Candidate::plain(index + 1, range.clone()))
                .collect(),
        })
    }

    /// Reads one entry, which is the one that the hashlog's line is of. Its checksum is not
    /// checked.
    pub(super) fn read(&self, candidate: &Candidate<'_>) -> Result<Entry, Unanswered> {
        match (&candidate.place, self) {
            (CandidatePlace::Line(line), Self::Indexed { ledger, .. }) => {
                let stored = line.read_entry(ledger)?.ok_or(Unanswered::IndexWrong)?;
                let entry = Entry::read(&stored).map_err(|_| Unanswered::IndexWrong)?;
                let is_the_lines = line.checksum == entry.checksum
                    && line.task_id == entry.task_id.as_str()
                    && line.executor == entry.executor
                    && read_timestamp(&line.timestamp) == Some(entry.timestamp);
                is_the_lines.then_some(entry).ok_or(Unanswered::IndexWrong)
            }
            (CandidatePlace::Row(row), Self::Indexed { ledger, .. }) => {
                let stored = row.read_entry(ledger)?.ok_or(Unanswered::IndexWrong)?;
                Entry::read(&stored).map_err(|_| Unanswered::IndexWrong)
            }
            (CandidatePlace::Range(range), Self::Scanned { bytes, .. }) => {
                let read = Entry::read(&bytes[range.clone()]);
                read.map_err(|source| self.entry_error(candidate, source).into())
            }
            _ => unreachable!("a candidate is asked of the source that it came from"),
        }
    }

    /// Reads every entry, in the order of the file. No checksum is checked.
    pub(super) fn each(&self, mut take: impl FnMut(&Entry)) -> Result<(), Unanswered> {
        for candidate in self.candidates()? {
            take(&self.read(&candidate)?);
        }
        Ok(())
    }

    /// Checks the checksum of an entry before it is returned.
    pub(super) fn check(&self, entry: &Entry, candidate: &Candidate<'_>) -> Result<(), ReadError> {
        let checked = entry.check();
        checked.map_err(|source| self.entry_error(candidate, source))
    }

    fn entry_error(&self, candidate: &Candidate<'_>, source: EntryError) -> ReadError {
        ReadError::Entry {
            path: self.path().to_owned(),
            number: candidate.number,
            source,
        }
    }

    /// Those of `ids` that have an entry here.
    pub(super) fn having(&self, ids: &[TaskId]) -> Result<HashSet<TaskId>, Unanswered> {
        let mut having = HashSet::new();
        for id in ids {
            if let Some(candidate) = self.candidate_of(id)? {
                self.read(&candidate)?;
                having.insert(id.clone());
            }
        }
        Ok(having)
    }

    /// The highest number behind this beginning of an id that an entry has; 0 where none has.
    pub(super) fn highest_after(&self, prefix: &str) -> Result<u16, ReadError> {
        let number = |id: &str| id.strip_prefix(prefix)?.parse().ok();
        let mut highest = 0;
        match self {
            Self::Missing => {}
            Self::Indexed { hashlog, .. } => {
                for id in hashlog.ids_after(prefix)? {
                    highest = highest.max(number(&id).unwrap_or(0));
                }
            }
            Self::Scanned { bytes, file, .. } => {
                let entries = file.entries.iter().map(|at| &bytes[at.clone()]);
                for entry in entries.filter_map(|bytes| Entry::read(bytes).ok()) {
                    highest = highest.max(number(entry.task_id.as_str()).unwrap_or(0));
                }
            }
        }
        Ok(highest)
    }

    fn found(&self, entry: Entry, candidate: &Candidate<'_>) -> LocatedEntry {
        let (offset, length) = candidate.extent();
        LocatedEntry {
            entry,
            place: EntryLocation {
                path: self.path().to_owned(),
                is_archived: matches!(
                    self,
                    Self::Scanned {
                        is_archived: true,
                        ..
                    } | Self::Indexed {
                        is_archived: true,
                        ..
                    }
                ),
                offset,
                length,
            },
        }
    }
}
