//! Recovery of a ledger: from a backup, from the journal, or from the file itself.
//!
//! Start with [`recover()`]. Every replaced file is moved to the quarantine first, and the
//! journal records this, so that replay and verification stay true. Nothing here runs unasked, and
//! no acknowledged entry is lost: [`unjournaled`] finds the entries that the journal has lost, and
//! [`from_backup`] takes in no entry of a known task that is not the journal's own. Other processes
//! write on during the preparation: [`preconditions`] holds the state that must not change until
//! the files are replaced.

mod from_audit;
mod from_backup;
mod import_appended;
mod preconditions;
mod reset_journal;
mod unjournaled;

use std::path::{Path, PathBuf};

use callosum_host::{Clock, Disk, DiskError};

use self::preconditions::{Preconditions, TRIES_WITHOUT_LOCK};
use crate::{
    backup::BackupError,
    cleanup,
    create_error::CreateError,
    error_code::ErrorCode,
    journal::Followed,
    locks::{ExclusiveAudit, ExclusiveLedger},
    open_error::OpenError,
    paths::LedgerPaths,
    reader::ReadError,
    repair::Repair,
    task_id::TaskId,
};

/// From what a ledger is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverFrom<'a> {
    /// A backup that verifies, and whose entries the journal knows.
    Backup(&'a Path),
    /// Any ledger file whose every checksum is right, also with entries that the journal does not
    /// know. Anyone can compute a checksum, so a person must vouch for such a file.
    Unverified(&'a Path),
    /// The journal: ledger, hashlog and archives are rebuilt from it.
    Audit,
    /// The ledger file: the valid entries behind those that the journal records are taken in.
    Appended,
    /// The ledger file: a new journal is begun with its contents, because the old one is lost.
    LedgerAlone,
}

/// Options of a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoverOptions {
    /// Number of records of the journal that were signed, as
    /// [`TrustStore::signed_records`](crate::checkpoint::TrustStore::signed_records) returns it.
    pub signed: u64,
    /// Whether to continue if the ledger would lose entries or records by it.
    pub force: bool,
}

/// Result of a recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Number of entries taken into the journal.
    pub taken_in: u64,
    /// Number of a backup's entries that were skipped, because an archive has them.
    pub archived: u64,
    /// The tasks whose entries were in the ledger and are not in it any more, because the backup does
    /// not have them. The journal still does.
    pub left_out: Vec<TaskId>,
    /// Number of signed records, if the journal found has fewer.
    pub signed: Option<u64>,
    /// Paths to which the replaced files were moved.
    pub set_aside: Vec<PathBuf>,
    /// Repairs that aligned files with the journal.
    pub repairs: Vec<Repair>,
    /// Archives that are gone or hold other entries, and that the journal cannot rebuild: they are
    /// older than it, and only come back from a copy.
    pub not_in_journal: Vec<PathBuf>,
}

/// Error of a recovery.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The journal cannot be followed, or a file or lock failed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The backup does not verify. Nothing was changed.
    #[error("cannot recover from `{}`", path.display())]
    Backup {
        /// The backup.
        path: PathBuf,
        /// Cause of the failure.
        source: Box<BackupError>,
    },
    /// The file is the ledger that is to be recovered. Nothing was changed.
    #[error("`{}` is the ledger itself", path.display())]
    Itself {
        /// The file.
        path: PathBuf,
    },
    /// No record next to the file describes the backup. Nothing was changed.
    #[error("no backup record exists next to `{}`: nothing proves that it is the backup", path.display())]
    NoNote {
        /// The file.
        path: PathBuf,
    },
    /// The journal does not know an entry. Nothing was changed.
    #[error("the audit journal has no entry of `{task_id}`")]
    Untold {
        /// Task of the entry.
        task_id: TaskId,
    },
    /// The journal has another entry of the task. Nothing was changed.
    #[error("the entry of `{task_id}` differs from the committed one")]
    NotCommitted {
        /// Task of the entry.
        task_id: TaskId,
    },
    /// Ledger and hashlog have entries that the journal has lost. Nothing was changed.
    #[error(
        "ledger and hashlog have {entries} entries that the audit journal no longer lists, the \
         first of `{first}`{}", signed_of(*records, *signed)
    )]
    Beyond {
        /// Number of entries.
        entries: u64,
        /// The first one's task.
        first: TaskId,
        /// Number of records in the journal.
        records: u64,
        /// Number of signed records.
        signed: u64,
    },
    /// There is a journal, and nothing is wrong with it. Nothing was changed.
    #[error("the audit journal is intact: it has {records} records")]
    JournalIsSound {
        /// Number of records.
        records: u64,
    },
    /// The ledger that is there cannot be taken over. Nothing was changed.
    #[error(transparent)]
    Ledger(Box<CreateError>),
    /// An archive could not be read.
    #[error(transparent)]
    Archive(#[from] ReadError),
    /// The journal has another entry than the ledger file.
    #[error(
        "entry {number} differs from the audit journal; only entries after its last can be added"
    )]
    Differs {
        /// The entry's number in the ledger, from 1.
        number: usize,
    },
    /// Fields other than the entries were changed.
    #[error("the ledger's fields other than `tasks` differ from the audit journal")]
    OtherFields,
    /// A task whose entry was appended has one in an archive.
    #[error("entry {number} is for a task that already has one in an archive")]
    Taken {
        /// The entry's number in the ledger, from 1.
        number: usize,
    },
    /// An entry that was appended rests on tasks that have none.
    #[error("entry {number} links to tasks without an entry: {}", list(ids))]
    UnknownLinks {
        /// The entry's number in the ledger, from 1.
        number: usize,
        /// The tasks.
        ids: Vec<TaskId>,
    },
    /// An entry that was appended has an id that is not among the next ones.
    #[error("entry {number} has the id `{task_id}`, which is not one of the next ids of its day")]
    Id {
        /// The entry's number in the ledger, from 1.
        number: usize,
        /// The id.
        task_id: TaskId,
    },
}

