//! Arguments and output of `callosum status`.
//!
//! The use case is [`callosum_app::status`].

mod text;

use callosum_app::delegate::UNWELL;
use callosum_app::executor_pool::Roster;
use callosum_app::mesh::MeshStatus;
use callosum_app::status::task_history::{failed, recent, unfinished};
use callosum_app::status::{ExecutorStatus, StatusOutput, TaskStatusOutput, last_cause, looked_up};
use callosum_app::{CommandError, Exit, ledger_errors, many, open_ledger, thousands};
use callosum_ledger::{LedgerVersion, Reader, day_ahead};
use clap::Args;
use serde_json::Value;

use super::context::Context;
use super::hook_tokens;
use super::local_time::LocalTime;

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
    let ledger = match open_ledger::reader(context) {
        Ok(ledger) => Some(ledger),
        // Everything else can still be shown.
        Err(_) if open_ledger::is_gone(context) => None,
        Err(error) => return Err(error),
    };
    let roster = Roster::load(context);
    let (stats, last) = match &ledger {
        Some(ledger) => looked_up(ledger).map_err(|error| ledger_errors::unreadable(&error))?,
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
        attention.push(open_ledger::GONE.to_owned());
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
            "paused".to_owned()
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
