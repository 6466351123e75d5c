//! Where entries stand: a ledger file with or without an index.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, DiskError, DiskFile, OpenHow, disk::EntryKind};
use jiff::Timestamp;

use crate::{
    entry::{Entry, EntryError, checksum_at_head, read_timestamp},
    error_code::ErrorCode,
    hashlog::HashlogLine,
    ledger_file::{LedgerFile, LedgerFileError, LedgerVersion},
    paths::LedgerPaths,
    task_id::TaskId,
};

/// Where an entry was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The ledger file.
    pub path: PathBuf,
    /// Whether that is an archive.
    pub is_archived: bool,
    /// Where in it the entry begins, in bytes.
    pub offset: u64,
    /// How many bytes it has.
    pub length: u64,
}

/// An entry, and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The entry.
    pub entry: Entry,
    /// Where it stands.
    pub place: Place,
}

/// Why a ledger could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file is not a ledger.
    #[error("cannot read `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: LedgerFileError,
    },
    /// An entry is not what the schema says.
    #[error("cannot read entry {number} of `{}`", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The entry's number in it, from 1.
        number: usize,
        /// Why.
        source: EntryError,
    },
}

impl ReadError {
    /// The seed's code for it, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Disk(_) => Some(ErrorCode::DiskFailure),
            Self::Entry {
                source: EntryError::Mismatch { .. },
                ..
            } => Some(ErrorCode::ChecksumMismatch),
            Self::File { .. } | Self::Entry { .. } => None,
        }
    }
}

