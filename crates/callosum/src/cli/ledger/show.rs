//! `callosum ledger show`: one entry, from the active ledger or an archive.

use callosum_ledger::{Found, Reader, TaskId};
use clap::Args;

use super::entry;
use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Exit},
};

/// Print one entry
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger show cal_2026_01_02_0001
  $ callosum ledger show cal_2026_01_02_0001 --json")]
pub(crate) struct ShowArgs {
    /// The task whose result it is
    #[arg(value_name = "TASK_ID")]
    task: TaskId,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let found = find(&store::reader(context)?, &args.task)?;
    if context.ui.json {
        context.ui.json_data(&entry::as_value(&found.entry)?)
    } else {
        context.ui.data(&entry::heading(&found))?;
        context
            .ui
            .foreign(&format!("{}\n", found.entry.summary.trim_end()))
    }
}

/// A task's entry, wherever it is.
pub(super) fn find(reader: &Reader, task: &TaskId) -> Result<Found, CommandError> {
    let found = reader
        .find(task)
        .map_err(|error| store::unreadable(&error))?;
    found.ok_or_else(|| {
        let what = format!("no entry `{task}` in the ledger or its archives");
        CommandError::new(Exit::No, what).hint("callosum ledger query")
    })
}
