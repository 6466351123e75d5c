//! [`MeshError`]: error of the mesh, and the result for a list of events from elsewhere.

use std::path::Path;

use callosum_host::{DiskError, LockError};

use crate::{
    board::BoardError,
    event::{Event, Faults},
    journal::JournalError,
};

/// Error of the mesh.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The log cannot be read or appended to.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It may not be.
    #[error(transparent)]
    Refused(#[from] BoardError),
    /// The event is not as it must be.
    #[error(transparent)]
    Faults(#[from] Faults),
}

impl MeshError {
    /// Whether the caller may only read, as in a sandbox.
    pub fn is_unwritable(&self) -> bool {
        self.disk_error().is_some_and(is_unwritable)
    }

    /// Whether the disk is full: what is there can be read, and the log may have room where other files have none.
    pub fn is_full(&self) -> bool {
        self.disk_error().is_some_and(DiskError::is_full)
    }

    /// Whether others appended for as long as it was waited: what is there can be read.
    pub fn is_busy(&self) -> bool {
        matches!(
            self,
            Self::Journal(JournalError::Lock(LockError::Timeout { .. }))
        )
    }

    /// The path that the failure is about, if it is about one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Journal(
                JournalError::NoOrigin { path }
                | JournalError::LostOrigin { path }
                | JournalError::Replaced { path },
            ) => Some(path),
            _ => self.disk_error().map(|error| error.path.as_path()),
        }
    }

    fn disk_error(&self) -> Option<&DiskError> {
        match self {
            Self::Disk(error)
            | Self::Journal(
                JournalError::Disk(error) | JournalError::Lock(LockError::Disk(error)),
            ) => Some(error),
            _ => None,
        }
    }
}

/// Whether a file cannot be written because the caller may only read.
pub(crate) fn is_unwritable(error: &DiskError) -> bool {
    error.is_read_only() || error.is_denied()
}

/// Result for a list of events: each as it is in the log, or `None` if it changed nothing.
pub type Decided = Result<Vec<Option<Event>>, Undecided>;

/// Reason for which a list of events was rejected.
#[derive(Debug, thiserror::Error)]
#[error("no event of the list was accepted: event {at} failed")]
pub struct Undecided {
    /// Index of the event that failed, counted from 0.
    pub at: usize,
    /// Reason.
    #[source]
    pub error: MeshError,
}
