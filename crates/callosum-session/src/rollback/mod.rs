//! Rolling back: notes, beads and trajectories come back as they were at a time (Seed LOA §12.1).
//!
//! Start with [`Session::plan_rollback`](crate::Session::plan_rollback), which changes nothing, and [`LockedSession::roll_back`](crate::LockedSession::roll_back).
//! `plan` finds the state of each file at the time: in `versions`, which keeps what notes and beads
//! held before each change, else in git; a trajectory has the time of each record in itself.
//! `apply` writes a rollback down first and makes it then, `record` has the forms of both files,
//! `undo` plans the way back, and `past` keeps [healing](crate::heal) from bringing back what was
//! committed and is rolled back.
//!
//! Nothing is lost by a rollback: what it replaces is kept, and [`LockedSession::undo_rollback`](crate::LockedSession::undo_rollback)
//! brings it back.

mod apply;
mod past;
mod plan;
pub(crate) mod record;
mod undo;
pub(crate) mod versions;

use std::fmt;

use jiff::Timestamp;

use crate::{heal::Past, transaction::SessionError};

/// The project's history at times, beside its last commit.
pub trait History: Past {
    /// Returns the id of the last commit of a time; `None` if there is none.
    fn commit_at(&self, time: Timestamp) -> Option<String>;
    /// Returns a file of a commit.
    fn file_of(&self, commit: &str, name: &str) -> Option<Vec<u8>>;
    /// Returns the names of the files of a commit in a folder, from the root.
    fn files_of(&self, commit: &str, folder: &str) -> Vec<String>;
}

/// Source of the earlier state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSource {
    /// The versions that are kept before each change.
    Versions,
    /// A commit, by its id.
    Commit(String),
    /// The file itself: its records have times, or it was created later.
    File,
    /// The rollback that is undone.
    Rollback,
}

impl fmt::Display for StateSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Versions => f.write_str("versions"),
            Self::Commit(id) => write!(f, "git {}", id.get(..9).unwrap_or(id)),
            Self::File => f.write_str("file"),
            Self::Rollback => f.write_str("rollback"),
        }
    }
}

/// A file that a rollback changes. `None` means no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, from the root.
    pub file: String,
    /// Its content now.
    pub now: Option<Vec<u8>>,
    /// Its content then.
    pub then: Option<Vec<u8>>,
    /// The source of that.
    pub from: StateSource,
}

/// A file that a rollback leaves as it is, since its earlier state is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownState {
    /// The file, from the root.
    pub file: String,
    /// The reason.
    pub why: &'static str,
}

/// The changes of a rollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollbackPlan {
    /// The time whose state comes back, to the second.
    pub to: String,
    /// Whether it undoes the last rollback.
    pub is_undo: bool,
    /// The files that change, by name.
    pub files: Vec<FileChange>,
    /// The files whose earlier state is not known.
    pub unknown: Vec<UnknownState>,
}

/// Error while rolling back. No file was changed, except where a [`SessionError`] of a disk says
/// otherwise: then the next process that locks the session finishes it.
#[derive(Debug, thiserror::Error)]
pub enum RollbackError {
    /// The time is yet to come.
    #[error("{to} is in the future")]
    Future {
        /// The time.
        to: String,
    },
    /// There is no rollback to undo.
    #[error("no rollback can be undone here")]
    NothingToUndo,
    /// The content that the rollback replaced is not kept any more.
    #[error("the earlier content of `{file}` is gone or damaged")]
    Lost {
        /// The file.
        file: String,
    },
    /// The files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<callosum_host::DiskError> for RollbackError {
    fn from(error: callosum_host::DiskError) -> Self {
        Self::Session(error.into())
    }
}

impl From<crate::zones::ZoneError> for RollbackError {
    fn from(error: crate::zones::ZoneError) -> Self {
        Self::Session(error.into())
    }
}

#[cfg(test)]
mod tests;
