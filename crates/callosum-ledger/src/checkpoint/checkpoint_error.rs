//! [`CheckpointError`]: error of making a checkpoint, or of naming the key of the last one.

use std::path::PathBuf;

use callosum_host::{DiskError, LockError};

use super::key_ring::KeyError;

/// Error of making a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Another process kept the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no key to sign with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The journal has a record that is not one, or is not in its place.
    #[error("record {seq} of the audit journal is not the expected one")]
    Broken {
        /// Its number.
        seq: u64,
    },
    /// The journal does not begin with the records that were signed.
    #[error("the audit journal differs from the checkpoint of its {size} records")]
    Inconsistent {
        /// The size of the last checkpoint.
        size: u64,
    },
    /// The last checkpoint cannot be read, or is not signed by a key of this machine.
    #[error("the last checkpoint in `{}` was not made on this machine", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The system gave no random bytes to make a key from.
    #[error("the system provides no random bytes")]
    NoRandomness {
        /// Its reason.
        source: std::io::Error,
    },
    /// There is no journal yet.
    #[error("there is no audit journal to sign")]
    Empty,
}
