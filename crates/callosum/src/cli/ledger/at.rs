//! Arguments and output of `callosum ledger at`.
//!
//! The use case is [`callosum_app::ledger::at`].

use std::path::PathBuf;

use callosum_app::ledger::at::explain;
use callosum_app::ledger::entry;
use callosum_app::time_arg::TimeArg;
use callosum_app::{CommandError, Exit, many};
use callosum_ledger::past;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::query;
use crate::cli::context::Context;
use crate::ui::List;

/// Show the ledger as it was at a time, rebuilt from the audit journal
///
/// Lists all entries that existed at that time, archived ones too. Entries of archives that are
/// older than the journal are not listed; `callosum ledger query` has them. Changes nothing.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger at 2026-01-02
  $ callosum ledger at 2h --json
  $ callosum ledger at 2026-01-02T03:04:05Z --output then.json")]
pub(crate) struct AtArgs {
    /// Time: a date (its end), a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(value_name = "TIME", value_parser = TimeArg::read)]
    time: TimeArg,
    /// Write the ledger file that was active then to FILE, which must not exist
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// `callosum ledger at --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct AtOutput<'l> {
    /// The time, in UTC.
    pub(crate) time: String,
    /// Records that the audit journal had.
    pub(crate) records: u64,
    /// Archives that there were.
    pub(crate) archives: u64,
    /// Entries that they had and the journal has too.
    pub(crate) archived_entries: u64,
    /// Entries of archives that are older than the journal; they are not among `entries`.
    pub(crate) adopted_entries: u64,
    /// The entries of then, those of the archives too, newest first.
    #[schemars(with = "Vec<Value>")]
    pub(crate) entries: List<'l>,
}

pub(super) fn run(context: &Context, args: &AtArgs) -> Result<(), CommandError> {
    let now = context.clock.now();
    let (first, time) = (args.time.first(now), args.time.last(now));
    if first > now {
        let what = format!("{first} is in the future");
        return Err(CommandError::new(Exit::Usage, what));
    }
    let progress = context.report.progress("reading the audit journal");
    let then =
        past(&context.disk, &context.ledger_paths(), time).map_err(|error| explain(&error))?;
    drop(progress);
    if let Some(output) = &args.output {
        let path = context.folder.join(output);
        if !then.write_ledger(&path).map_err(|error| explain(&error))? {
            let what = format!("`{}` already exists", output.display());
            return Err(CommandError::new(Exit::Usage, what));
        }
    }
    let (active, archived) = (then.active(), then.archived());
    if context.ui.json {
        let entries = then.newest_first().map(|entry| {
            let entry = entry.map_err(|error| explain(&error))?;
            entry::as_value(&entry)
        });
        return context.ui.json_data(&AtOutput {
            time: time.to_string(),
            records: then.records,
            archives: then.archives,
            archived_entries: archived as u64,
            adopted_entries: then.adopted_entries,
            entries: List::new(entries),
        });
    }
    context.report.say(&format!(
        "{} at {time}, and {archived} in {}",
        many(active as u64, "entry"),
        many(then.archives, "archive")
    ));
    if then.adopted_entries > 0 {
        context.report.say(&format!(
            "{} more in archives that are older than the journal: see `callosum ledger query`",
            many(then.adopted_entries, "entry")
        ));
    }
    if args.output.is_some() || active + archived == 0 {
        return Ok(());
    }
    let mut table = query::Rows::new();
    for entry in then.newest_first() {
        table.push(&entry.map_err(|error| explain(&error))?);
    }
    context.ui.data(&table.render())
}
