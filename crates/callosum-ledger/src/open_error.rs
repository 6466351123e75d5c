//! [`OpenError`]: error of opening a ledger for writing.

use std::path::PathBuf;

use callosum_host::{DiskError, LockError};

use crate::{
    error_code::ErrorCode,
    journal::{JournalError, is_unwritable},
    ledger_file::{LedgerFileError, LedgerVersion},
};

/// Error of opening a ledger for writing.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The ledger stayed locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal cannot be followed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal could not be written: a record of what was done, or a cut of what a crash had
    /// torn.
    #[error("cannot write the audit journal")]
    Unrecorded(#[source] DiskError),
    /// No ledger was begun here.
    #[error("there is no ledger in `{}` yet", root.display())]
    NotCreated {
        /// The project.
        root: PathBuf,
    },
    /// A later version wrote the ledger. It can still be read, by a [`Reader`](crate::Reader).
    #[error("`{}` has version {found}, but this program writes {supported}", path.display())]
    Newer {
        /// The ledger.
        path: PathBuf,
        /// Its version.
        found: LedgerVersion,
        /// Ours.
        supported: LedgerVersion,
    },
    /// The file in the ledger's place is whole, and not a ledger. Nothing was changed.
    #[error("cannot write `{}`", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: LedgerFileError,
    },
    /// The ledger has entries by its hashlog, and there is no journal. Nothing was changed.
    #[error(
        "the audit journal in `{}` is missing, but `{}` shows that entries were stored",
        audit.display(), hashlog.display()
    )]
    JournalGone {
        /// The journal's folder.
        audit: PathBuf,
        /// The hashlog.
        hashlog: PathBuf,
    },
    /// The journal has fewer records than were signed: it was cut, or put back to an earlier state.
    #[error(
        "the audit journal in `{}` has {records} records, but {signed} were signed",
        audit.display()
    )]
    Cut {
        /// The journal's folder.
        audit: PathBuf,
        /// Number of records in the journal.
        records: u64,
        /// Number of signed records.
        signed: u64,
    },
    /// A day file of the journal is of a day after tomorrow, and holds no record.
    #[error("`{}` is of a future day and contains no record", path.display())]
    DayToCome {
        /// The day file.
        path: PathBuf,
    },
    /// A file disagrees with the journal. Nothing was changed.
    #[error("`{}` disagrees with the audit journal: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// First difference.
        what: String,
    },
}

impl OpenError {
    /// Returns the seed's code for it, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Lock(LockError::Timeout { .. }) => Some(ErrorCode::LockTimeout),
            Self::Unrecorded(error) if is_unwritable(error) => Some(ErrorCode::AuditFailure),
            Self::Disk(_)
            | Self::Unrecorded(_)
            | Self::Lock(LockError::Disk(_))
            | Self::Journal(JournalError::Disk(_)) => Some(ErrorCode::DiskFailure),
            Self::Journal(JournalError::Damaged { .. }) => Some(ErrorCode::ChecksumMismatch),
            Self::Journal(JournalError::Newer { .. })
            | Self::NotCreated { .. }
            | Self::Newer { .. }
            | Self::NotALedger { .. }
            | Self::JournalGone { .. }
            | Self::Cut { .. }
            | Self::DayToCome { .. }
            | Self::Foreign { .. } => None,
        }
    }

    /// The file operation that failed, if that was it.
    pub fn disk_error(&self) -> Option<&DiskError> {
        match self {
            Self::Disk(error)
            | Self::Unrecorded(error)
            | Self::Lock(LockError::Disk(error))
            | Self::Journal(JournalError::Disk(error)) => Some(error),
            _ => None,
        }
    }
}
