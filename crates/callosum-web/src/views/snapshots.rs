//! The view *Snapshots*: snapshots of the tree and changes of agents, each with a preview before anything is restored.

use std::{fmt::Write as _, thread};

use askama::Template;
use serde::{Deserialize, Serialize};

use super::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    diff::Diff,
    form::{BadForm, Form},
    listing::{Listing, escaped},
    visit::Visit,
};

/// Most snapshots that are listed.
const MOST: &str = "500";

/// Changes of agents that are listed.
const MOST_UNDO: usize = 50;

/// Label of a snapshot that a restore takes before it, up to the id of the restored one.
const BEFORE: &str = "before restoring ";

/// `snapshot list --json`, as far as it is shown.
#[derive(Deserialize)]
struct List {
    snapshots: Vec<Snapshot>,
}

#[derive(Deserialize, Serialize)]
struct Snapshot {
    #[serde(rename = "snapshot_id")]
    id: String,
    label: String,
    timestamp: String,
    branch: Option<String>,
    git_commit: Option<String>,
    #[serde(default)]
    dirty_files: Vec<String>,
    #[serde(default)]
    linked_errors: Vec<String>,
    size_bytes: u64,
    checkpoint: bool,
}

impl Snapshot {
    fn short(&self) -> &str {
        short(&self.id)
    }

    /// The snapshot whose restore this one undoes.
    fn undoes(&self) -> Option<&str> {
        self.label.strip_prefix(BEFORE)
    }

    fn size(&self) -> String {
        bytes(self.size_bytes)
    }

    fn is_kept(&self) -> bool {
        self.checkpoint || !self.linked_errors.is_empty()
    }
}

/// Returns the beginning of an id, as commands print it.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Returns a size as people read it.
fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

/// `undo --list --json`, as far as it is shown.
#[derive(Deserialize)]
struct Undoable {
    entries: Vec<Entry>,
}

/// A turn of an agent, or an undo.
#[derive(Deserialize, Serialize)]
struct Entry {
    id: String,
    kind: String,
    at: String,
    agent: String,
    session: Option<String>,
    calls: u64,
    #[serde(default)]
    files: Vec<String>,
    is_undone: bool,
    label: String,
}

impl Entry {
    fn key(&self) -> String {
        escaped(&self.id)
    }

    /// Names some of its files, and counts the others.
    fn names(&self, most: usize) -> String {
        let first: Vec<&str> = self.files.iter().take(most).map(String::as_str).collect();
        let mut words = first.join(", ");
        if self.files.len() > most {
            let _ = write!(words, " and {} more", self.files.len() - most);
        }
        words
    }
}

/// A change of a file, and why it may be left out.
#[derive(Deserialize, Serialize)]
struct FileChange {
    path: String,
    change: String,
    reason: Option<String>,
}

impl FileChange {
    fn tone(&self) -> &'static str {
        match self.change.as_str() {
            "create" | "rewrite" | "restore" => "busy",
            "remove" | "replace" => "wait",
            "refuse" | "conflict" | "unverified" | "not-kept" | "failed" => "bad",
            _ => "idle",
        }
    }

    /// The change in words.
    fn words(&self) -> &str {
        match self.change.as_str() {
            "leave" => "stays: not in the snapshot",
            "refuse" => "cannot be restored",
            "same" => "unchanged",
            "conflict" => "changed by someone else",
            "unverified" => "may have been changed by someone else",
            "not-kept" => "earlier content unknown",
            change => change,
        }
    }

    fn is_written(&self) -> bool {
        matches!(
            self.change.as_str(),
            "create" | "rewrite" | "replace" | "remove" | "restore"
        )
    }

    /// Whether `undo --force` restores it.
    fn needs_force(&self) -> bool {
        matches!(self.change.as_str(), "conflict" | "unverified")
    }
}

/// `snapshot diff --json`, as far as it is shown.
#[derive(Deserialize)]
struct Restore {
    snapshot_id: String,
    changes: Vec<FileChange>,
    #[serde(default)]
    snapshot_missing: Missing,
    patch: Option<String>,
}

/// Files that a snapshot does not contain.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Missing {
    ignored_count: u64,
    repositories: Vec<String>,
    too_large: Vec<String>,
    named: Vec<String>,
}

/// `undo --dry-run --json`, as far as it is shown.
#[derive(Deserialize)]
struct UndoPreview {
    id: String,
    agent: String,
    session: Option<String>,
    calls: u64,
    files: Vec<FileChange>,
    not_recorded: u64,
    patch: Option<String>,
}

#[derive(Serialize, Template)]
#[template(path = "snapshots.html")]
struct SnapshotsView {
    #[serde(skip)]
    base: String,
    snapshots: Listing<Snapshot>,
    entries: Vec<Entry>,
    entries_left: usize,
}

/// The preview of a restore.
#[derive(Serialize, Template)]
#[template(path = "snapshot_restore.html")]
struct RestoreView {
    #[serde(skip)]
    base: String,
    id: String,
    snapshot: Option<Snapshot>,
    changes: Vec<FileChange>,
    written: usize,
    missing: Missing,
    patch: Diff,
    diff_line: String,
    restore_line: String,
}

