//! `callosum ledger query`: entries by executor, time, text and what is known of them.

use std::num::NonZeroUsize;

use callosum_evidence::{quote, terminal::on_one_line};
use callosum_ledger::Entry;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{
    entry,
    filter::{Filter, FilterArgs},
    show,
};
use crate::{
    cli::{context::Context, store, task_prefix},
    ui::{CommandError, Table, at_least_one, shown_time, thousands},
};

/// List entries, newest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger query
  $ callosum ledger query --executor scout --limit 3 --json
  $ callosum ledger query --since 7d --text parser")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Print at most N entries
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: NonZeroUsize,
}

/// `callosum ledger query --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct QueryOutput {
    /// The entries as they are stored, newest first.
    pub(crate) entries: Vec<Value>,
}

pub(super) fn run(context: &Context, args: &QueryArgs) -> Result<(), CommandError> {
    let found = entries(context, &Filter::from(&args.filter), args.limit.get())?;
    if context.ui.json {
        let entries = found
            .iter()
            .map(entry::as_value)
            .collect::<Result<_, _>>()?;
        return context.ui.json_data(&QueryOutput { entries });
    }
    if found.is_empty() {
        context.report.say("no entry matches");
        return Ok(());
    }
    let mut rows = Rows::new();
    for entry in &found {
        rows.push(entry);
    }
    context.ui.data(&rows.render())
}

/// The entries that are meant, newest first, at most so many.
pub(crate) fn entries(
    context: &Context,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Entry>, CommandError> {
    let query = filter.query(&context.clock, Some(limit))?;
    store::reader(context)?
        .query(&query)
        .map_err(|error| store::unreadable(&error))
}

/// The entry of a task, wherever it is.
pub(crate) fn entry_of(context: &Context, task: &str) -> Result<Entry, CommandError> {
    let reader = store::reader(context)?;
    let task = task_prefix::entry_id(&reader, task)?;
    Ok(show::find(context, &reader, &task)?.entry)
}

/// Returns an entry as text for an agent: what is known of it on a line, and the summary as a quote, whole or its
/// first lines.
pub(crate) fn as_text(entry: &Entry, whole: bool) -> String {
    let known = |key: &str| entry.metadata.get(key).and_then(Value::as_str);
    let prompt = quote::inline(&first_words(known("prompt").unwrap_or("-")));
    let (id, time) = (&entry.task_id, &entry.timestamp);
    let executor = quote::one_line(&entry.executor);
    let kind = quote::one_line(known("kind").unwrap_or("-"));
    let summary = entry.summary.trim_end();
    let shown = if whole {
        quote::lines(summary)
    } else {
        shortened(summary)
    };
    format!("{id}  {time}  {executor}  {kind}  {prompt}\n{shown}")
}

/// Returns the first lines of a summary as a quote.
fn shortened(summary: &str) -> String {
    const LINES: usize = 4;
    let all = summary.lines().count();
    let first: Vec<&str> = summary.lines().take(LINES).collect();
    let rest = all.saturating_sub(LINES);
    let more = if rest > 0 {
        format!("… {rest} more lines\n")
    } else {
        String::new()
    };
    format!("{}{more}", quote::lines(&first.join("\n")))
}

/// Entries as a table for a person.
pub(super) struct Rows(Table);

impl Rows {
    pub(super) fn new() -> Self {
        Self(Table::new(&[
            "task", "time", "executor", "kind", "mode", "tokens", "prompt",
        ]))
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        let known = |key: &str| {
            entry
                .metadata
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or("-")
        };
        self.0.row([
            entry.task_id.to_string(),
            shown_time(&entry.timestamp.to_string()),
            entry.executor.clone(),
            known("kind").to_owned(),
            known("mode").to_owned(),
            thousands(entry.tokens_used),
            first_words(known("prompt")),
        ]);
    }

    pub(super) fn render(&self) -> String {
        self.0.render()
    }
}

/// As much of a prompt as fits into a table, on one line.
fn first_words(prompt: &str) -> String {
    const WIDTH: usize = 40;
    let line = on_one_line(prompt);
    if line.chars().count() <= WIDTH {
        return line;
    }
    let mut cut: String = line.chars().take(WIDTH - 1).collect();
    cut.push('…');
    cut
}
