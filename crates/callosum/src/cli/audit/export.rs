//! `callosum audit export`: the whole journal as JSON Lines.

use std::ops::ControlFlow;

use callosum_app::CommandError;
use callosum_app::audit::record::{reader, tell_unreadable, unreadable};
use callosum_app::time_arg::TimeArg;
use callosum_ledger::AuditQuery;
use clap::Args;

use crate::cli::context::Context;

/// Bytes that are printed at once.
const AT_ONCE: usize = 64 * 1024;

/// Print the audit journal as JSON Lines, oldest first
///
/// Each line is a whole record, with the hashes of its chain, so that others can check and replay it. The form of a record
/// is published as docs/schemas/audit-record.schema.json.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit export > journal.jsonl
  $ callosum audit export --since 7d --until 2026-01-02")]
pub(crate) struct ExportArgs {
    /// Only records since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    since: Option<TimeArg>,
    /// Only records until TIME, in the same formats
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    until: Option<TimeArg>,
}

pub(super) fn run(context: &Context, args: &ExportArgs) -> Result<(), CommandError> {
    let now = context.clock.now();
    let query = AuditQuery {
        since: args.since.map(|since| since.first(now)),
        until: args.until.map(|until| until.last(now)),
        ..AuditQuery::default()
    };
    let reader = reader(context);
    let mut printed = Ok(());
    let mut text = String::new();
    let read = reader.query(&query, |record| {
        let line = serde_json::to_string(&record).map_err(CommandError::internal);
        printed = line.and_then(|line| {
            text.push_str(&line);
            text.push('\n');
            if text.len() < AT_ONCE {
                return Ok(());
            }
            context.ui.foreign(&std::mem::take(&mut text))
        });
        if printed.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    printed?;
    context.ui.foreign(&text)?;
    read.map_err(|error| unreadable(&error))?;
    tell_unreadable(context, &reader);
    Ok(())
}
