//! `callosum bead list`: every bead, whether it can be worked on or not.

use schemars::JsonSchema;
use serde::Serialize;

/// `callosum bead list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BeadListOutput {
    /// The beads, by id.
    pub beads: Vec<ListedBeadOutput>,
    /// Files that were not understood.
    pub unread: Vec<String>,
}

/// A bead.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ListedBeadOutput {
    /// Its id.
    pub id: String,
    /// Priority: 0 comes first.
    pub priority: i64,
    /// Its status.
    pub status: String,
    /// Title of the task.
    pub title: String,
    /// The beads that it needs and that are not closed.
    pub blocked_by: Vec<String>,
}
