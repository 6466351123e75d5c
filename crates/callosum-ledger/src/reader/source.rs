//! [`Source`]: a ledger file that answers queries, with or without an index.
//!
//! The hashlog only gives the position. The bytes there must be the entry of the line; if they are
//! not, the ledger file is read itself.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, OpenHow};
use jiff::Timestamp;

use super::{archives::Archive, entries::Unanswered, read_error::ReadError};
use crate::{
    entry::{Entry, checksum_at_head},
    hashlog::{self, Hashlog, HashlogLine, ReadRange as _},
    journal::Archived,
    ledger_file::{LedgerFile, LedgerVersion},
    open_ledger::OpenLedger,
    paths::LedgerPaths,
};
use callosum_json::Checksum;

/// So much of a ledger's end tells it from any other: no two entries are the same.
const LEDGER_END: u64 = 16 * 1024;

/// One ledger file, ready to be asked.
#[derive(Debug)]
pub(super) enum Source {
    /// The ledger does not exist.
    Missing,
    /// A ledger by its hashlog.
    Indexed {
        hashlog: Box<Hashlog>,
        ledger: OpenLedger,
        version: LedgerVersion,
        is_archived: bool,
        /// The journal's statement about it, if it is an archive.
        record: Option<Box<Archived>>,
    },
    /// Any ledger, by its own bytes.
    Scanned {
        path: PathBuf,
        is_archived: bool,
        bytes: Vec<u8>,
        file: LedgerFile,
    },
}

impl Source {
    /// Opens the active ledger, with its hashlog if that matches.
    pub(super) fn active(disk: &Disk, paths: &LedgerPaths) -> Result<Self, ReadError> {
        let Some(ledger) = disk.open_if_there(&paths.ledger, OpenHow::READ)? else {
            return Ok(Self::Missing);
        };
        let hashlog = Hashlog::open(disk, &paths.hashlog, &paths.index())?;
        Self::new(OpenLedger::Plain(ledger), hashlog, false)
    }

    /// Opens an archive, with its hashlog if that is the one that the journal records.
    ///
    /// Fails if it does not hold the entries that were archived.
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
        let Some(record) = &archive.record else {
            return Self::new(ledger, hashlog, true);
        };
        let hashlog = match hashlog {
            Some(hashlog) if hashlog.joins(record.follows, record.hashlog)? => hashlog,
            _ => return Self::proven(&ledger, record, None),
        };
        match version_if_indexed(&hashlog, &ledger)? {
            Some(version) => Ok(Self::Indexed {
                hashlog: Box::new(hashlog),
                ledger,
                version,
                is_archived: true,
                record: Some(Box::new(record.clone())),
            }),
            None => Self::proven(&ledger, record, Some(&hashlog)),
        }
    }

    fn new(
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
                record: None,
            });
        }
        Self::from_bytes(ledger.path(), is_archived, ledger.read_all()?)
    }

    /// Opens an archive by its own bytes, which must hold the entries that the journal records.
    fn proven(
        ledger: &OpenLedger,
        record: &Archived,
        hashlog: Option<&Hashlog>,
    ) -> Result<Self, ReadError> {
        let source = Self::from_bytes(ledger.path(), true, ledger.read_all()?)?;
        if source.has_as_entries(record, hashlog)? {
            Ok(source)
        } else {
            Err(ReadError::ArchiveChanged {
                path: ledger.path().to_owned(),
                is_in_journal: !record.is_adopted,
            })
        }
    }

    /// Whether the scanned bytes have the entries that were archived: their hashlog is the one that
    /// the journal records, or that one exists and names them.
    fn has_as_entries(
        &self,
        record: &Archived,
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
            record.follows,
        );
        if made == record.hashlog {
            return Ok(true);
        }
        // Laid out otherwise it has its entries in other places.
        Ok(match hashlog {
            Some(hashlog) => hashlog.checksums(record.follows, record.hashlog)? == Some(checksums),
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
                    record,
                    hashlog,
                    ..
                },
            ) => question(&match record {
                Some(record) => Self::proven(ledger, record, Some(hashlog))?,
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

    /// Returns the hash that the hashlog's first line follows; `None` if there is no matching
    /// hashlog.
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

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Missing => Path::new(""),
            Self::Indexed { ledger, .. } => ledger.path(),
            Self::Scanned { path, .. } => path,
        }
    }
}

/// Returns the checksum that an entry states, in any layout.
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
