//! [`Edit`]: one thing that somebody did to the file; and [`Conflict`], what could not be taken over.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::{agent::AgentName, board::Command};

/// Something as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrote {
    /// The key at the file's top.
    pub key: String,
    /// What stands there: an item of a list, or the key's own value.
    pub value: Value,
}

/// One thing that somebody did to the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What it comes to.
    pub order: Command,
    /// Who did it, as far as the file says.
    pub by: AgentName,
    /// When, where the item says.
    pub at: Option<Timestamp>,
    /// What they wrote; `None` where they took something out.
    pub wrote: Option<Wrote>,
}

/// Something in the file that is not taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who wrote it, as far as the file says: `unknown` where it does not.
    pub by: AgentName,
    /// Where: `task_queue`, and the item's id or its place in the list.
    pub item: String,
    /// Why.
    pub reason: String,
    /// What they wrote; `None` where they took something out, or where it is taken over but for what it was to mean.
    pub wrote: Option<Wrote>,
    /// The file in which that is kept, in the bridge's own form.
    pub kept: Option<PathBuf>,
}

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// What is taken over, in this order.
    pub edits: Vec<Edit>,
    /// What is not.
    pub conflicts: Vec<Conflict>,
}

/// Whoever does not say who they are.
pub(super) fn nobody() -> AgentName {
    "unknown".parse().expect("it is a name")
}
