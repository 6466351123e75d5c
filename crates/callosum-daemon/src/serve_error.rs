//! [`ServeError`]: reason for which the daemon does not serve.

use std::{io, path::PathBuf};

use callosum_host::DiskError;
use callosum_mesh::{MeshError, journal::JournalError};

use super::Unserved;

/// Reason for which the daemon does not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The log cannot be opened.
    #[error("cannot open the event log")]
    Journal(#[from] JournalError),
    /// The board that follows from it cannot be.
    #[error("cannot open the board of tasks and messages")]
    Mesh(#[from] MeshError),
    /// Files next to the log cannot be written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The socket cannot be made.
    #[error("cannot listen at `{}`", path.display())]
    Socket {
        /// Path of the socket.
        path: PathBuf,
        /// Reason.
        source: io::Error,
    },
    /// Nothing of what was to be served can be.
    #[error("nothing can be served: {}", .0.iter().map(|one| format!("{} at {}: {}", one.what, one.address, one.reason)).collect::<Vec<_>>().join("; "))]
    Nothing(Vec<Unserved>),
    /// The system gives no thread.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// The runtime cannot be made.
    #[error("cannot wait for connections")]
    Runtime(#[source] io::Error),
}
