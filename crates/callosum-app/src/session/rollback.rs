//! `callosum session rollback`: brings back notes, beads and trajectories as they were at a time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use callosum_redact::terminal_escape::harmless;
use callosum_session::notes::Notes;
use callosum_session::rollback::{FileChange, RollbackError, RollbackPlan};
use schemars::JsonSchema;
use serde::Serialize;

use crate::session::explain;
use crate::{CommandError, Exit, many};

/// Most decisions that are listed of a file.
const MOST_LISTED: usize = 20;

/// `callosum session rollback --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RollbackOutput {
    /// The time whose state comes back, in UTC.
    pub to: String,
    /// Whether this undoes the last rollback.
    pub is_undo: bool,
    /// Whether the files were changed; otherwise this is what would change.
    pub applied: bool,
    /// The files that change.
    pub files: Vec<RolledBackOutput>,
    /// The files whose earlier state is not known, which stay as they are.
    pub unknown: Vec<UnknownOutput>,
}

/// A file that a rollback changes.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RolledBackOutput {
    /// The file, from the root.
    pub file: String,
    /// `changed`, `removed` or `restored`.
    pub change: &'static str,
    /// Source of the earlier state: `versions`, `git ID`, `file` or `rollback`.
    pub from: String,
    /// Lines that come back.
    pub lines_added: usize,
    /// Lines that go.
    pub lines_removed: usize,
    /// Decisions of the notes that come back: time and title.
    pub decisions_added: Vec<String>,
    /// Decisions of the notes that go.
    pub decisions_removed: Vec<String>,
}

/// A file whose earlier state is not known.
#[derive(Debug, JsonSchema, Serialize)]
pub struct UnknownOutput {
    /// The file, from the root.
    pub file: String,
    /// The reason.
    pub why: String,
}

impl RollbackOutput {
    /// Describes a rollback.
    pub fn of(plan: &RollbackPlan, applied: bool) -> Self {
        let unknown = plan.unknown.iter().map(|unknown| UnknownOutput {
            file: unknown.file.clone(),
            why: unknown.why.to_owned(),
        });
        Self {
            to: plan.to.clone(),
            is_undo: plan.is_undo,
            applied,
            files: plan.files.iter().map(RolledBackOutput::of).collect(),
            unknown: unknown.collect(),
        }
    }

    /// Returns the lines that a person reads.
    pub fn text(&self) -> String {
        let files = self.files.iter().map(RolledBackOutput::text);
        let mut text: String = files.collect();
        for unknown in &self.unknown {
            let _ = writeln!(text, "{}: unknown, stays ({})", unknown.file, unknown.why);
        }
        harmless(&text)
    }

    /// Returns the end of a question, or of what was done: `3 files to 2026-01-02T03:04:05Z`.
    pub fn summary(&self) -> String {
        let files = many(self.files.len() as u64, "file");
        if self.is_undo {
            format!(
                "{files} to what they were before the rollback to {}",
                self.to
            )
        } else {
            format!("{files} to {}", self.to)
        }
    }
}

impl RolledBackOutput {
    fn of(change: &FileChange) -> Self {
        let lines = |bytes: &Option<Vec<u8>>| {
            let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()).into_owned();
            text.lines().map(str::to_owned).collect::<Vec<String>>()
        };
        let (now, then) = (lines(&change.now), lines(&change.then));
        let decisions = |bytes: &Option<Vec<u8>>| {
            let is_notes = change.file.ends_with("NOTES.md");
            let bytes = bytes.clone().filter(|_| is_notes).unwrap_or_default();
            let decisions = Notes::read(bytes).decisions().into_iter();
            let named = decisions.map(|one| format!("{} {}", one.ts, one.title));
            named.collect::<Vec<String>>()
        };
        let (known, wanted) = (decisions(&change.now), decisions(&change.then));
        Self {
            file: change.file.clone(),
            change: match (&change.now, &change.then) {
                (None, _) => "restored",
                (_, None) => "removed",
                _ => "changed",
            },
            from: change.from.to_string(),
            lines_added: missing(&then, &now).len(),
            lines_removed: missing(&now, &then).len(),
            decisions_added: missing(&wanted, &known),
            decisions_removed: missing(&known, &wanted),
        }
    }

    fn text(&self) -> String {
        let counts = match (self.lines_added, self.lines_removed) {
            (0, removed) => format!("-{removed}"),
            (added, 0) => format!("+{added}"),
            (added, removed) => format!("+{added} -{removed}"),
        };
        let from = match self.from.as_str() {
            "file" => String::new(),
            from => format!(", from {from}"),
        };
        let mut text = format!("{}: {} ({counts}){from}\n", self.file, self.change);
        let goes = self.decisions_removed.iter().map(|title| ('-', title));
        let comes = self.decisions_added.iter().map(|title| ('+', title));
        let all: Vec<(char, &String)> = goes.chain(comes).collect();
        for (mark, title) in all.iter().take(MOST_LISTED) {
            let _ = writeln!(text, "  {mark} {title}");
        }
        if all.len() > MOST_LISTED {
            let _ = writeln!(text, "  … {} more", all.len() - MOST_LISTED);
        }
        text
    }
}

/// Returns those of one list that another does not have, in their order.
fn missing(of: &[String], other: &[String]) -> Vec<String> {
    let other: BTreeSet<&String> = other.iter().collect();
    of.iter()
        .filter(|one| !other.contains(one))
        .cloned()
        .collect()
}

/// Explains why nothing was rolled back.
pub fn not_rolled_back(error: &RollbackError) -> CommandError {
    match error {
        RollbackError::Session(error) => explain(error),
        RollbackError::Future { .. } => CommandError::from_error(Exit::Usage, error)
            .hint("name a time in the past: callosum session rollback 30m"),
        RollbackError::NothingToUndo => CommandError::from_error(Exit::No, error)
            .hint("go back to a time: callosum session rollback 30m"),
        RollbackError::Lost { .. } => CommandError::from_error(Exit::No, error)
            .hint("go back to a time instead: callosum session rollback 30m"),
    }
}
