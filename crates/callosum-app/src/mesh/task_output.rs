//! A task as it is printed: as JSON ([`MeshTaskOutput`]), on a line, or whole.

use std::fmt::Write as _;

use callosum_intent::graph::{Graph, Link};
use callosum_mesh::board::{Board, OutputOutcome, OutputReceipt, Task};
use callosum_mesh::route::{CATEGORY, REASSIGNED};
use callosum_redact::terminal_escape::on_one_line;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::intent::link::{WorkingForOutput, intents_of};

/// Most characters of a prompt in a list.
const MOST_SHOWN: usize = 80;

/// `callosum mesh task list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MeshTasksOutput {
    /// The tasks, the most urgent first.
    pub tasks: Vec<MeshTaskOutput>,
}

/// A task, as `callosum mesh task show|add|assign|claim|done|write --json` print it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MeshTaskOutput {
    /// Its id.
    pub id: String,
    /// Agent that it is assigned to; null if any agent may claim it.
    pub assigned_to: Option<String>,
    /// `pending`, `in_progress`, `complete` or `cancelled`.
    pub status: String,
    /// Priority: the smallest number comes first.
    pub priority: i64,
    /// Prompt of the task.
    pub prompt: String,
    /// Category of the task, given by its author.
    pub category: Option<String>,
    /// The reason why it went to another agent than the first of its category; null if it did not.
    pub reassigned: Option<String>,
    /// File that the result is to be written to.
    pub output_file: Option<String>,
    /// Author.
    pub created_by: String,
    /// Person and machine, such as `ana@laptop`, if it came from another machine.
    pub created_on: Option<String>,
    /// When.
    pub created_at: String,
    /// When it was done.
    pub completed_at: Option<String>,
    /// The folder that it is about.
    pub cwd: Option<String>,
    /// Tasks that are to be complete before and are not.
    pub blocked_by: Vec<String>,
    /// Those of them that were taken back and will never be complete: it cannot be begun.
    pub unsatisfiable_needs: Vec<String>,
    /// Agent that works on it.
    pub claimed_by: Option<String>,
    /// Person and machine, if an agent on another machine has it.
    pub claimed_on: Option<String>,
    /// In which session of theirs, as the client names it.
    pub claimed_session: Option<String>,
    /// When the claim ends.
    pub claimed_until: Option<String>,
    /// The claim's number: the later of two claims of a task has the larger one.
    pub token: Option<u64>,
    /// Whether other machines see it, so that the fleet's server decides about claims.
    pub shared: bool,
    /// Result.
    pub result: Option<String>,
    /// The receipt for the output file; null until the result was written or refused.
    pub output: Option<OutputReceiptOutput>,
    /// The intents of this project that it works for.
    pub intents: Vec<WorkingForOutput>,
}

/// The receipt for the output file of a task.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OutputReceiptOutput {
    /// `written` or `refused`.
    pub outcome: String,
    /// The file, with every link resolved if that was possible.
    pub path: String,
    /// Size of the file in bytes, if it was written.
    pub bytes: Option<u64>,
    /// SHA-256 of the file, if it was written.
    pub sha256: Option<String>,
    /// The reason of a refusal.
    pub reason: Option<String>,
    /// The time.
    pub at: Option<String>,
}

impl OutputReceiptOutput {
    fn of(receipt: &OutputReceipt) -> Self {
        let is_written = receipt.outcome == OutputOutcome::Written;
        Self {
            outcome: receipt.outcome.as_str().to_owned(),
            path: receipt.path.clone(),
            bytes: receipt.bytes,
            sha256: receipt.sha256.clone().filter(|_| is_written),
            reason: receipt.reason.clone(),
            at: receipt.at.map(|at| at.to_string()),
        }
    }

    /// Returns the receipt on one line.
    pub fn line(&self) -> String {
        let size = self.bytes.map_or_else(String::new, |bytes| {
            let unit = if bytes == 1 { "byte" } else { "bytes" };
            format!("{bytes} {unit} ")
        });
        let path = on_one_line(&self.path);
        match &self.reason {
            None => format!("written: {size}to {path}"),
            Some(reason) => format!("not written: {}", on_one_line(reason)),
        }
    }
}

impl MeshTaskOutput {
    /// Returns what is printed about a task; its intents are those of `graph`.
    pub fn of(board: &Board, task: &Task, graph: &Graph, now: Timestamp) -> Self {
        // If nothing may be written, expired claims have not been released yet.
        let claim = task.claim_at(now);
        let text = |key: &str| task.other.get(key)?.as_str().map(str::to_owned);
        Self {
            id: task.id.clone(),
            assigned_to: task.assigned_to.as_ref().map(ToString::to_string),
            status: task.status_at(now).as_str().to_owned(),
            priority: task.priority,
            prompt: task.prompt.clone(),
            category: text(CATEGORY),
            reassigned: text(REASSIGNED),
            output_file: task.output_file.clone(),
            created_by: task.created_by.to_string(),
            created_on: task.machine.clone(),
            created_at: task.created_at.to_string(),
            completed_at: task.completed_at.clone(),
            cwd: task.cwd.clone(),
            blocked_by: board.waits_for(task).map(str::to_owned).collect(),
            unsatisfiable_needs: board.gone_needs(task).map(str::to_owned).collect(),
            claimed_by: claim.map(|claim| claim.by.to_string()),
            claimed_on: claim.and_then(|claim| claim.machine.clone()),
            claimed_session: claim.and_then(|claim| claim.session_id.clone()),
            claimed_until: claim.map(|claim| claim.until.to_string()),
            token: claim.map(|claim| claim.token),
            shared: task.is_shared,
            result: task.result.clone(),
            output: task
                .output
                .as_ref()
                .filter(|receipt| !receipt.is_stale)
                .map(OutputReceiptOutput::of),
            intents: intents_of(graph, &Link::task(&task.id)),
        }
    }
}

/// A task on a line.
pub fn line(task: &MeshTaskOutput) -> String {
    let prompt = on_one_line(&task.prompt);
    let mut shown: String = prompt.chars().take(MOST_SHOWN).collect();
    if shown.len() < prompt.len() {
        shown.push('…');
    }
    let mut line = format!("{} P{} {}", task.id, task.priority, task.status);
    if let Some(by) = &task.claimed_by {
        let _ = write!(line, " by {by}");
        if let Some(on) = &task.claimed_on {
            let _ = write!(line, " on {on}");
        }
    } else if let Some(to) = &task.assigned_to {
        let _ = write!(line, " for {to}");
    }
    let _ = write!(line, ": {shown}");
    if !task.blocked_by.is_empty() {
        let _ = write!(line, " (waits for {}", task.blocked_by.join(", "));
        if !task.unsatisfiable_needs.is_empty() {
            let gone = task.unsatisfiable_needs.join(", ");
            let _ = write!(line, "; {gone} canceled, will never complete");
        }
        line.push(')');
    }
    line.push('\n');
    line
}
