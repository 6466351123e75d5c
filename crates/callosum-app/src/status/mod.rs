//! Collects the state of ledger, executors, last tasks, mesh and health.

pub mod task_history;

use callosum_ledger::{Entry, Query, ReadError, Reader, Stats};
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::hook_tokens::HookTokens;
use crate::mesh::MeshStatus;

/// Number of the last tasks, and of the last failures, that are shown.
pub const LAST: usize = 5;

/// Characters of a prompt or a message that are shown.
const SHOWN: usize = 60;

/// `callosum status --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StatusOutput {
    /// The folder that keeps the project's state.
    pub root: String,
    /// The tree that is read; another one in a linked git worktree.
    pub tree: String,
    /// Whether the project was initialized.
    pub initialized: bool,
    /// Entries, archives included.
    pub entries: u64,
    /// Bytes of the active ledger.
    pub ledger_bytes: u64,
    /// The version that the ledger says it has.
    pub ledger_version: Option<String>,
    /// The executors and how they stand.
    pub executors: Vec<ExecutorStatus>,
    /// Executor for tasks that name none; null if no executor is available.
    pub next_executor: Option<String>,
    /// Tasks that have begun and not ended, newest first: at work, or left by a run that was killed.
    pub unfinished: Vec<UnfinishedOutput>,
    /// The last tasks, newest first.
    pub last_tasks: Vec<TaskStatusOutput>,
    /// Tasks that failed for good lately, newest first.
    pub last_failures: Vec<FailureOutput>,
    /// Pending items of agents on this machine; null if there is no mesh, or it cannot be read.
    pub mesh: Option<MeshStatus>,
    /// Tokens that hooks added to the contexts of models in this project, by client.
    pub hook_tokens: Vec<HookTokens>,
    /// `ok`, or `attention` where something needs it.
    pub health: String,
    /// Items that need attention; empty when all is well.
    pub attention: Vec<String>,
}

/// State of an executor.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExecutorStatus {
    /// Its name.
    pub id: String,
    /// `active`, `inactive`, `disabled`, `not trusted`, or `paused` while its circuit is open.
    pub standing: String,
}

/// A task that has begun and has no record of its end.
#[derive(Debug, JsonSchema, Serialize)]
pub struct UnfinishedOutput {
    /// Its id.
    pub task_id: String,
    /// When something of it was recorded last.
    pub timestamp: String,
    /// Age of that record, in seconds.
    pub age_seconds: u64,
    /// State by that record, in the journal's word: `spawned`, `waiting` and the like.
    pub state: String,
    /// Executor.
    pub executor: Option<String>,
    /// Prompt.
    pub prompt: Option<String>,
}

/// A committed task.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TaskStatusOutput {
    /// Its id.
    pub task_id: String,
    /// When it was finished.
    pub timestamp: String,
    /// Executor.
    pub executor: String,
    /// Prompt.
    pub prompt: Option<String>,
}

/// A task that failed for good, or was refused before it had an id.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FailureOutput {
    /// Its id, where it had one.
    pub task_id: Option<String>,
    /// When.
    pub timestamp: String,
    /// Intended executor, if known.
    pub executor: Option<String>,
    /// The seed's code, where it has one.
    pub code: Option<String>,
    /// Message of the failure.
    pub message: Option<String>,
}

/// Returns the cause of an executor's last failure, in brackets, if the last failures have it.
pub fn last_cause(failures: &[FailureOutput], executor: &str) -> String {
    let mut its = failures
        .iter()
        .filter(|failure| failure.executor.as_deref() == Some(executor));
    let coded = its.find_map(|failure| failure.code.as_ref().zip(failure.message.as_ref()));
    coded.map_or_else(String::new, |(code, message)| {
        format!(" (last {code}: {})", shown(Some(message)))
    })
}

/// Returns the ledger's counts and its last entries.
pub fn looked_up(ledger: &Reader) -> Result<(Stats, Vec<Entry>), ReadError> {
    let last = Query {
        limit: Some(LAST),
        ..Query::default()
    };
    Ok((ledger.stats()?, ledger.query(&last)?))
}

/// The beginning of foreign words, for a table.
pub fn shown(words: Option<&str>) -> String {
    on_one_line(words.unwrap_or("-"))
        .chars()
        .take(SHOWN)
        .collect()
}