/// The preview of an undo.
#[derive(Serialize, Template)]
#[template(path = "snapshot_undo.html")]
struct UndoView {
    #[serde(skip)]
    base: String,
    id: String,
    agent: String,
    session: String,
    calls: u64,
    not_recorded: u64,
    changes: Vec<FileChange>,
    written: usize,
    needs_force: bool,
    patch: Diff,
    preview_line: String,
    undo_line: String,
}

fn list_command() -> Command {
    Command::new(&["snapshot", "list", "-n", MOST])
}

fn restore(id: &str) -> Command {
    Command::new(&["snapshot", "restore", "--yes"]).values([id])
}

fn undo(id: &str, is_forced: bool) -> Command {
    let command = Command::new(&["undo", "--yes"]);
    let command = if is_forced {
        command.arg("--force")
    } else {
        command
    };
    command.values([id])
}

/// Shows the view.
pub(crate) fn show(visit: &Visit) -> Result<Answer, CommandFailure> {
    if let Some(id) = visit.param("id") {
        return preview(visit, id);
    }
    if let Some(id) = visit.param("undo") {
        return undo_preview(visit, id);
    }
    let (list, undoable) = thread::scope(|scope| {
        let undoable =
            scope.spawn(|| visit.ask_or_report::<Undoable>(&Command::new(&["undo", "--list"])));
        let list = visit.ask_or_report::<List>(&list_command());
        (list, undoable.join().ok().flatten())
    });
    let mut entries = undoable.map_or(Vec::new(), |found| found.entries);
    let entries_left = entries.len().saturating_sub(MOST_UNDO);
    entries.truncate(MOST_UNDO);
    let snapshots = list.map_or(Vec::new(), |list| list.snapshots);
    Answer::of(&SnapshotsView {
        base: visit.href("snapshots"),
        snapshots: Listing::new(visit, snapshots, |snapshot| {
            let branch = snapshot.branch.as_deref().unwrap_or_default();
            format!("{} {} {branch}", snapshot.id, snapshot.label)
        }),
        entries,
        entries_left,
    })
}

fn preview(visit: &Visit, id: &str) -> Result<Answer, CommandFailure> {
    let command = Command::new(&["snapshot", "diff", "--patch"]).values([id]);
    let (found, list) = thread::scope(|scope| {
        let list = scope.spawn(|| visit.ask_or_report::<List>(&list_command()));
        let found = visit.ask::<Restore>(&command);
        (found, list.join().ok().flatten())
    });
    let found = found?;
    let snapshots = list.map_or(Vec::new(), |list| list.snapshots);
    let snapshot = snapshots
        .into_iter()
        .find(|snapshot| snapshot.id == found.snapshot_id);
    Answer::of(&RestoreView {
        base: visit.href("snapshots"),
        restore_line: restore(&found.snapshot_id).line(),
        id: found.snapshot_id,
        snapshot,
        written: found
            .changes
            .iter()
            .filter(|change| change.is_written())
            .count(),
        changes: found.changes,
        missing: found.snapshot_missing,
        patch: Diff::new(&found.patch.unwrap_or_default()),
        diff_line: command.line(),
    })
}

fn undo_preview(visit: &Visit, id: &str) -> Result<Answer, CommandFailure> {
    let command = Command::new(&["undo", "--dry-run"]).values([id]);
    let found: UndoPreview = visit.ask(&command)?;
    Answer::of(&UndoView {
        base: visit.href("snapshots"),
        undo_line: undo(&found.id, false).line(),
        id: found.id,
        agent: found.agent,
        session: found.session.unwrap_or_default(),
        calls: found.calls,
        not_recorded: found.not_recorded,
        // A dry run marks the files that it leaves, and no others.
        written: found
            .files
            .iter()
            .filter(|change| change.is_written())
            .count(),
        needs_force: found.files.iter().any(FileChange::needs_force),
        changes: found.files,
        patch: Diff::new(&found.patch.unwrap_or_default()),
        preview_line: command.line(),
    })
}

