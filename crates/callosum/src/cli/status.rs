//! `callosum status`: ledger, executors, last tasks and health in one look.

use std::fmt::Write as _;

use callosum_evidence::terminal::on_one_line;
use callosum_ledger::{Entry, Query, ReadError, Reader, Stats};
use clap::Args;
use owo_colors::OwoColorize as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{context::Context, roster::Roster, store};
use crate::ui::{CommandError, Table, many};

/// How many of the last tasks are shown.
const LAST: usize = 5;

/// Show ledger, executors, last tasks and health in one look
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum status
  $ callosum status --json")]
pub(crate) struct StatusArgs {}

/// `callosum status --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct StatusOutput {
    /// The folder that keeps the project's state.
    pub(crate) root: String,
    /// The tree that is read; another one in a linked git worktree.
    pub(crate) tree: String,
    /// Whether the project was initialised.
    pub(crate) initialised: bool,
    /// Entries, archives included.
    pub(crate) entries: u64,
    /// Bytes of the active ledger.
    pub(crate) ledger_bytes: u64,
    /// The version that the ledger says it has.
    pub(crate) ledger_version: Option<String>,
    /// The executors and how they stand.
    pub(crate) executors: Vec<ExecutorStatus>,
    /// Who gets a task that names nobody; `nobody` where all are disabled.
    pub(crate) next_executor: String,
    /// The last tasks, newest first.
    pub(crate) last_tasks: Vec<TaskStatusOutput>,
    /// What needs attention; empty when all is well.
    pub(crate) attention: Vec<String>,
}

/// How an executor stands.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ExecutorStatus {
    /// Its name.
    pub(crate) id: String,
    /// `active`, `inactive`, `disabled`, `not trusted`, or `left alone` while its circuit is open.
    pub(crate) standing: String,
}

/// A committed task.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct TaskStatusOutput {
    /// Its id.
    pub(crate) task_id: String,
    /// When it was finished.
    pub(crate) timestamp: String,
    /// Who did it.
    pub(crate) executor: String,
    /// What was asked.
    pub(crate) prompt: Option<String>,
}

pub(super) fn run(context: &Context, _args: &StatusArgs) -> Result<(), CommandError> {
    let output = gather(context)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.data(&as_text(&output))
}

fn gather(context: &Context) -> Result<StatusOutput, CommandError> {
    let ledger = match store::reader(context) {
        Ok(ledger) => Some(ledger),
        // Everything else can still be shown.
        Err(_) if store::is_gone(context) => None,
        Err(error) => return Err(error),
    };
    let roster = Roster::load(context)?;
    let (stats, last) = match &ledger {
        Some(ledger) => looked_up(ledger).map_err(|error| store::unreadable(&error))?,
        None => Default::default(),
    };
    let version = ledger.as_ref().and_then(Reader::version);
    let mut attention: Vec<String> = context
        .project
        .settings
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    if ledger.is_none() {
        attention.push(store::GONE.to_owned());
    }
    let mut executors = Vec::new();
    for executor in roster.registry().executors() {
        let standing = if !roster.is_trusted(executor) {
            attention.push(format!(
                "executor {} waits for `callosum trust`",
                executor.id
            ));
            "not trusted".to_owned()
        } else if !roster.preference(&executor.id).enabled.value {
            "disabled".to_owned()
        } else if let Some(left) = roster.left_alone(&executor.id) {
            attention.push(format!(
                "executor {} failed again and again, and is left alone for {} s more",
                executor.id,
                left.as_secs().max(1)
            ));
            "left alone".to_owned()
        } else {
            executor.status.to_string()
        };
        executors.push(ExecutorStatus {
            id: executor.id.clone(),
            standing,
        });
    }
    for waiting in &context.project.waiting {
        attention.push(format!(
            ".calrc `{}` waits for `callosum trust`",
            waiting.key.name()
        ));
    }
    let last_tasks = last
        .iter()
        .map(|entry| TaskStatusOutput {
            task_id: entry.task_id.to_string(),
            timestamp: entry.timestamp.to_string(),
            executor: entry.executor.clone(),
            prompt: entry
                .metadata
                .get("prompt")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
        .collect();
    Ok(StatusOutput {
        root: context.state().display().to_string(),
        tree: context.tree().display().to_string(),
        initialised: ledger.is_none() || version.is_some(),
        entries: stats.entries,
        ledger_bytes: stats.ledger_bytes,
        ledger_version: version.map(|version| version.to_string()),
        executors,
        next_executor: roster
            .ready_candidates()
            .into_iter()
            .find(|id| roster.usable(id).is_ok())
            .unwrap_or_else(|| "nobody".to_owned()),
        last_tasks,
        attention,
    })
}

/// How much there is, and the last of it.
fn looked_up(ledger: &Reader) -> Result<(Stats, Vec<Entry>), ReadError> {
    let last = Query {
        limit: Some(LAST),
        ..Query::default()
    };
    Ok((ledger.stats()?, ledger.query(&last)?))
}

fn as_text(output: &StatusOutput) -> String {
    let mut text = format!("{} {}\n", "root     ".dimmed(), output.root);
    if output.tree != output.root {
        let _ = writeln!(text, "{} {}", "tree     ".dimmed(), output.tree);
    }
    match &output.ledger_version {
        Some(version) => {
            let _ = writeln!(
                text,
                "{} {}, {}, version {version}",
                "ledger   ".dimmed(),
                many(output.entries, "entry"),
                many(output.ledger_bytes, "byte")
            );
        }
        None if output.initialised => {
            let _ = writeln!(text, "{} gone", "ledger   ".dimmed());
        }
        None => {
            let _ = writeln!(
                text,
                "{} none yet: the first `callosum delegate` begins it",
                "ledger   ".dimmed()
            );
        }
    }
    let executors: Vec<String> = output
        .executors
        .iter()
        .map(|executor| {
            let standing = match executor.standing.as_str() {
                "active" => executor.standing.green().to_string(),
                "inactive" | "not trusted" => executor.standing.yellow().to_string(),
                _ => executor.standing.dimmed().to_string(),
            };
            format!("{} ({standing})", executor.id)
        })
        .collect();
    let _ = writeln!(text, "{} {}", "executors".dimmed(), executors.join(", "));
    let _ = writeln!(text, "{} {}", "next task".dimmed(), output.next_executor);
    if !output.last_tasks.is_empty() {
        let mut table = Table::new(&["task", "time", "executor", "prompt"]);
        for task in &output.last_tasks {
            let prompt = task.prompt.as_deref().unwrap_or("-");
            let first: String = on_one_line(prompt).chars().take(60).collect();
            table.row([
                task.task_id.clone(),
                task.timestamp.clone(),
                task.executor.clone(),
                first,
            ]);
        }
        text.push('\n');
        text.push_str(&table.render());
    }
    for line in &output.attention {
        let _ = writeln!(text, "{}: {line}", "attention".yellow().bold());
    }
    text
}
