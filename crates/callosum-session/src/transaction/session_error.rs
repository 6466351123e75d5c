//! [`SessionError`]: the reasons why a session's files cannot be read or changed.

use callosum_host::{DiskError, LockError};

use crate::{bead::SheetError, notes::LARGEST_NOTES, zones::ZoneError};

/// Error while reading or changing a session's files.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Another session was at it for too long.
    #[error("another session is writing")]
    Busy(#[source] LockError),
    /// A file cannot be used.
    #[error(transparent)]
    Zone(#[from] ZoneError),
    /// The bead is not there.
    #[error("bead `{id}` does not exist")]
    NoBead {
        /// Its id.
        id: String,
    },
    /// The bead cannot be changed.
    #[error("cannot write bead `{id}`")]
    Bead {
        /// Its id.
        id: String,
        /// Cause.
        source: SheetError,
    },
    /// The bead cannot be read.
    #[error("cannot read bead `{id}`: {problem}")]
    UnreadBead {
        /// Its id.
        id: String,
        /// Its file, from the root.
        file: String,
        /// Cause.
        problem: String,
        /// Whether it is text in another encoding than UTF-8.
        is_encoded: bool,
    },
    /// The files cannot be locked, so that nothing can be written.
    #[error("session files cannot be locked or written here")]
    Unwritable(#[source] DiskError),
    /// The notes are larger than is read.
    #[error("`{file}` is larger than {} MiB, and is not read", LARGEST_NOTES >> 20)]
    TooLarge {
        /// The file.
        file: String,
    },
    /// The notes are no file: a folder, a pipe.
    #[error("`{file}` is not a regular file")]
    NotFile {
        /// Path of the entry.
        file: String,
    },
    /// The notes are text of a kind that is not read.
    #[error("`{file}` is {what}")]
    Foreign {
        /// The file.
        file: String,
        /// The kind of text, and what can be read instead.
        what: &'static str,
    },
    /// The notes come and go while they are written.
    #[error("another program keeps moving `{file}` while it is written")]
    Unsettled {
        /// The file.
        file: String,
    },
    /// A newer version began a step here.
    #[error("a newer version started a step here and did not finish it (format {format})")]
    Newer {
        /// Its format.
        format: u32,
    },
}

impl From<DiskError> for SessionError {
    fn from(error: DiskError) -> Self {
        Self::Zone(error.into())
    }
}

impl SessionError {
    /// Whether a file is read-only for everyone or for this user.
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Zone(ZoneError::Disk(error)) => error.is_denied() || error.is_read_only(),
            _ => false,
        }
    }
}
