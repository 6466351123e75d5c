//! [`GovernanceError`]: error of reading or changing the rules for plans.

use std::path::PathBuf;

use callosum_host::{DiskError, LockError};
use callosum_ledger::checkpoint::KeyError;

/// Reason that the rules for plans are not known.
#[derive(Debug, thiserror::Error)]
pub enum GovernanceError {
    /// A file is not what it should be.
    #[error("`{}`: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The user's constitution has no signature.
    #[error("`{}` is not signed by this machine's key", path.display())]
    Unsigned {
        /// The file.
        path: PathBuf,
    },
    /// A later one than the user's was signed.
    #[error(
        "`{}` is version {version}, but version {signed} was signed later: an older constitution is not accepted",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
        /// The version that was signed last.
        signed: u64,
    },
    /// The machine's keys can't be read.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Another process is changing what was revoked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The disk does not give or take a file.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
