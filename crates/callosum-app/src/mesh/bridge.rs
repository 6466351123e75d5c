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
    /// Number of edits that were applied.
    pub edits: usize,
    /// Edits that were not applied.
    pub conflicts: Vec<ConflictOutput>,
    /// Files that were no JSON.
    pub rejected: Vec<RejectedOutput>,
    /// Files in the folder for additions that are never imported.
    pub ignored: Vec<LeftAloneOutput>,
}

/// Something that was not taken over.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ConflictOutput {
    /// Author.
    pub by: String,
    /// The list, and the item's id or place.
    pub item: String,
    /// Reason.
    pub reason: String,
    /// The file that keeps what was written; null where something was taken out.
    pub backup_path: Option<String>,
}

/// A file that was no JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RejectedOutput {
    /// The file.
    pub path: String,
    /// File that has its bytes.
    pub backup_path: String,
    /// Fault, with line and column.
    pub reason: String,
}

/// Something that is never taken over.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LeftAloneOutput {
    /// Path.
    pub path: String,
    /// Reason.
    pub reason: String,
}
