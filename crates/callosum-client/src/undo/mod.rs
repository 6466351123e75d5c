//! Agents' changes, call by call, so that `callosum undo` can revert them.
//!
//! The hook writes [`Line`]s into the [`UndoLog`] of a tree: one before a tool writes files or a
//! command runs for which a snapshot is taken, and one after it. [`History`] reads them again,
//! [`plan`] decides what becomes of each file, and [`restore`] writes. `open_call` links the two
//! hooks of one call, and knows the turn of a session. The format is in `docs/formats/undo.md`.

mod file_state;
mod history;
mod log;
mod open_call;
mod plan;
mod restore;

pub use self::{
    file_state::{FileState, observe},
    history::{Call, Entry, History, Touch},
    log::{AfterLine, CallLine, FileLine, Line, UndoLine, UndoLog},
    open_call::{OpenCall, OpenCalls, Turns},
    plan::{FilePlan, Step, plan},
    restore::restore,
};

use callosum_guard::takes_in;

/// Largest file that is kept before a file tool writes over it, in bytes.
pub const LARGEST: u64 = 8 * 1024 * 1024;

/// Returns whether one of these names, which may be folders or patterns, takes in the file.
pub fn are_about(names: &[String], file: &str) -> bool {
    names.iter().any(|name| takes_in(name, file))
}
