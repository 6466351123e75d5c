//! [`FleetError`]: error of a round of replication.

use callosum_host::DiskError;
use callosum_mesh::{MeshError, journal::JournalError};

use super::ServerError;

/// Error of a round.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The server or the connection failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// This machine's log cannot be used.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// This machine's log cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file of the fleet cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The server has other events of this log than the log.
    #[error(
        "the workspace has events of log {origin} that this machine does not have (event {seq}): the log was copied to \
         another machine, or lost its end"
    )]
    Forked {
        /// The log.
        origin: String,
        /// The event.
        seq: u64,
    },
    /// Another machine sends what a newer version understands.
    #[error("a machine of the workspace sends format {found}; this program reads up to {known}")]
    Newer {
        /// The format.
        found: u32,
        /// The newest that is understood.
        known: u32,
    },
    /// Events cannot be sent, since another process of this machine sends them at the same time.
    #[error("another process of this machine sends events at the same time")]
    Busy,
}

impl FleetError {
    /// Whether the server refuses this machine.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Server(error) if error.is_refusal())
    }

    /// Whether no server answers.
    pub fn is_offline(&self) -> bool {
        matches!(self, Self::Server(ServerError::Unreachable { .. }))
    }
}
