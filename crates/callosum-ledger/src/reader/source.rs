//! [`Source`]: a ledger file that is asked for entries, with or without an index.
//!
//! The hashlog only says where to look. What is found there must be the entry that the line is
//! of; where it is not, the ledger file is read itself.

use std::{
    collections::HashSet,
    ops::Range,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::Timestamp;

use super::{
    archives::Archive,
    place::{Found, Place},
    read_error::ReadError,
};
use crate::{
    checksum::Checksum,
    entry::{Entry, EntryError, checksum_at_head, read_timestamp},
    hashlog::{self, Asked, Hashlog, HashlogLine, ReadRange as _, Row},
    journal::Archived,
    ledger_file::{LedgerFile, LedgerVersion},
    open_ledger::OpenLedger,
    paths::LedgerPaths,
    task_id::TaskId,
};

/// So much of a ledger's end tells it from any other: no two entries are the same.
const LEDGER_END: u64 = 16 * 1024;

/// Why a source did not answer.
pub(super) enum Unanswered {
    /// The hashlog says of the ledger file what that does not bear out.
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

/// One ledger file, ready to be asked.
#[derive(Debug)]
pub(super) enum Source {
    /// There is none.
    Missing,
    /// A ledger by its hashlog.
    Indexed {
        hashlog: Box<Hashlog>,
        ledger: OpenLedger,
        version: LedgerVersion,
        is_archived: bool,
        /// What the journal says of it, where that is an archive.
        told: Option<Box<Archived>>,
    },
    /// Any ledger, by its own bytes.
    Scanned {
        path: PathBuf,
        is_archived: bool,
        bytes: Vec<u8>,
        file: LedgerFile,
    },
}

/// What is known of an entry before it is read.
pub(super) struct Candidate<'s> {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    place: CandidatePlace<'s>,
}

enum CandidatePlace<'s> {
    /// As the hashlog says.
    Line(HashlogLine<'s>),
    /// As the hashlog's index says.
    Row(Row),
    /// In the bytes that were scanned.
    Range(Range<usize>),
}

impl Source {
    /// The active ledger, by its hashlog where that fits.
    pub(super) fn active(disk: &Disk, paths: &LedgerPaths) -> Result<Self, ReadError> {
        let Some(ledger) = disk.open_if_there(&paths.ledger, OpenHow::READ)? else {
            return Ok(Self::Missing);
        };
        let hashlog = Hashlog::open(disk, &paths.hashlog, &paths.index())?;
        Self::of(OpenLedger::Plain(ledger), hashlog, false)
    }

    /// An archive, by its hashlog where that is the one that the journal tells of.
    ///
    /// Fails where it does not hold the entries that were archived.
    pub(super) fn archive(
        disk: &Disk,
        paths: &LedgerPaths,
        archive: &Archive,
    ) -> Result<Self, ReadError> {
        let ledger = OpenLedger::open(disk, &paths.archive(&archive.name))?;
        let hashlog = Hashlog::open(
            disk,
            &paths.archived_hashlog(&archive.name),
            &paths.archived_index(&archive.name),
        )?;
        let Some(told) = &archive.told else {
            return Self::of(ledger, hashlog, true);
        };
        let hashlog = match hashlog {
            Some(hashlog) if hashlog.joins(told.follows, told.hashlog)? => hashlog,
            _ => return Self::proven(&ledger, told, None),
        };
        match version_if_indexed(&hashlog, &ledger)? {
            Some(version) => Ok(Self::Indexed {
                hashlog: Box::new(hashlog),
                ledger,
                version,
                is_archived: true,
                told: Some(Box::new(told.clone())),
            }),
            None => Self::proven(&ledger, told, Some(&hashlog)),
        }
    }

    fn of(
        ledger: OpenLedger,
        hashlog: Option<Hashlog>,
        is_archived: bool,
    ) -> Result<Self, ReadError> {
        if let Some(hashlog) = hashlog
            && let Some(version) = version_if_indexed(&hashlog, &ledger)?
        {
            return Ok(Self::Indexed {
                hashlog: Box::new(hashlog),
                ledger,
                version,
                is_archived,
                told: None,
            });
        }
        Self::from_bytes(ledger.path(), is_archived, ledger.read_all()?)
    }

    /// An archive by its own bytes, which must hold the entries that the journal tells of.
    fn proven(
        ledger: &OpenLedger,
        told: &Archived,
        hashlog: Option<&Hashlog>,
    ) -> Result<Self, ReadError> {
        let source = Self::from_bytes(ledger.path(), true, ledger.read_all()?)?;
        if source.has_as_entries(told, hashlog)? {
            Ok(source)
        } else {
            Err(ReadError::ArchiveChanged {
                path: ledger.path().to_owned(),
                is_in_journal: !told.is_adopted,
            })
        }
    }

    /// Whether the scanned bytes have the entries that were archived: the hashlog made of them is
    /// the one that the journal tells of, or that one is there and names them.
    fn has_as_entries(
        &self,
        told: &Archived,
        hashlog: Option<&Hashlog>,
    ) -> Result<bool, DiskError> {
        let Self::Scanned { bytes, file, .. } = self else {
            return Ok(false);
        };
        let entries = file.entries.iter().map(|at| (at.start, &bytes[at.clone()]));
        let Some(checksums) = entries
            .clone()
            .map(|(_, entry)| checksum_of(entry))
            .collect::<Option<Vec<_>>>()
        else {
            return Ok(false);
        };
        let made = hashlog::head_of(
            entries
                .zip(&checksums)
                .map(|((at, entry), checksum)| (at, entry, *checksum)),
            told.follows,
        );
        if made == told.hashlog {
            return Ok(true);
        }
        // Laid out otherwise it has its entries in other places.
        Ok(match hashlog {
            Some(hashlog) => hashlog.checksums(told.follows, told.hashlog)? == Some(checksums),
            None => false,
        })
    }

    /// Whether an entry may have been finished between these times.
    pub(super) fn may_have(&self, since: Option<Timestamp>, until: Option<Timestamp>) -> bool {
        let micros = |time: Option<Timestamp>| time.map(Timestamp::as_microsecond);
        match self {
            Self::Missing => false,
            Self::Indexed { hashlog, .. } => hashlog.may_have(micros(since), micros(until)),
            Self::Scanned { .. } => true,
        }
    }

    /// Asks, and asks the ledger file itself where its hashlog is wrong.
    pub(super) fn ask<T>(
        &self,
        question: impl Fn(&Self) -> Result<T, Unanswered>,
    ) -> Result<T, ReadError> {
        let answer = match (question(self), self) {
            (
                Err(Unanswered::IndexWrong),
                Self::Indexed {
                    ledger,
                    is_archived,
                    told,
                    hashlog,
                    ..
                },
            ) => question(&match told {
                Some(told) => Self::proven(ledger, told, Some(hashlog))?,
                None => Self::from_bytes(ledger.path(), *is_archived, ledger.read_all()?)?,
            }),
            (answer, _) => answer,
        };
        answer.map_err(|unanswered| match unanswered {
            Unanswered::Read(error) => error,
            Unanswered::IndexWrong => unreachable!("what was scanned has no index"),
        })
    }

    fn from_bytes(path: &Path, is_archived: bool, bytes: Vec<u8>) -> Result<Self, ReadError> {
        let file = LedgerFile::scan(&bytes).map_err(|source| ReadError::File {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self::Scanned {
            path: path.to_owned(),
            is_archived,
            bytes,
            file,
        })
    }

    /// What the hashlog's first line follows; `None` where there is none that fits.
    pub(super) fn follows(&self) -> Result<Option<Checksum>, DiskError> {
        match self {
            Self::Indexed { hashlog, .. } => hashlog.follows(),
            Self::Missing | Self::Scanned { .. } => Ok(None),
        }
    }

    /// Whether an archive is this ledger, which was archived while this was open.
    pub(super) fn has_become(&self, disk: &Disk, archive: &Path) -> Result<bool, DiskError> {
        let (size, end) = match self {
            Self::Indexed { ledger, .. } => {
                let size = ledger.size()?;
                let len = LEDGER_END.min(size);
                (size, ledger.read_range(size - len, len as usize)?)
            }
            Self::Scanned { bytes, file, .. } if !file.entries.is_empty() => {
                let from = bytes.len().saturating_sub(LEDGER_END as usize);
                (bytes.len() as u64, bytes[from..].to_vec())
            }
            Self::Missing | Self::Scanned { .. } => return Ok(false),
        };
        let archive = match OpenLedger::open(disk, archive) {
            Err(error) if error.is_absent() => return Ok(false),
            opened => opened?,
        };
        Ok(archive.size()? == size
            && archive.read_range(size - end.len() as u64, end.len())? == end)
    }

    pub(super) fn version(&self) -> Option<LedgerVersion> {
        match self {
            Self::Missing => None,
            Self::Indexed { version, .. } => Some(*version),
            Self::Scanned { file, .. } => Some(file.version),
        }
    }

    /// Finds a task's last entry, and checks its checksum.
    pub(super) fn find(&self, task_id: &TaskId) -> Result<Option<Found>, Unanswered> {
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
            Self::Indexed { hashlog, .. } => hashlog.lines()?.map(Candidate::of).collect(),
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

    /// Checks the checksum of an entry that is about to be handed out.
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

    fn found(&self, entry: Entry, candidate: &Candidate<'_>) -> Found {
        let (offset, length) = match &candidate.place {
            CandidatePlace::Line(line) => (line.offset, line.length),
            CandidatePlace::Row(row) => (row.offset, u64::from(row.length)),
            CandidatePlace::Range(range) => (range.start as u64, range.len() as u64),
        };
        Found {
            entry,
            place: Place {
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

    fn path(&self) -> &Path {
        match self {
            Self::Missing => Path::new(""),
            Self::Indexed { ledger, .. } => ledger.path(),
            Self::Scanned { path, .. } => path,
        }
    }
}

impl<'s> Candidate<'s> {
    fn of(line: HashlogLine<'s>) -> Self {
        Self {
            number: line.seq as usize,
            place: CandidatePlace::Line(line),
        }
    }

    fn asked(asked: Asked<'s>) -> Self {
        match asked {
            Asked::Line(line) => Self::of(line),
            Asked::Row(row) => Self {
                number: row.number as usize,
                place: CandidatePlace::Row(row),
            },
        }
    }

    fn plain(number: usize, range: Range<usize>) -> Self {
        Self {
            number,
            place: CandidatePlace::Range(range),
        }
    }

    /// What the hashlog says of it: its executor and time.
    pub(super) fn indexed(&self) -> Option<(&str, Timestamp)> {
        match &self.place {
            CandidatePlace::Line(line) => Some((&line.executor, read_timestamp(&line.timestamp)?)),
            CandidatePlace::Row(_) | CandidatePlace::Range(_) => None,
        }
    }
}

/// The checksum that an entry says it has, in whatever layout.
fn checksum_of(entry: &[u8]) -> Option<Checksum> {
    checksum_at_head(entry).or_else(|| Some(Entry::read(entry).ok()?.checksum))
}

/// Whether the hashlog's ends fit the ledger; then the version at the ledger's head.
fn version_if_indexed(
    hashlog: &Hashlog,
    ledger: &OpenLedger,
) -> Result<Option<LedgerVersion>, DiskError> {
    let Some([first, last]) = hashlog.ends()? else {
        return Ok(None);
    };
    let (Some(first), Some(last)) = (HashlogLine::read(&first), HashlogLine::read(&last)) else {
        return Ok(None);
    };
    for line in [&first, &last] {
        let is_there = line.read_entry(ledger)?.is_some_and(|entry| {
            entry.ends_with(b"}") && checksum_of(&entry) == Some(line.checksum)
        });
        if !is_there {
            return Ok(None);
        }
    }
    let mut head = ledger.read_range(0, first.offset as usize)?;
    head.extend_from_slice(b"]}");
    Ok(LedgerFile::parse(&head).ok().map(|file| file.version))
}
