//! `callosum status`: ledger, executors, last tasks, mesh and health in one look. [`text`] prints it.

mod recent;
mod text;

use callosum_evidence::terminal::on_one_line;
use callosum_ledger::{Entry, LedgerVersion, Query, ReadError, Reader, Stats, day_ahead};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::recent::{failed, recent, unfinished};
use super::{
    context::Context,
    delegate::UNWELL,
    hook_tokens::{self, HookTokens},
    local_time::LocalTime,
    mesh::MeshStatus,
    roster::Roster,
    store,
};
use crate::ui::{CommandError, Exit, many, thousands};

/// How many of the last tasks, and of the last failures, are shown.
const LAST: usize = 5;

/// How much of a prompt or a message is shown, in letters.
const SHOWN: usize = 60;

/// Show ledger, executors, last tasks and health at a glance
///
/// Prints at most eight lines, problems first. -v adds tables of unfinished, finished and failed
/// tasks.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum status
  $ callosum status -v
  $ callosum status --json")]
pub(crate) struct StatusArgs {}

/// `callosum status --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct StatusOutput {
    /// The folder that keeps the project's state.
    pub(crate) root: String,
    /// The tree that is read; another one in a linked git worktree.
    pub(crate) tree: String,
    /// Whether the project was initialized.
    pub(crate) initialized: bool,
    /// Entries, archives included.
    pub(crate) entries: u64,
    /// Bytes of the active ledger.
    pub(crate) ledger_bytes: u64,
    /// The version that the ledger says it has.
    pub(crate) ledger_version: Option<String>,
    /// The executors and how they stand.
    pub(crate) executors: Vec<ExecutorStatus>,
    /// Executor for tasks that name none; null if no executor is available.
    pub(crate) next_executor: Option<String>,
    /// Tasks that have begun and not ended, newest first: at work, or left by a run that was killed.
    pub(crate) unfinished: Vec<UnfinishedOutput>,
    /// The last tasks, newest first.
    pub(crate) last_tasks: Vec<TaskStatusOutput>,
    /// What failed lately for good, newest first.
    pub(crate) last_failures: Vec<FailureOutput>,
    /// What agents on this machine have left for one another; null where there is no mesh, or it cannot be read.
    pub(crate) mesh: Option<MeshStatus>,
    /// What hooks added to the contexts of models in this project, by client.
    pub(crate) hook_tokens: Vec<HookTokens>,
    /// `ok`, or `attention` where something needs it.
    pub(crate) health: String,
    /// What needs attention; empty when all is well.
    pub(crate) attention: Vec<String>,
}

/// State of an executor.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ExecutorStatus {
    /// Its name.
    pub(crate) id: String,
    /// `active`, `inactive`, `disabled`, `not trusted`, or `left alone` while its circuit is open.
    pub(crate) standing: String,
}

/// A task that has begun and has no record of its end.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct UnfinishedOutput {
    /// Its id.
    pub(crate) task_id: String,
    /// When something of it was recorded last.
    pub(crate) timestamp: String,
    /// How many seconds ago that was.
    pub(crate) age_seconds: u64,
    /// What that was, in the journal's word: `spawned`, `waiting` and the like.
    pub(crate) state: String,
    /// Who does it.
    pub(crate) executor: Option<String>,
    /// What was asked.
    pub(crate) prompt: Option<String>,
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

/// A task that failed for good, or was refused before it had an id.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct FailureOutput {
    /// Its id, where it had one.
    pub(crate) task_id: Option<String>,
    /// When.
    pub(crate) timestamp: String,
    /// Who was to do it, where that was known.
    pub(crate) executor: Option<String>,
    /// The seed's code, where it has one.
    pub(crate) code: Option<String>,
    /// What went wrong.
    pub(crate) message: Option<String>,
}

pub(super) fn run(context: &Context, _args: &StatusArgs) -> Result<(), CommandError> {
    let times = LocalTime::find(context);
    let output = gather(context, &times)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if context.ui.verbose {
        return context.ui.data(&text::all(&output, &times));
    }
    context.ui.data(&text::summary(&output, &times))
}

