//! [`Edit`]: one thing that somebody did to the file; and [`Conflict`], what could not be taken over.

use jiff::Timestamp;

use crate::{agent::AgentName, board::Order};

/// One thing that somebody did to the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What it comes to.
    pub order: Order,
    /// Who did it, as far as the file says.
    pub by: AgentName,
    /// When, where the item says.
    pub at: Option<Timestamp>,
}

/// Something in the file that is not taken over. The file's bytes are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Who wrote it, as far as the file says.
    pub by: AgentName,
    /// Where: `task_queue`, and the item's id or its place in the list.
    pub item: String,
    /// Why.
    pub reason: String,
}

/// What was found in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merged {
    /// What is taken over, in this order.
    pub edits: Vec<Edit>,
    /// What is not.
    pub conflicts: Vec<Conflict>,
}
