//! A backup: the active ledger and its hashlog as of one moment, and a description of them.
//!
//! The copy of the ledger gets its name last, so a backup with a ledger is complete. It counts only
//! after it is read back and every checksum in it is checked. Archives are named, not copied: they
//! never change, and the journal can rebuild them, except those that are older than it. The format:
//! `docs/formats/backup.md`.

use std::path::{Path, PathBuf};

use callosum_host::{Clock, Disk, OpenHow};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    archive_files,
    archive_name::ArchiveName,
    cleanup,
    create_error::CreateError,
    derived_files::{copy, each_piece, hash_of, mode_like},
    error_code::ErrorCode,
    group_commit::Writer,
    import_source::ImportSource,
    locks::ExclusiveLedger,
    open_error::OpenError,
    paths::LedgerPaths,
};
use callosum_json::{Checksum, Hashing};

/// Format version of the note next to a backup.
const FORMAT: u32 = 1;

/// A backup that was written and read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The copy of the ledger.
    pub path: PathBuf,
    /// Number of entries.
    pub entries: u64,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: Checksum,
}

/// The note next to a backup, which describes it.
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

/// Error of making or reading a backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The ledger cannot be opened, or a file failed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The copy differs from what was read, or an entry's checksum in it is wrong.
    #[error("verification of the backup failed")]
    Wrong(#[from] CreateError),
    /// The note next to the backup, which describes it, cannot be read.
    #[error("cannot read `{}`, which describes the backup: {reason}", path.display())]
    Note {
        /// The note.
        path: PathBuf,
        /// Cause of the failure.
        reason: String,
    },
    /// The bytes are not those that were backed up.
    #[error("`{}` differs from the backup: its SHA-256 is {found}, expected {expected}", path.display())]
    Changed {
        /// The backup.
        path: PathBuf,
        /// The SHA-256 in its note.
        expected: Checksum,
        /// Its SHA-256.
        found: Checksum,
    },
}

impl BackupError {
    /// Returns the seed's code for it, if there is one.
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

/// Copies the active ledger and its hashlog into the folder of backups; see [`Ledger::back_up`].
///
/// [`Ledger::back_up`]: crate::Ledger::back_up
pub(crate) fn back_up(
    disk: &Disk,
    paths: &LedgerPaths,
    clock: &Clock,
) -> Result<Backup, BackupError> {
    let is_begun = |path| disk.exists(path).map_err(OpenError::from);
    if !is_begun(&paths.ledger)? && !is_begun(&paths.audit)? {
        return Err(BackupError::Open(OpenError::NotCreated {
            root: paths.root.clone(),
        }));
    }
    drop(cleanup::sweep_all(disk, paths));
    let held = ExclusiveLedger::acquire(disk, paths).map_err(OpenError::from)?;
    let audit = held.lock_audit().map_err(OpenError::from)?;
    let mut writer = Writer::default();
    writer.bring_in_line(disk, paths, clock, &held, 0)?;
    let Some((position, view)) = writer.positions() else {
        return Err(BackupError::Open(OpenError::NotCreated {
            root: paths.root.clone(),
        }));
    };
    let ledger = disk.open(&paths.ledger, OpenHow::READ)?;
    let hashlog = disk.open(&paths.hashlog, OpenHow::READ)?;
    let archives = position
        .archives
        .iter()
        .map(|archived| archived.archive)
        .collect();
    let mode = mode_like(disk, &paths.ledger)?;
    drop(audit);
    drop(held);

    // The bytes before the end never change, regardless of what is appended.
    let tail = view.begun.tail.as_bytes();
    let mut hashing = Hashing::default();
    each_piece(&ledger, view.ledger_end, |piece| {
        hashing.push(piece);
        Ok(())
    })?;
    hashing.push(tail);
    let note = Note {
        backup: FORMAT,
        taken: clock.now(),
        bytes: view.ledger_len(),
        entries: view.entries,
        sha256: hashing.end(),
        hashlog: view.hashlog_head,
        record: position.seq,
        journal: position.head,
        archives,
    };
    disk.create_dir_all(&paths.backups)?;
    let path = take_name(disk, paths, &note, mode)?;
    let mut copied = disk.new_file(&path.with_extension("hashlog"), mode)?;
    copy(&hashlog, view.hashlog_end, &mut copied)?;
    copied.create()?;
    let mut copied = disk.new_file(&path, mode)?;
    copy(&ledger, view.ledger_end, &mut copied)?;
    copied.push(tail)?;
    copied.create()?;
    let read = open(disk, &path)?;
    Ok(Backup {
        path,
        entries: read.taken.len() as u64,
        bytes: note.bytes,
        sha256: note.sha256,
    })
}

/// Writes the note under the first name that is free; where the ledger of it goes.
fn take_name(
    disk: &Disk,
    paths: &LedgerPaths,
    note: &Note,
    mode: u32,
) -> Result<PathBuf, BackupError> {
    let mut text = serde_json::to_vec_pretty(note).expect("numbers and strings are printed");
    text.push(b'\n');
    let mut name = ArchiveName::next(note.taken, &archive_files::names(disk, &paths.backups)?);
    loop {
        let path = paths.backups.join(name.ledger());
        // Another process may be taking the same name: whose note is there has it.
        if disk.create(&note_of(&path), &text, mode)? {
            return Ok(path);
        }
        name = name.following();
    }
}

fn note_of(backup: &Path) -> PathBuf {
    backup.with_extension("note.json")
}

/// A ledger file that was read and checked.
pub(crate) struct Read {
    pub(crate) taken: ImportSource,
    /// Whether a note confirms that it is the backup.
    pub(crate) has_note: bool,
}

/// Reads a backup, or any ledger file, and checks all of it: against its note, if there is one, and
/// every checksum in it.
pub(crate) fn open(disk: &Disk, path: &Path) -> Result<Read, BackupError> {
    let file = disk.open(path, OpenHow::READ)?;
    let note = disk.read_if_there(&note_of(path))?;
    let has_note = note.is_some();
    if let Some(note) = note {
        let note: Note = serde_json::from_slice(&note).map_err(|error| BackupError::Note {
            path: note_of(path),
            reason: error.to_string(),
        })?;
        let found = hash_of(&file, file.size()?)?;
        if found != note.sha256 {
            return Err(BackupError::Changed {
                path: path.to_owned(),
                expected: note.sha256,
                found,
            });
        }
    }
    let taken = ImportSource::open(file)?;
    Ok(Read { taken, has_note })
}