fn gather(context: &Context, times: &LocalTime) -> Result<StatusOutput, CommandError> {
    let ledger = match store::reader(context) {
        Ok(ledger) => Some(ledger),
        // Everything else can still be shown.
        Err(_) if store::is_gone(context) => None,
        Err(error) => return Err(error),
    };
    let roster = Roster::load(context);
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
    if let Some(found) = version.filter(|version| *version > LedgerVersion::OURS) {
        attention.push(format!(
            "the ledger has version {found}, which this program cannot write"
        ));
    }
    match day_ahead(&context.disk, &context.ledger_paths(), context.clock.now()) {
        Ok(ahead) => attention.extend(ahead.map(|ahead| ahead.to_string())),
        Err(error) => attention.push(error.to_string()),
    }
    let recent = recent(context).unwrap_or_else(|error| {
        attention.push(error.one_line());
        Vec::new()
    });
    let last_failures = failed(&recent);
    let mut executors = Vec::new();
    if let Err(error) = &roster {
        attention.push(error.one_line());
    }
    let roster = roster.ok();
    if let Some(roster) = &roster {
        let problems = roster.registry().problems().iter();
        attention.extend(problems.map(|problem| format!("registry.json: {problem}")));
    }
    let known = roster.iter().flat_map(|roster| {
        let executors = roster.registry().executors();
        executors.iter().map(move |executor| (roster, executor))
    });
    for (roster, executor) in known {
        let standing = if !roster.is_trusted(executor) {
            attention.push(format!(
                "executor {} is not trusted yet; callosum trust",
                executor.id
            ));
            "not trusted".to_owned()
        } else if !roster.preference(&executor.id).enabled.value {
            "disabled".to_owned()
        } else if let Some(left) = roster.left_alone(&executor.id) {
            attention.push(format!(
                "executor {id} failed repeatedly{} and is paused for {} s more; it gets no tasks until \
                 then; to check it now: callosum executor check {id}",
                last_cause(&last_failures, &executor.id),
                thousands(left.as_secs().max(1)),
                id = executor.id
            ));
            "left alone".to_owned()
        } else {
            if executor.inactive_reason() == Some(UNWELL) {
                attention.push(format!(
                    "executor {} is inactive: {UNWELL}; callosum executor check {}",
                    executor.id, executor.id
                ));
            }
            executor.status.to_string()
        };
        executors.push(ExecutorStatus {
            id: executor.id.clone(),
            standing,
        });
    }
    for waiting in &context.project.waiting {
        attention.push(format!(
            ".calrc `{}` is not trusted yet; callosum trust",
            waiting.key.name()
        ));
    }
    let mesh = MeshStatus::gather(context).unwrap_or_else(|error| {
        attention.push(format!("cannot read the mesh: {error}; callosum doctor"));
        None
    });
    let left_alone = mesh.as_ref().map(|mesh| mesh.ignored);
    if let Some(left) = left_alone.filter(|left| *left > 0) {
        attention.push(format!(
            "{} beside the bridge file {} never applied; callosum doctor",
            many(left, "addition"),
            if left == 1 { "is" } else { "are" },
        ));
    }
    if let Some(dead) = mesh
        .as_ref()
        .map(|mesh| mesh.own_dead_letters)
        .filter(|dead| *dead > 0)
    {
        attention.push(format!(
            "{} could not be delivered; callosum mesh message list --dead",
            many(dead, "message")
        ));
    }
    let hook_tokens = hook_tokens::gather(context, times).unwrap_or_else(|error| {
        attention.push(CommandError::from_error(Exit::No, &error).one_line());
        Vec::new()
    });
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
        initialized: ledger.is_none() || version.is_some(),
        entries: stats.entries,
        ledger_bytes: stats.ledger_bytes,
        ledger_version: version.map(|version| version.to_string()),
        executors,
        next_executor: roster
            .and_then(|roster| roster.choice().next())
            .map(|next| next.id),
        unfinished: unfinished(&recent, context.clock.now()),
        last_tasks,
        last_failures,
        mesh,
        hook_tokens,
        health: if attention.is_empty() {
            "ok".to_owned()
        } else {
            "attention".to_owned()
        },
        attention,
    })
}

/// Why an executor failed last, in brackets, as far as the last failures have it.
fn last_cause(failures: &[FailureOutput], executor: &str) -> String {
    let mut its = failures
        .iter()
        .filter(|failure| failure.executor.as_deref() == Some(executor));
    let coded = its.find_map(|failure| failure.code.as_ref().zip(failure.message.as_ref()));
    coded.map_or_else(String::new, |(code, message)| {
        format!(" (last {code}: {})", shown(Some(message)))
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

/// The beginning of foreign words, for a table.
fn shown(words: Option<&str>) -> String {
    on_one_line(words.unwrap_or("-"))
        .chars()
        .take(SHOWN)
        .collect()
}
