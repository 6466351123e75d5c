//! Arguments and output of `callosum ledger export`.
//!
//! The use case is [`callosum_app::ledger::export`].

use std::num::NonZeroUsize;

use callosum_app::ledger::export::{AT_ONCE, COLUMNS, fields, row};
use callosum_app::ledger::filter::Filter;
use callosum_app::{CommandError, ledger_errors, open_ledger};
use callosum_ledger::Entry;
use clap::{Args, ValueEnum};

use super::filter::FilterArgs;
use crate::cli::context::Context;
use crate::ui::at_least_one;

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

pub(super) fn run(context: &Context, args: &ExportArgs) -> Result<(), CommandError> {
    let query =
        Filter::from(&args.filter).query(&context.clock, args.limit.map(NonZeroUsize::get))?;
    let reader = open_ledger::reader(context)?;
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
    read.map_err(|error| ledger_errors::unreadable(&error))
}

fn as_text(entry: &Entry, format: Format) -> Result<String, CommandError> {
    match format {
        // A foreign entry may be spread over lines.
        Format::Jsonl => Ok(format!(
            "{}\n",
            callosum_app::ledger::entry::as_value(entry)?
        )),
        Format::Csv => Ok(row(fields(entry))),
    }
}
