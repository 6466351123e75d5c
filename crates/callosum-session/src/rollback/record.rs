//! [`RollbackRecord`]: a rollback, as it is written down before any file changes, and kept after it.
//!
//! `.session/rollback.json` is one that has begun. The next process that locks the session finishes
//! it. `.session/rollbacks.jsonl` has the last ones, which can be undone.

use std::path::Path;

use callosum_host::{Disk, DiskError};
use serde::{Deserialize, Serialize};

/// Format version.
pub(super) const FORMAT: u32 = 1;

/// The rollback that has begun.
pub(crate) const PENDING: &str = "rollback.json";

/// Rollbacks that are done, oldest first.
pub(crate) const DONE: &str = "rollbacks.jsonl";

/// Most rollbacks that are kept.
const MOST: usize = 20;

/// A rollback, or the undoing of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RollbackRecord {
    pub(super) format: u32,
    /// When it was done, to the second.
    pub(super) ts: String,
    /// The agent that did it.
    pub(super) agent: String,
    /// The time whose state came back.
    pub(super) to: String,
    /// Whether it undoes the rollback before it.
    pub(super) is_undo: bool,
    pub(super) files: Vec<RolledFile>,
}

/// A file of a rollback. Contents are named by checksums in the versions; `None` means no
/// file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RolledFile {
    /// The file, from the root.
    pub(super) file: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// As git's last commit had it then.
    pub(super) head: Option<String>,
}

/// Returns the rollback that has begun and not ended; `None` if there is none.
pub(super) fn pending(disk: &Disk, own: &Path) -> Result<Option<RollbackRecord>, DiskError> {
    let bytes = disk.read_if_there(&own.join(PENDING))?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Returns the rollbacks that are done, oldest first. A line that is none is ignored.
pub(super) fn records(disk: &Disk, own: &Path) -> Result<Vec<RollbackRecord>, DiskError> {
    let bytes = disk.read_if_there(&own.join(DONE))?.unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// Adds a rollback that is done, once, and forgets the oldest.
pub(super) fn add(disk: &Disk, own: &Path, record: &RollbackRecord) -> Result<(), DiskError> {
    let mut all = records(disk, own)?;
    if all.last() != Some(record) {
        all.push(record.clone());
    }
    let forgotten = all.len().saturating_sub(MOST);
    let mut bytes = Vec::new();
    for record in &all[forgotten..] {
        bytes.extend(serde_json::to_vec(record).unwrap_or_default());
        bytes.push(b'\n');
    }
    disk.replace(&own.join(DONE), &bytes, 0o644)
}
