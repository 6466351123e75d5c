//! JSON output of `callosum snapshot`.

use callosum_snapshot::{Changes, NotCovered, Snapshot};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum snapshot create --json`, and each of `callosum snapshot list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SnapshotOutput {
    /// A UUID.
    pub snapshot_id: String,
    /// Purpose.
    pub label: String,
    /// When it was taken, in UTC.
    pub timestamp: String,
    /// The commit that was checked out.
    pub git_commit: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// Files that differ from the commit.
    pub dirty_files: Vec<String>,
    /// Errors for which it is kept.
    pub linked_errors: Vec<String>,
    /// Bytes of the files that were read for it.
    pub size_bytes: u64,
    /// Whether it is kept regardless of its age.
    pub checkpoint: bool,
    /// Files that it does not contain.
    pub snapshot_missing: NotCoveredOutput,
    /// The files, folders and patterns that alone it holds; nothing where it is of the tree.
    pub only: Vec<String>,
    /// The files, folders and patterns that it holds besides the tree, though they are ignored.
    pub also: Vec<String>,
}

/// Files that a snapshot does not contain.
#[derive(Debug, JsonSchema, Serialize)]
pub struct NotCoveredOutput {
    /// Ignored files and folders, the first hundred of them.
    pub ignored: Vec<String>,
    /// Number of files.
    pub ignored_count: usize,
    /// Submodules, and repositories inside of the tree.
    pub repositories: Vec<String>,
    /// Files over the size cap.
    pub too_large: Vec<String>,
    /// Of what was named for it to hold, what it does not.
    pub named: Vec<String>,
}

/// `callosum snapshot list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SnapshotsOutput {
    /// The newest first.
    pub snapshots: Vec<SnapshotOutput>,
    /// Total number, shown or not.
    pub total: usize,
}

/// `callosum snapshot diff --json` and `callosum snapshot restore --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RestoreOutput {
    /// The snapshot.
    pub snapshot_id: String,
    /// The snapshot of the tree as it was before, where files were put back.
    pub before: Option<String>,
    /// Every file that is not as it was.
    pub changes: Vec<ChangeOutput>,
    /// Files that the snapshot does not contain, and that a restore does not bring back.
    pub snapshot_missing: NotCoveredOutput,
    /// The lines that would change, as a unified diff; null without `--patch`.
    pub patch: Option<String>,
}

/// Change of a file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ChangeOutput {
    /// The file.
    pub path: String,
    /// `create`, `rewrite`, `leave` (the snapshot does not hold it), `replace` (it does not hold it, and it is in the
    /// place of a folder), `remove` (going back has made it,
    /// and it is as it was made) or `refuse` (the file there could not be restored).
    pub change: String,
}

/// `callosum snapshot clean --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CleanOutput {
    /// The ids of the snapshots that went.
    pub removed: Vec<String>,
    /// Bytes that the rest takes.
    pub bytes: u64,
}

impl SnapshotOutput {
    /// Returns what is printed about a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        Self {
            snapshot_id: snapshot.snapshot_id.clone(),
            label: snapshot.label.clone(),
            timestamp: snapshot.timestamp.to_string(),
            git_commit: snapshot.git_commit.clone(),
            branch: snapshot.branch.clone(),
            dirty_files: snapshot.dirty_files.clone(),
            linked_errors: snapshot.linked_errors.clone(),
            size_bytes: snapshot.size_bytes,
            checkpoint: snapshot.checkpoint,
            snapshot_missing: NotCoveredOutput::of(&snapshot.not_covered),
            only: snapshot.only.clone(),
            also: snapshot.also.clone(),
        }
    }
}

impl NotCoveredOutput {
    fn of(lacks: &NotCovered) -> Self {
        let large = lacks.too_large.iter();
        Self {
            ignored: lacks.ignored.clone(),
            ignored_count: lacks.ignored_count,
            repositories: lacks.repositories.clone(),
            too_large: large.map(|large| large.path.clone()).collect(),
            named: lacks.named.clone(),
        }
    }
}

impl RestoreOutput {
    /// Returns what is printed about a snapshot.
    pub fn of(snapshot: &Snapshot, before: Option<String>, changes: &Changes) -> Self {
        let changes = changes.0.iter().map(|change| ChangeOutput {
            path: change.path.display().to_string(),
            change: change.kind.as_str().to_owned(),
        });
        Self {
            snapshot_id: snapshot.snapshot_id.clone(),
            before,
            changes: changes.collect(),
            snapshot_missing: NotCoveredOutput::of(&snapshot.not_covered),
            patch: None,
        }
    }
}
