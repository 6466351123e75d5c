//! `callosum audit query`: records by task, executor, kind and time.

use std::ops::ControlFlow;

use callosum_ledger::{AuditQuery, Event, TaskId};
use clap::Args;
use jiff::Timestamp;

use super::record;
use crate::{cli::context::Context, ui::CommandError};

/// Print the records of the audit journal that are asked for, oldest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit query --event commit
  $ callosum audit query --task cal_2026_01_02_0001 --json")]
pub(crate) struct QueryArgs {
    /// Only records about this task
    #[arg(long, value_name = "TASK_ID")]
    task: Option<TaskId>,
    /// Only records about this executor
    #[arg(long, value_name = "ID")]
    executor: Option<String>,
    /// Only records of this kind: spawn, state, commit, error, retry, …
    #[arg(long)]
    event: Option<Event>,
    /// Only records from this time on (ISO 8601, UTC)
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Only records up to this time (ISO 8601, UTC)
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
}

pub(super) fn run(context: &Context, args: &QueryArgs) -> Result<(), CommandError> {
    let query = AuditQuery {
        task_id: args.task.clone(),
        executor: args.executor.clone(),
        event: args.event,
        since: args.since,
        until: args.until,
    };
    let reader = record::reader(context);
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
            .map_err(|error| record::unreadable(&error))?;
    }
    record::tell_unreadable(context, &reader);
    record::print(context, &records)
}
