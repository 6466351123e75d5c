//! `callosum ledger query`: entries by executor, time, text and what is known of them.

use callosum_ledger::Query;
use clap::Args;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::entry;
use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Table},
};

/// List entries, newest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger query
  $ callosum ledger query --executor scout --limit 3 --json
  $ callosum ledger query --since 2026-01-01T00:00:00Z --text parser")]
pub(crate) struct QueryArgs {
    /// Only results of this executor
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Only results from this time on (ISO 8601, UTC)
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Only results up to this time (ISO 8601, UTC)
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Only results whose summary or prompt has these words, in any case
    #[arg(long, value_name = "WORDS")]
    text: Option<String>,
    /// Only results of tasks that ran in this mode
    #[arg(long)]
    mode: Option<String>,
    /// Only results about this repository
    #[arg(long)]
    repo: Option<String>,
    /// Only results about this branch
    #[arg(long)]
    branch: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// `callosum ledger query --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct QueryOutput {
    /// The entries as they are stored, newest first.
    pub(crate) entries: Vec<Value>,
}

pub(super) fn run(context: &Context, args: &QueryArgs) -> Result<(), CommandError> {
    let query = Query {
        executor: args.executor.clone(),
        since: args.since,
        until: args.until,
        text: args.text.clone(),
        mode: args.mode.clone(),
        repo: args.repo.clone(),
        branch: args.branch.clone(),
        limit: Some(args.limit),
    };
    let found = store::reader(context)?
        .query(&query)
        .map_err(|error| store::unreadable(&error))?;
    if context.ui.json {
        let entries = found
            .iter()
            .map(entry::as_value)
            .collect::<Result<_, _>>()?;
        return context.ui.json_data(&QueryOutput { entries });
    }
    if found.is_empty() {
        context.ui.say("no entry matches");
        return Ok(());
    }
    let mut table = Table::new(&[
        "task", "time", "executor", "kind", "mode", "tokens", "prompt",
    ]);
    for entry in &found {
        let known = |key: &str| {
            entry
                .metadata
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or("-")
        };
        table.row([
            entry.task_id.to_string(),
            entry.timestamp.to_string(),
            entry.executor.clone(),
            known("kind").to_owned(),
            known("mode").to_owned(),
            entry.tokens_used.to_string(),
            first_words(known("prompt")),
        ]);
    }
    context.ui.data(&table.render())
}

/// As much of a prompt as fits into a table, on one line.
fn first_words(prompt: &str) -> String {
    const WIDTH: usize = 40;
    let line: String = prompt.escape_debug().collect();
    if line.chars().count() <= WIDTH {
        return line;
    }
    let mut cut: String = line.chars().take(WIDTH - 1).collect();
    cut.push('…');
    cut
}