/// One ledger file, ready to be asked.
#[derive(Debug)]
pub(super) enum Source {
    /// There is none.
    Missing,
    /// The active ledger, by its hashlog.
    Indexed {
        hashlog: Vec<u8>,
        ledger: DiskFile,
        version: LedgerVersion,
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
pub(super) struct Candidate {
    /// Its number in the file, from 1.
    pub(super) number: usize,
    pub(super) range: Range<usize>,
    /// What an index says of it.
    pub(super) indexed: Option<(String, Option<Timestamp>)>,
}

impl Source {
    /// The active ledger, by its hashlog where that fits.
    pub(super) fn active(disk: &Disk, paths: &LedgerPaths) -> Result<Self, ReadError> {
        let Some(ledger) = disk.open_if_there(&paths.ledger, OpenHow::READ)? else {
            return Ok(Self::Missing);
        };
        if let Some(mut hashlog) = disk.read_if_there(&paths.hashlog)? {
            // A line that is not finished is being written.
            let whole = memchr::memrchr(b'\n', &hashlog).map_or(0, |at| at + 1);
            hashlog.truncate(whole);
            if let Some(version) = version_if_indexed(&hashlog, &ledger)? {
                return Ok(Self::Indexed {
                    hashlog,
                    ledger,
                    version,
                });
            }
        }
        let bytes = ledger.read_all()?;
        Self::from_bytes(&paths.ledger, false, bytes)
    }

    /// An archive.
    pub(super) fn scanned(disk: &Disk, path: &Path) -> Result<Self, ReadError> {
        Self::from_bytes(path, true, disk.read(path)?)
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

    pub(super) fn version(&self) -> Option<LedgerVersion> {
        match self {
            Self::Missing => None,
            Self::Indexed { version, .. } => Some(*version),
            Self::Scanned { file, .. } => Some(file.version),
        }
    }

    /// Finds a task's last entry.
    pub(super) fn find(&self, task_id: &TaskId) -> Result<Option<Found>, ReadError> {
        let quoted = format!("\"{task_id}\"");
        let candidate = match self {
            Self::Missing => None,
            Self::Indexed { hashlog, .. } => memchr::memmem::rfind_iter(hashlog, &quoted)
                .map(|at| line_around(hashlog, at))
                .filter_map(HashlogLine::read)
                .find(|line| line.task_id == task_id.as_str())
                .map(|line| Candidate::of(&line)),
            Self::Scanned { bytes, file, .. } => {
                for (index, range) in file.entries.iter().enumerate().rev() {
                    if memchr::memmem::find(&bytes[range.clone()], quoted.as_bytes()).is_none() {
                        continue;
                    }
                    let candidate = Candidate::plain(index + 1, range.clone());
                    let entry = self.read(&candidate)?;
                    if entry.task_id == *task_id {
                        return Ok(Some(self.found(entry, &candidate)));
                    }
                }
                None
            }
        };
        candidate
            .map(|candidate| Ok(self.found(self.read(&candidate)?, &candidate)))
            .transpose()
    }

    /// All entries, in the order of the file, before they are read.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        match self {
            Self::Missing => Vec::new(),
            Self::Indexed { hashlog, .. } => hashlog
                .split(|byte| *byte == b'\n')
                .filter_map(HashlogLine::read)
                .map(|line| Candidate::of(&line))
                .collect(),
            Self::Scanned { file, .. } => file
                .entries
                .iter()
                .enumerate()
                .map(|(index, range)| Candidate::plain(index + 1, range.clone()))
                .collect(),
        }
    }

    /// Reads one entry.
    pub(super) fn read(&self, candidate: &Candidate) -> Result<Entry, ReadError> {
        let range = candidate.range.clone();
        let read = match self {
            Self::Missing => Entry::read(&[]),
            Self::Indexed { ledger, .. } => {
                Entry::read(&ledger.read_range(range.start as u64, range.len())?)
            }
            Self::Scanned { bytes, .. } => Entry::read(&bytes[range]),
        };
        read.map_err(|source| ReadError::Entry {
            path: self.path().to_owned(),
            number: candidate.number,
            source,
        })
    }

    /// Reads every entry, in the order of the file.
    pub(super) fn each(&self, mut take: impl FnMut(&Entry)) -> Result<(), ReadError> {
        for candidate in self.candidates() {
            take(&self.read(&candidate)?);
        }
        Ok(())
    }

    fn found(&self, entry: Entry, candidate: &Candidate) -> Found {
        Found {
            entry,
            place: Place {
                path: self.path().to_owned(),
                is_archived: matches!(
                    self,
                    Self::Scanned {
                        is_archived: true,
                        ..
                    }
                ),
                offset: candidate.range.start as u64,
                length: candidate.range.len() as u64,
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

impl Candidate {
    fn of(line: &HashlogLine<'_>) -> Self {
        let from = line.offset as usize;
        Self {
            number: line.seq as usize,
            range: from..from + line.length as usize,
            indexed: Some((
                line.executor.clone().into_owned(),
                read_timestamp(&line.timestamp),
            )),
        }
    }

    fn plain(number: usize, range: Range<usize>) -> Self {
        Self {
            number,
            range,
            indexed: None,
        }
    }
}

/// Whether the hashlog's last line fits the ledger; then the version at the ledger's head.
fn version_if_indexed(
    hashlog: &[u8],
    ledger: &DiskFile,
) -> Result<Option<LedgerVersion>, DiskError> {
    let line = |at| HashlogLine::read(line_around(hashlog, at));
    let (Some(first), Some(last)) = (line(0), line(hashlog.len().saturating_sub(2))) else {
        return Ok(None);
    };
    for line in [&first, &last] {
        let entry = ledger.read_range(line.offset, line.length as usize)?;
        let is_there = entry.len() as u64 == line.length
            && entry.ends_with(b"}")
            && checksum_at_head(&entry) == Some(line.checksum);
        if !is_there {
            return Ok(None);
        }
    }
    let mut head = ledger.read_range(0, first.offset as usize)?;
    head.extend_from_slice(b"]}");
    Ok(LedgerFile::parse(&head).ok().map(|file| file.version))
}

/// The line, without its line feed, in which a byte stands.
fn line_around(text: &[u8], at: usize) -> &[u8] {
    let at = at.min(text.len());
    let from = memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1);
    let len = memchr::memchr(b'\n', &text[from..]).unwrap_or(text.len() - from);
    &text[from..from + len]
}

/// The archived ledgers, the newest first.
pub(crate) fn archives(disk: &Disk, paths: &LedgerPaths) -> Result<Vec<PathBuf>, DiskError> {
    let mut archives: Vec<_> = disk
        .list_dir(&paths.history)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .map(|entry| paths.history.join(entry.name))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    archives.reverse();
    Ok(archives)
}

/// The ids of all tasks that have an entry, in the active ledger or an archive.
pub(crate) fn known_ids(disk: &Disk, paths: &LedgerPaths) -> Result<Vec<TaskId>, ReadError> {
    let mut ids = Vec::new();
    match Source::active(disk, paths)? {
        Source::Indexed { hashlog, .. } => ids.extend(
            hashlog
                .split(|byte| *byte == b'\n')
                .filter_map(HashlogLine::read)
                .filter_map(|line| line.task_id.parse::<TaskId>().ok()),
        ),
        other => other.each(|entry| ids.push(entry.task_id.clone()))?,
    }
    for path in archives(disk, paths)? {
        Source::scanned(disk, &path)?.each(|entry| ids.push(entry.task_id.clone()))?;
    }
    Ok(ids)
}