fn list(ids: &[TaskId]) -> String {
    let quoted: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}

fn signed_of(records: u64, signed: u64) -> String {
    if signed > records {
        format!("; a checkpoint signed {signed} of its records, and it has {records}")
    } else {
        String::new()
    }
}

impl RecoverError {
    /// Returns the seed's code for it, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Open(error) => error.code(),
            Self::Backup { source, .. } => source.code(),
            Self::Archive(error) => error.code(),
            Self::Ledger(error) => match &**error {
                CreateError::Open(error) => error.code(),
                CreateError::BadEntry { .. } => Some(ErrorCode::ChecksumMismatch),
                _ => None,
            },
            Self::NotCommitted { .. } => Some(ErrorCode::ChecksumMismatch),
            Self::Itself { .. }
            | Self::NoNote { .. }
            | Self::Untold { .. }
            | Self::Beyond { .. }
            | Self::JournalIsSound { .. }
            | Self::Differs { .. }
            | Self::OtherFields
            | Self::Taken { .. }
            | Self::UnknownLinks { .. }
            | Self::Id { .. } => None,
        }
    }
}

impl From<CreateError> for RecoverError {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Open(error) => Self::Open(error),
            error => Self::Ledger(Box::new(error)),
        }
    }
}

impl From<DiskError> for RecoverError {
    fn from(error: DiskError) -> Self {
        Self::Open(error.into())
    }
}

impl From<crate::journal::JournalError> for RecoverError {
    fn from(error: crate::journal::JournalError) -> Self {
        Self::Open(error.into())
    }
}

/// Recovers a project's ledger, and returns what was done; see [`Ledger::recover`].
///
/// [`Ledger::recover`]: crate::Ledger::recover
pub(crate) fn recover(
    disk: &Disk,
    paths: &LedgerPaths,
    clock: &Clock,
    from: RecoverFrom<'_>,
    options: RecoverOptions,
) -> Result<Recovered, RecoverError> {
    disk.create_dir_all(&paths.locks)?;
    drop(cleanup::sweep_all(disk, paths));
    let project = Project {
        disk,
        paths,
        clock,
        options,
    };
    let mut recovered = match from {
        RecoverFrom::Backup(path) | RecoverFrom::Unverified(path) => {
            project.take_backup(path, from)?
        }
        RecoverFrom::Audit => project.make_what_journal_says()?,
        RecoverFrom::Appended => project.take_appended()?,
        RecoverFrom::LedgerAlone => project.begin_from_scratch()?,
    };
    let kept = recovered
        .repairs
        .iter()
        .filter_map(|repair| repair.kept.clone());
    recovered.set_aside.extend(kept);
    Ok(recovered)
}

struct Project<'a> {
    disk: &'a Disk,
    paths: &'a LedgerPaths,
    clock: &'a Clock,
    options: RecoverOptions,
}

/// Both locks that a recovery needs; given back in the order of the fields.
struct Locks<'a> {
    _audit: ExclusiveAudit,
    _ledger: ExclusiveLedger<'a>,
}

impl Project<'_> {
    fn lock(&self) -> Result<Locks<'_>, OpenError> {
        let ledger = ExclusiveLedger::acquire(self.disk, self.paths)?;
        Ok(Locks {
            _audit: ledger.lock_audit()?,
            _ledger: ledger,
        })
    }

    /// Prepares a recovery without the locks, and carries it out with them if nothing has changed
    /// in between; else prepares it again.
    ///
    /// The preparation applies to the state of the files at a moment without a writer.
    fn recover<P>(
        &self,
        mut prepare: impl FnMut(&Preconditions) -> Result<P, RecoverError>,
        carry_out: impl FnOnce(P) -> Result<Recovered, RecoverError>,
    ) -> Result<Recovered, RecoverError> {
        let (disk, paths) = (self.disk, self.paths);
        let mut tries = 0;
        loop {
            let locks = self.lock()?;
            let found = Preconditions::now(disk, paths)?;
            let held = (tries >= TRIES_WITHOUT_LOCK).then_some(locks);
            let prepared = prepare(&found);
            let _held = match held {
                Some(held) => held,
                None => self.lock()?,
            };
            // Data read during a write may look wrong, so the result counts only if nothing
            // changed.
            if Preconditions::now(disk, paths)? == found {
                return carry_out(prepared?);
            }
            tries += 1;
        }
    }

    /// Refuses to continue if the journal has lost entries, or records that were signed. Returns
    /// the number of signed records, if it has fewer and the options allow that.
    fn refuse_loss(&self, followed: &Followed) -> Result<Option<u64>, RecoverError> {
        let RecoverOptions { signed, force } = self.options;
        let records = followed.position.seq;
        let is_short = records < signed;
        if force {
            return Ok(is_short.then_some(signed));
        }
        let beyond = unjournaled::find(self.disk, self.paths)?;
        if let Some(first) = beyond.first() {
            return Err(RecoverError::Beyond {
                entries: beyond.len() as u64,
                first: first.clone(),
                records,
                signed,
            });
        }
        if is_short {
            return Err(RecoverError::Open(OpenError::Cut {
                audit: self.paths.audit.clone(),
                records,
                signed,
            }));
        }
        Ok(None)
    }

    fn shown(&self, path: &Path) -> String {
        self.paths.shown(path).to_string_lossy().into_owned()
    }
}
