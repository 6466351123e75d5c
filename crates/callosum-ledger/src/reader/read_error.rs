//! [`ReadError`]: error of reading a ledger.

use std::path::PathBuf;

use callosum_host::DiskError;

use crate::{
    entry::EntryError, error_code::ErrorCode, journal::JournalError, ledger_file::LedgerFileError,
};

/// Error of reading a ledger.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The ledger file is missing, but the audit journal, which has its contents, exists.
    #[error("`{}` is missing, but the audit journal exists", path.display())]
    LedgerGone {
        /// The ledger.
        path: PathBuf,
    },
    /// The journal, which tells what the archives are, cannot be followed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An archive that the journal lists is missing.
    #[error("the archive `{}` is missing, but the audit journal lists it", path.display())]
    ArchiveGone {
        /// Path at which it should be.
        path: PathBuf,
        /// Whether the journal has its contents, and can rebuild it.
        is_in_journal: bool,
    },
    /// An archive does not have the entries that the journal recorded for it.
    #[error("`{}` differs from what the audit journal archived", path.display())]
    ArchiveChanged {
        /// The archive.
        path: PathBuf,
        /// Whether the journal has its contents, and can rebuild it.
        is_in_journal: bool,
    },
    /// A file is not a ledger.
    #[error("cannot read `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: LedgerFileError,
    },
    /// An entry violates the schema.
    #[error("cannot read entry {number} of `{}`", path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The entry's number in it, from 1.
        number: usize,
        /// Cause of the failure.
        source: EntryError,
    },
}

impl ReadError {
    /// Returns the seed's code for it, if there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Disk(_) | Self::Journal(JournalError::Disk(_)) => Some(ErrorCode::DiskFailure),
            Self::Entry {
                source: EntryError::Mismatch { .. },
                ..
            }
            | Self::ArchiveChanged { .. }
            | Self::Journal(JournalError::Damaged { .. }) => Some(ErrorCode::ChecksumMismatch),
            Self::Journal(JournalError::Newer { .. })
            | Self::LedgerGone { .. }
            | Self::ArchiveGone { .. }
            | Self::File { .. }
            | Self::Entry { .. } => None,
        }
    }
}
