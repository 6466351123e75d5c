//! JSON output of `callosum undo`.

use callosum_client::undo::{Call, Entry, FilePlan, FileState, Step};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum undo --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct UndoOutput {
    /// The turn or undo that is undone.
    pub id: String,
    /// The client whose calls they are, such as `claude`.
    pub agent: String,
    /// Its session.
    pub session: Option<String>,
    /// Number of calls that are undone.
    pub calls: usize,
    /// Every file that they changed, in the order of paths.
    pub files: Vec<FileOutput>,
    /// Number of other files that they changed without a record.
    pub not_recorded: usize,
    /// The id of this undo, by which it can be undone; null if nothing was written.
    pub undo: Option<String>,
    /// The lines that would change, as a unified diff; null without `--dry-run`.
    pub patch: Option<String>,
}

/// A file, and what becomes of it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FileOutput {
    /// The file, as seen from the top of the tree.
    pub path: String,
    /// `restore`, `create` (it does not exist now), `remove` (it did not exist before), `same` (nothing is to be done),
    /// `conflict` (someone else changed it, so it is left), `unverified` (someone else may have changed it, so it is left
    /// unless a person agrees), `not-kept` (its earlier content is not known) or `failed`.
    pub change: String,
    /// Reason why it is left, or is to be checked.
    pub reason: Option<String>,
}

/// `callosum undo --list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct UndoListOutput {
    /// The newest first.
    pub entries: Vec<EntryOutput>,
}

/// A turn of a session, or an undo.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EntryOutput {
    /// By which it can be undone.
    pub id: String,
    /// `turn` or `undo`.
    pub kind: String,
    /// When its last call began, in UTC.
    pub at: String,
    /// The client, such as `claude`.
    pub agent: String,
    /// Its session.
    pub session: Option<String>,
    /// Number of recorded calls.
    pub calls: usize,
    /// The files that they changed.
    pub files: Vec<String>,
    /// Files whose earlier content was not kept.
    pub not_kept: Vec<NotKeptOutput>,
    /// Whether it was undone.
    pub is_undone: bool,
    /// Its last call, in words.
    pub label: String,
}

/// A file whose earlier content was not kept.
#[derive(Debug, JsonSchema, Serialize)]
pub struct NotKeptOutput {
    /// The file.
    pub path: String,
    /// Reason.
    pub reason: String,
}

impl FileOutput {
    /// `is_done` says whether the file is written.
    pub fn of(plan: &FilePlan, is_done: bool) -> Self {
        let change = match (&plan.step, &plan.before, &plan.now) {
            (Step::Same, ..) => "same",
            (Step::NotKept(_), ..) => "not-kept",
            (Step::Conflict(_), ..) if !is_done => "conflict",
            (Step::Unverified, ..) if !is_done => "unverified",
            (_, FileState::Absent, _) => "remove",
            (_, _, FileState::Absent) => "create",
            _ => "restore",
        };
        let reason = match &plan.step {
            Step::Conflict(reason) | Step::NotKept(reason) => Some(reason.clone()),
            Step::Unverified => Some("someone else may have changed it since".to_owned()),
            Step::Restore | Step::Same => None,
        };
        Self {
            path: plan.path.clone(),
            change: change.to_owned(),
            reason,
        }
    }
}

impl EntryOutput {
    /// Returns what is printed about an entry.
    pub fn of(entry: &Entry, calls: &[&Call]) -> Self {
        let mut files: Vec<String> = Vec::new();
        let mut not_kept: Vec<NotKeptOutput> = Vec::new();
        for call in calls {
            for touch in &call.touches {
                if !files.contains(&touch.path) {
                    files.push(touch.path.clone());
                    if let FileState::Unknown { reason } = &touch.before {
                        not_kept.push(NotKeptOutput {
                            path: touch.path.clone(),
                            reason: reason.clone(),
                        });
                    }
                }
            }
        }
        files.sort();
        let last = calls.last();
        let label = last.map(|call| match &call.tool {
            Some(tool) => format!("{tool} {}", call.label),
            None => call.label.clone(),
        });
        Self {
            id: entry.id.clone(),
            kind: if entry.is_undo { "undo" } else { "turn" }.to_owned(),
            at: last.map(|call| call.at.to_string()).unwrap_or_default(),
            agent: last.map(|call| call.agent.clone()).unwrap_or_default(),
            session: last.and_then(|call| call.session.clone()),
            calls: calls.len(),
            files,
            not_kept,
            is_undone: entry.is_undone,
            label: label.unwrap_or_default(),
        }
    }
}
