//! [`Edit`]: one change that someone made to the file; and [`Conflict`]: one that could not be applied.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::{agent::AgentName, board::Command};

/// Text as it is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrote {
    /// The key at the file's top.
    pub key: String,
    /// Value in the file: an item of a list, or the key's own value.
    pub value: Value,
}

/// One change that someone made to the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// Command for the change.
    pub order: Command,
    /// Author, as far as the file names one.
    pub by: AgentName,
    /// When, where the item says.
    pub at: Option<Timestamp>,
    /// Text that they wrote. `None` if they removed something.
    pub wrote: Option<Wrote>,
}

/// Something in the file that is not taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Author, as far as the file names one; else `unknown`.
    pub by: AgentName,
    /// Position: `task_queue`, and the item's id or its place in the list.
    pub item: String,
    /// Reason.
    pub reason: String,
    /// Text that they wrote. `None` if they removed something, or if the text is stored but one of
    /// its keys has no effect.
    pub wrote: Option<Wrote>,
    /// The file in which that is kept, in the bridge's own form.
    pub kept: Option<PathBuf>,
}

/// Changes that were found in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// Changes to apply, in this order.
    pub edits: Vec<Edit>,
    /// Changes that cannot be applied.
    pub conflicts: Vec<Conflict>,
}

/// Returns the name of an unidentified author.
pub(super) fn unidentified() -> AgentName {
    "unknown".parse().expect("it is a name")
}
