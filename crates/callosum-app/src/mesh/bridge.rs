//! `callosum mesh bridge`: the file that everybody may edit, brought in line.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

/// The file counts as finished after this time without a write.
pub const QUIET: Duration = Duration::from_millis(500);

/// Maximum time to wait for a writer that never stops.
pub const MOST: Duration = Duration::from_secs(5);

/// `callosum mesh bridge --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BridgeOutput {
    /// The file.
    pub path: String,
    /// The folder for additions, which other programs cannot overwrite.
    pub drop_ins: String,
    /// How many edits were taken over.
    pub edits: usize,
    /// What was not.
    pub conflicts: Vec<ConflictOutput>,
    /// Files that were no JSON.
    pub rejected: Vec<RejectedOutput>,
    /// Files in the folder for additions that are never imported.
    pub ignored: Vec<LeftAloneOutput>,
}

/// Something that was not taken over.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConflictOutput {
    /// Who wrote it.
    pub by: String,
    /// The list, and the item's id or place.
    pub item: String,
    /// Why.
    pub reason: String,
    /// The file that keeps what was written; null where something was taken out.
    pub backup_path: Option<String>,
}

/// A file that was no JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RejectedOutput {
    /// The file.
    pub path: String,
    /// Where its bytes are kept.
    pub backup_path: String,
    /// What is wrong, with line and column.
    pub reason: String,
}

/// Something that is never taken over.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LeftAloneOutput {
    /// Where it is.
    pub path: String,
    /// Why.
    pub reason: String,
}
