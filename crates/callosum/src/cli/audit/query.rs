//! `callosum audit query`: records by task, executor, kind and time.

use std::ops::ControlFlow;

use callosum_app::time_arg::TimeArg;
use callosum_app::{CommandError, task_prefix};
use callosum_ledger::{AuditQuery, Event};
use clap::Args;

use super::record;
use crate::cli::context::Context;

/// Print matching records of the audit journal, oldest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit query --event commit
  $ callosum audit query --task cal_2026_01_02_0001 --json")]
pub(crate) struct QueryArgs {
    /// Only records about this task: its id or a unique prefix
    #[arg(long, value_name = "TASK_ID")]
    task: Option<String>,
    /// Only records about this executor
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Only records of this kind: spawn, state, commit, error, retry, …
    #[arg(long)]
    event: Option<Event>,
    /// Only records since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    since: Option<TimeArg>,
    /// Only records until TIME, in the same formats
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    until: Option<TimeArg>,
    /// Print at most N records
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000)]
    limit: usize,
}

pub(super) fn run(context: &Context, args: &QueryArgs) -> Result<(), CommandError> {
    let now = context.clock.now();
    let task = args.task.as_deref();
    let task = task.map(|text| task_prefix::journal_id(context, text));
    let query = AuditQuery {
        task_id: task.transpose()?,
        executor: args.executor.clone(),
        event: args.event,
        since: args.since.map(|since| since.first(now)),
        until: args.until.map(|until| until.last(now)),
    };
    let reader = callosum_app::audit::record::reader(context);
    let mut records = Vec::new();
    if args.limit > 0 {
        reader
            .query(&query, |found| {
                records.push(found);
                if records.len() < args.limit {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })
            .map_err(|error| callosum_app::audit::record::unreadable(&error))?;
    }
    callosum_app::audit::record::tell_unreadable(context, &reader);
    record::print(context, &records)
}
