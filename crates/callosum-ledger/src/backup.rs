//! A backup: the active ledger and its hashlog as they stood at one moment, and what they were.
//!
//! The copy of the ledger gets its name last, so a backup with a ledger is a whole one. It is read
//! back and every checksum in it checked before it counts. Archives are named, not copied: they
//! never change, and the journal makes them anew. The format: `docs/formats/backup.md`.

use std::path::{Path, PathBuf};

use callosum_host::{Clock, Disk, OpenHow};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    align::OpenError,
    archive_name::ArchiveName,
    checksum::Checksum,
    creation::{CreateError, take_over},
    error_code::ErrorCode,
    group::Writer,
    ledger::Ledger,
    locks::ExclusiveLedger,
    paths::LedgerPaths,
    rotation,
};

/// The format of the note that lies beside a backup.
const FORMAT: u32 = 1;

/// A backup that was written and read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The copy of the ledger.
    pub path: PathBuf,
    /// How many entries it has.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: Checksum,
}

/// What lies beside a backup, and says what it is of.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    backup: u32,
    taken: Timestamp,
    bytes: u64,
    entries: u64,
    sha256: Checksum,
    /// The hash of the hashlog's last line.
    hashlog: Checksum,
    /// The last record of the journal, and its hash.
    record: u64,
    journal: Checksum,
    archives: Vec<ArchiveName>,
}

/// Why there is no backup, or why it is none.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The ledger cannot be opened, or a file failed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What was written is not what was read back, or an entry's checksum is wrong in it.
    #[error("the backup does not verify")]
    Wrong(#[from] CreateError),
    /// What lies beside it, and says what it is of, cannot be read.
    #[error("`{}` cannot be read, and says what was backed up: {reason}", path.display())]
    Note {
        /// The note.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The bytes are not those that were backed up.
    #[error("`{}` is not what was backed up: its SHA-256 is {found}, and was {expected}", path.display())]
    Changed {
        /// The backup.
        path: PathBuf,
        /// The SHA-256 that its note says.
        expected: Checksum,
        /// Its SHA-256.
        found: Checksum,
    },
}

impl BackupError {
    /// The seed's code for it, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Open(error) | Self::Wrong(CreateError::Open(error)) => error.code(),
            Self::Wrong(_) | Self::Note { .. } | Self::Changed { .. } => {
                Some(ErrorCode::ChecksumMismatch)
            }
        }
    }
}

impl From<callosum_host::DiskError> for BackupError {
    fn from(error: callosum_host::DiskError) -> Self {
        Self::Open(error.into())
    }
}

impl Ledger {
    /// Copies the active ledger and its hashlog into the folder of backups.
    ///
    /// Holds the ledger's lock while it notes how they stand; what is appended meanwhile is not
    /// waited for. Costs the reading and writing of the ledger, and reading it back.
    pub fn back_up(disk: &Disk, paths: &LedgerPaths, clock: &Clock) -> Result<Backup, BackupError> {
        let held = ExclusiveLedger::acquire(disk, paths).map_err(OpenError::from)?;
        let audit = held.lock_audit().map_err(OpenError::from)?;
        let mut writer = Writer::default();
        writer.bring_in_line(disk, paths, clock, &held, 0)?;
        let Some((position, view)) = writer.stands() else {
            return Err(BackupError::Open(OpenError::NotCreated {
                root: paths.root.clone(),
            }));
        };
        let ledger = disk.open(&paths.ledger, OpenHow::READ)?;
        let hashlog = disk.open(&paths.hashlog, OpenHow::READ)?;
        let archives = position.archives.iter().map(|told| told.archive).collect();
        let mode = rotation::mode_like(disk, &paths.ledger)?;
        drop(audit);
        drop(held);

        // What stands before the end is never written again, whatever comes after it.
        let mut bytes = ledger.read_range(0, view.ledger_end as usize)?;
        bytes.extend_from_slice(view.begun.tail.as_bytes());
        let lines = hashlog.read_range(0, view.hashlog_end as usize)?;
        let note = Note {
            backup: FORMAT,
            taken: clock.now(),
            bytes: bytes.len() as u64,
            entries: view.entries,
            sha256: Checksum::of(&bytes),
            hashlog: view.hashlog_head,
            record: position.seq,
            journal: position.head,
            archives,
        };
        disk.create_dir_all(&paths.backups)?;
        let path = write(disk, paths, &note, mode, &bytes, &lines)?;
        let (_, entries) = read(disk, &path)?;
        Ok(Backup {
            path,
            entries: entries.len() as u64,
            bytes: note.bytes,
            sha256: note.sha256,
        })
    }
}

fn write(
    disk: &Disk,
    paths: &LedgerPaths,
    note: &Note,
    mode: u32,
    ledger: &[u8],
    hashlog: &[u8],
) -> Result<PathBuf, BackupError> {
    let mut text = serde_json::to_vec_pretty(note).expect("numbers and strings are printed");
    text.push(b'\n');
    let mut name = ArchiveName::next(note.taken, &rotation::names(disk, &paths.backups)?);
    loop {
        let path = paths.backups.join(name.ledger());
        // Another process may be taking the same name: whose note is there has it.
        if disk.create(&note_of(&path), &text, mode)? {
            disk.create(&paths.backups.join(name.hashlog()), hashlog, mode)?;
            disk.create(&path, ledger, mode)?;
            return Ok(path);
        }
        name = name.following();
    }
}

fn note_of(backup: &Path) -> PathBuf {
    backup.with_extension("note.json")
}

/// Reads a backup, or any ledger file, and checks all of it: against its note, where there is one,
/// and every checksum in it.
pub(crate) fn read(
    disk: &Disk,
    path: &Path,
) -> Result<(crate::position::Begun, Vec<crate::entry::Entry>), BackupError> {
    let bytes = disk.read(path)?;
    let note = disk.read_if_there(&note_of(path))?;
    if let Some(note) = note {
        let note: Note = serde_json::from_slice(&note).map_err(|error| BackupError::Note {
            path: note_of(path),
            reason: error.to_string(),
        })?;
        let found = Checksum::of(&bytes);
        if found != note.sha256 {
            return Err(BackupError::Changed {
                path: path.to_owned(),
                expected: note.sha256,
                found,
            });
        }
    }
    Ok(take_over(path, &bytes)?)
}
