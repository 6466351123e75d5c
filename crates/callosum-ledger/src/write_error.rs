//! [`WriteError`]: error of a write to an open ledger.

use std::sync::Arc;

use callosum_host::{DiskError, LockError, disk::Operation};

use crate::{
    entry::EntryError, error_code::ErrorCode, journal::is_unwritable, open_error::OpenError,
    reader::ReadError, task_id::TaskId,
};

/// Error of a write to an open ledger.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WriteError {
    /// Another process held the ledger's lock for too long.
    #[error(transparent)]
    Lock(Arc<LockError>),
    /// The audit journal could not be written.
    #[error(transparent)]
    Journal(Arc<DiskError>),
    /// A file next to the journal could not be written on the way to a new ledger.
    #[error(transparent)]
    Disk(Arc<DiskError>),
    /// The entries that are there could not be read.
    #[error(transparent)]
    Read(Arc<ReadError>),
    /// The ledger could not be brought in line with the journal.
    #[error(transparent)]
    Open(Arc<OpenError>),
    /// A sync failed before, so the state of the disk is unknown: open the ledger again.
    #[error("writing stopped because a sync failed: {0}")]
    Halted(Arc<DiskError>),
    /// The thread that wrote it panicked; it may or may not be in the ledger.
    #[error("writing was interrupted by a bug in Callosum")]
    Interrupted,
    /// Linked tasks that the ledger does not have.
    #[error("the ledger does not contain these linked tasks: {}", list(ids))]
    UnknownLinks {
        /// Their ids.
        ids: Vec<TaskId>,
    },
    /// The task has an entry already.
    #[error("task `{task_id}` already has an entry")]
    Taken {
        /// The task.
        task_id: TaskId,
    },
    /// The entry has no canonical form.
    #[error(transparent)]
    Entry(Arc<EntryError>),
}

fn list(ids: &[TaskId]) -> String {
    let quoted: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}

impl WriteError {
    /// Returns the seed's code for it, if there is one.
    ///
    /// A journal that may not be written, or whose file cannot be opened, is E008; a failed write
    /// or sync of it, and a full disk, is E005.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Lock(error) => Some(match **error {
                LockError::Timeout { .. } => ErrorCode::LockTimeout,
                LockError::Disk(_) => ErrorCode::DiskFailure,
            }),
            Self::Journal(error) if is_unwritable(error) => Some(ErrorCode::AuditFailure),
            Self::Journal(_) | Self::Disk(_) | Self::Halted(_) => Some(ErrorCode::DiskFailure),
            Self::Read(error) => error.code(),
            Self::Open(error) => error.code(),
            Self::Interrupted | Self::UnknownLinks { .. } | Self::Taken { .. } | Self::Entry(_) => {
                None
            }
        }
    }

    /// Whether the handle no longer writes, so that a retry on it is useless: a sync of the journal
    /// failed.
    pub fn has_halted(&self) -> bool {
        match self {
            Self::Halted(_) => true,
            Self::Journal(error) => error.operation == Operation::Sync,
            _ => false,
        }
    }
}
