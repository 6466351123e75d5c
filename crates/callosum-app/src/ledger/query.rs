//! `callosum ledger query`: entries by executor, time, text and what is known of them.

use callosum_ledger::Entry;
use callosum_redact::quote;
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::ledger::filter::Filter;
use crate::ledger::show;
use crate::{CommandError, ledger_errors, open_ledger, task_prefix};

/// `callosum ledger query --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct QueryOutput {
    /// The entries as they are stored, newest first.
    pub entries: Vec<Value>,
}

/// The entries that are meant, newest first, at most so many.
pub fn entries(
    context: &Context,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Entry>, CommandError> {
    let query = filter.query(&context.clock, Some(limit))?;
    open_ledger::reader(context)?
        .query(&query)
        .map_err(|error| ledger_errors::unreadable(&error))
}

/// The entry of a task, wherever it is.
pub fn entry_of(context: &Context, task: &str) -> Result<Entry, CommandError> {
    let reader = open_ledger::reader(context)?;
    let task = task_prefix::entry_id(&reader, task)?;
    Ok(show::find(context, &reader, &task)?.entry)
}

/// Returns an entry as text for an agent: what is known of it on a line, and the summary as a quote, whole or its
/// first lines.
pub fn as_text(entry: &Entry, whole: bool) -> String {
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

/// As much of a prompt as fits into a table, on one line.
pub fn first_words(prompt: &str) -> String {
    const WIDTH: usize = 40;
    let line = on_one_line(prompt);
    if line.chars().count() <= WIDTH {
        return line;
    }
    let mut cut: String = line.chars().take(WIDTH - 1).collect();
    cut.push('…');
    cut
}