/// Returns the command that a form means.
pub(crate) fn act(action: &str, form: &Form) -> Result<Command, BadForm> {
    match action {
        "create" => {
            let command = Command::new(&["snapshot", "create"]);
            let command = match form.optional("checkpoint")? {
                Some(_) => command.arg("--checkpoint"),
                None => command,
            };
            Ok(match form.optional("label")? {
                Some(label) => command.values([label]),
                None => command,
            })
        }
        "restore" => Ok(restore(form.required("id")?)),
        "undo" => Ok(undo(form.required("id")?, false)),
        "undo-force" => Ok(undo(form.required("id")?, true)),
        _ => Err(BadForm::Action(action.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::test_site::{HOSTILE, TestSite, arguments, assert_harmless};

    fn list() -> Value {
        let snapshot = |id: &str, label: &str| {
            json!({
                "snapshot_id": id, "label": label, "timestamp": "2026-01-02T09:00:00Z", "branch": "main", "git_commit": "c0ffee",
                "dirty_files": ["a"], "linked_errors": [], "size_bytes": 2_500_000, "checkpoint": id.starts_with('b'),
                "snapshot_missing": {"ignored": [], "ignored_count": 0, "repositories": [], "too_large": [], "named": []},
                "only": [], "also": [],
            })
        };
        let first = snapshot("aaaaaaaa-1", "before restoring bbbbbbbb-2");
        json!({"snapshots": [first, snapshot("bbbbbbbb-2", HOSTILE)], "total": 2})
    }

    fn undoable() -> Value {
        json!({"entries": [
            {"id": "3f2a91c4", "kind": "turn", "at": "2026-01-02T09:00:00Z", "agent": "claude", "session": "s", "calls": 2,
             "files": ["a", "b", "c", "d"], "not_kept": [], "is_undone": false, "label": HOSTILE},
        ]})
    }

    #[test]
    fn snapshots_and_changes_of_agents_are_listed() {
        let site = TestSite::new(&[("snapshot list", list()), ("undo --list", undoable())]);
        let html = site.html("snapshots", &[]);
        assert_harmless(&html);
        for part in [
            "snapshots?id=aaaaaaaa-1",
            "Undoes the restore of <a href",
            "snapshots?undo=3f2a91c4",
            "a, b, c and 1 more",
            "2 MB",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let (json, faults) = site.json("snapshots", &[("q", "main RESTORING")]);
        assert_eq!(
            (json["snapshots"]["total"].as_u64(), faults.len()),
            (Some(1), 0)
        );
    }

    #[test]
    fn a_restore_is_previewed_with_its_lines() {
        let diff = json!({
            "snapshot_id": "bbbbbbbb-2", "before": null,
            "changes": [{"path": HOSTILE, "change": "rewrite"}, {"path": "new", "change": "leave"}],
            "snapshot_missing": {"ignored": [], "ignored_count": 3, "repositories": ["sub"], "too_large": [], "named": []},
            "patch": format!("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+{HOSTILE}\n"),
        });
        let site = TestSite::new(&[("snapshot diff", diff), ("snapshot list", list())]);
        let html = site.html("snapshots", &[("id", "--bb")]);
        assert_harmless(&html);
        for part in [
            "Restore 1 file",
            "data-confirm",
            "class=\"del\"",
            "stays: not in the snapshot",
            "3 ignored",
            "name=\"id\" value=\"bbbbbbbb-2\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let lines = site.lines();
        assert!(
            lines.contains(&"snapshot diff --patch -- --bb".to_owned()),
            "{lines:?}"
        );
        assert!(
            !lines
                .iter()
                .any(|line| line.starts_with("snapshot restore")),
            "{lines:?}"
        );
    }

    #[test]
    fn an_undo_is_previewed_by_a_dry_run() {
        let preview = json!({
            "id": "3f2a91c4", "agent": "claude", "session": null, "calls": 2, "not_recorded": 0, "undo": null,
            "files": [
                {"path": HOSTILE, "change": "restore", "reason": null}, {"path": "b", "change": "conflict", "reason": "newer"},
            ],
            "patch": "@@ -1 +1 @@\n-a\n+b\n",
        });
        let site = TestSite::new(&[("undo --dry-run", preview)]);
        let html = site.html("snapshots", &[("undo", "3f")]);
        assert_harmless(&html);
        assert!(html.contains("snapshots/undo-force"), "{html}");
        assert!(html.contains("changed by someone else"), "{html}");
        assert_eq!(site.lines(), ["undo --dry-run -- 3f"]);
    }

    #[test]
    fn forms_of_snapshots_run_fixed_commands() {
        assert_eq!(
            arguments("snapshots", "create", &[("label", " ")]).unwrap(),
            ["snapshot", "create"]
        );
        assert_eq!(
            arguments(
                "snapshots",
                "create",
                &[("label", "--only=/\nx"), ("checkpoint", "on")]
            )
            .unwrap(),
            ["snapshot", "create", "--checkpoint", "--", "--only=/\nx"]
        );
        let id = [("id", "--force")];
        assert_eq!(
            arguments("snapshots", "restore", &id).unwrap(),
            ["snapshot", "restore", "--yes", "--", "--force"]
        );
        assert_eq!(
            arguments("snapshots", "undo", &id).unwrap(),
            ["undo", "--yes", "--", "--force"]
        );
        assert_eq!(
            arguments("snapshots", "undo-force", &id).unwrap(),
            ["undo", "--yes", "--force", "--", "--force"]
        );
        // Without an id, `undo` would take the last turn.
        assert_eq!(
            arguments("snapshots", "undo", &[]),
            Err(BadForm::Missing("id"))
        );
        assert!(arguments("snapshots", "clean", &id).is_err());
    }

    #[test]
    fn sizes_are_read_by_people() {
        let sizes = [
            (999, "999 B"),
            (1_000, "1 kB"),
            (2_500_000, "2 MB"),
            (1_250_000_000, "1.2 GB"),
        ];
        for (size, words) in sizes {
            assert_eq!(bytes(size), words);
        }
    }
}
