//! `callosum ledger export`: entries as lines of JSON or as a table for a spreadsheet.

use std::num::NonZeroUsize;

use callosum_ledger::Entry;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::filter::{Filter, FilterArgs};
use crate::{
    cli::{context::Context, store},
    ui::{CommandError, at_least_one},
};

/// Print entries as JSON Lines or CSV, newest first
///
/// `jsonl` prints one entry per line, as it is stored. `csv` follows RFC 4180 and has a header row.
/// A field that a spreadsheet would run as a formula starts with a '.
///
/// Every row is complete. If an entry differs from the committed one, the export ends with exit code
/// 1 after the rows before that entry.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger export > entries.jsonl
  $ callosum ledger export --format csv --since 7d > week.csv
  $ callosum ledger export --executor scout --limit 100")]
pub(crate) struct ExportArgs {
    /// Output format
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    #[command(flatten)]
    filter: FilterArgs,
    /// Print at most N entries
    #[arg(short = 'n', long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: Option<NonZeroUsize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values
    Csv,
}

/// What a row of the table has.
const COLUMNS: [&str; 13] = [
    "task_id",
    "timestamp",
    "executor",
    "kind",
    "mode",
    "priority",
    "repo",
    "branch",
    "tokens_used",
    "linked_tasks",
    "prompt",
    "summary",
    "checksum",
];

pub(super) fn run(context: &Context, args: &ExportArgs) -> Result<(), CommandError> {
    let query =
        Filter::from(&args.filter).query(&context.clock, args.limit.map(NonZeroUsize::get))?;
    let reader = store::reader(context)?;
    if let Format::Csv = args.format {
        context.ui.foreign(&row(COLUMNS))?;
    }
    let mut printed = Ok(());
    let mut text = String::new();
    let read = reader.each(&query, |entry| {
        if printed.is_ok() {
            printed = as_text(&entry, args.format).and_then(|entry| {
                text.push_str(&entry);
                if text.len() < AT_ONCE {
                    return Ok(());
                }
                context.ui.foreign(&std::mem::take(&mut text))
            });
        }
    });
    printed?;
    context.ui.foreign(&text)?;
    read.map_err(|error| store::unreadable(&error))
}

/// So many bytes are printed at once.
const AT_ONCE: usize = 64 * 1024;

fn as_text(entry: &Entry, format: Format) -> Result<String, CommandError> {
    match format {
        // A foreign entry may be spread over lines.
        Format::Jsonl => Ok(format!("{}\n", super::entry::as_value(entry)?)),
        Format::Csv => Ok(row(fields(entry))),
    }
}

fn fields(entry: &Entry) -> [String; COLUMNS.len()] {
    let known = |key: &str| match entry.metadata.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let links: Vec<&str> = entry.linked_tasks.iter().map(AsRef::as_ref).collect();
    [
        entry.task_id.to_string(),
        entry.timestamp.to_string(),
        entry.executor.clone(),
        known("kind"),
        known("mode"),
        known("priority"),
        known("repo"),
        known("branch"),
        entry.tokens_used.to_string(),
        links.join(" "),
        known("prompt"),
        entry.summary.clone(),
        entry.checksum.to_string(),
    ]
}

/// A line of RFC 4180.
fn row<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    let fields: Vec<String> = fields
        .into_iter()
        .map(|text| field(text.as_ref()))
        .collect();
    fields.join(",") + "\r\n"
}

/// A field, quoted where it must be, and never a formula.
///
/// Spreadsheets skip blanks before a formula, read signs of full width as the usual ones, and in many countries end a
/// field at a semicolon.
fn field(text: &str) -> String {
    const STARTS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let is_formula = text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(STARTS);
    let guarded = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if guarded.contains(['"', ',', ';', '\t', '\r', '\n']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SEC-1: what an executor wrote is never run by a spreadsheet.
    #[test]
    fn fields_are_quoted_and_never_formulas() {
        assert_eq!(row(["a", "b c", ""]), "a,b c,\r\n");
        assert_eq!(field("say \"hi\", now\n"), "\"say \"\"hi\"\", now\n\"");
        assert_eq!(field("=1+2"), "'=1+2");
        assert_eq!(field("-x,\"y\""), "\"'-x,\"\"y\"\"\"");
        assert_eq!(field("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(field(" \u{a0}=1+2"), "' \u{a0}=1+2");
        assert_eq!(field("＝1"), "'＝1");
        assert_eq!(field("\n=1"), "\"'\n=1\"");
        assert_eq!(field("a;=1"), "\"a;=1\"");
        assert_eq!(field("a - b = c"), "a - b = c");
    }
}
