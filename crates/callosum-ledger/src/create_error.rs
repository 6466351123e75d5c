//! [`CreateError`]: error of creating a ledger, and of reading an older one that it takes over.

use std::path::PathBuf;

use callosum_host::DiskError;

use crate::{entry::EntryError, ledger_file::LedgerFileError, open_error::OpenError};

/// Error of creating a ledger, or of reading one to import.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// A ledger is there and cannot be opened, or a file or lock failed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file that is there is not a ledger.
    #[error("cannot import `{}`", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: LedgerFileError,
    },
    /// An entry in it violates the schema, or its checksum is wrong.
    #[error("cannot import `{}`: entry {number}", path.display())]
    BadEntry {
        /// The file.
        path: PathBuf,
        /// The entry's number in it, from 1.
        number: usize,
        /// Cause of the failure.
        source: EntryError,
    },
    /// Two entries in it are of one task.
    #[error("cannot import `{}`: entry {number} is for a task that already has one", path.display())]
    Duplicate {
        /// The file.
        path: PathBuf,
        /// The second entry's number in it, from 1.
        number: usize,
    },
}

impl From<DiskError> for CreateError {
    fn from(error: DiskError) -> Self {
        Self::Open(error.into())
    }
}
