//! Arguments and output of `callosum ledger show`.
//!
//! The use case is [`callosum_app::ledger::show`].

use callosum_app::ledger::show::{find, kept_with, refused_of};
use callosum_app::{CommandError, Exit, ledger_errors, open_ledger, task_prefix};
use callosum_ledger::{Answers, ErrorCode, Reader, TaskId};
use clap::Args;

use super::entry;
use crate::cli::context::Context;

/// Print one entry
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger show cal_2026_01_02_0001
  $ callosum ledger show cal_2026_01_02_0001 --json
  $ callosum ledger show cal_2026_01_02_0001 --answer")]
pub(crate) struct ShowArgs {
    /// Task of the entry: its id or a unique prefix
    #[arg(value_name = "TASK_ID")]
    task: String,
    /// Print the full answer, if the entry has a shortened one or it was rejected
    #[arg(long)]
    answer: bool,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let reader = open_ledger::reader(context)?;
    if args.answer {
        let task = match task_prefix::entry_id(&reader, &args.task) {
            Err(error) if error.exit == Exit::No => task_prefix::journal_id(context, &args.task)?,
            found => found?,
        };
        return show_answer(context, &reader, &task);
    }
    let task = task_prefix::entry_id(&reader, &args.task)?;
    let found = find(context, &reader, &task)?;
    if context.ui.json {
        context
            .ui
            .json_data(&callosum_app::ledger::entry::as_value(&found.entry)?)
    } else {
        let summary = format!("{}\n", found.entry.summary.trim_end());
        let heading = entry::heading(&found);
        context.ui.document(&heading, &summary, context.tree())
    }
}

/// Prints an answer that is kept whole next to the ledger. If the answer is no longer than the
/// entry's summary, prints that.
fn show_answer(context: &Context, reader: &Reader, task: &TaskId) -> Result<(), CommandError> {
    let found = reader
        .find(task)
        .map_err(|error| ledger_errors::unreadable(&error))?;
    let kept = match &found {
        Some(found) => kept_with(&found.entry),
        None => refused_of(context, task)?,
    };
    let Some(hash) = kept else {
        let Some(found) = found else {
            let what = format!("no answer of task `{task}` is stored");
            return Err(CommandError::new(Exit::No, what).hint("callosum ledger query"));
        };
        context.report.say("the summary is the full answer");
        let summary = format!("{}\n", found.entry.summary.trim_end());
        return context.ui.document("", &summary, context.tree());
    };
    let answers = Answers::new(context.disk.clone(), &context.ledger_paths());
    let answer = answers.get(&hash).map_err(|error| {
        let exit = match error.code() {
            ErrorCode::ChecksumMismatch => Exit::No,
            _ => Exit::Environment,
        };
        CommandError::from_error(exit, &error).coded(Some(error.code()))
    })?;
    let answer = answer.ok_or_else(|| {
        let what = format!("the answer of task `{task}`, {hash}, is no longer stored here");
        CommandError::new(Exit::No, what)
    })?;
    context.report.say(&format!("sha256:{hash}"));
    let answer = format!("{}\n", String::from_utf8_lossy(&answer).trim_end());
    context.ui.document("", &answer, context.tree())
}
