//! `callosum ledger show`: one entry, from the active ledger or an archive.

use std::ops::ControlFlow;

use callosum_ledger::{
    Answers, AuditQuery, AuditReader, Checksum, Entry, ErrorCode, Event, Found, Reader, TaskId,
};
use clap::Args;

use super::entry;
use crate::{
    cli::{context::Context, store, task_prefix},
    ui::{CommandError, Exit},
};

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
    let reader = store::reader(context)?;
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
        context.ui.json_data(&entry::as_value(&found.entry)?)
    } else {
        let summary = format!("{}\n", found.entry.summary.trim_end());
        let heading = entry::heading(&found);
        context.ui.document(&heading, &summary, context.tree())
    }
}

/// Prints an answer that is kept whole beside the ledger. Where the entry's summary is all that
/// there was, it is printed.
fn show_answer(context: &Context, reader: &Reader, task: &TaskId) -> Result<(), CommandError> {
    let found = reader
        .find(task)
        .map_err(|error| store::unreadable(&error))?;
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

/// The hash of the answer that an entry's summary is the short form of.
fn kept_with(entry: &Entry) -> Option<Checksum> {
    let answer = entry.metadata.get("answer")?;
    answer.get("sha256")?.as_str()?.parse().ok()
}

/// The hash of the last answer of a task that was refused.
fn refused_of(context: &Context, task: &TaskId) -> Result<Option<Checksum>, CommandError> {
    let mut last = None;
    let journal = AuditReader::new(context.disk.clone(), context.ledger_paths());
    let query = AuditQuery {
        task_id: Some(task.clone()),
        ..AuditQuery::default()
    };
    journal
        .query(&query, |record| {
            let is_refusal = [Event::Rejected, Event::Error]
                .iter()
                .any(|event| record.event == event.as_str());
            let hash = record.hash.as_deref().and_then(|hash| {
                let hex = hash.strip_prefix("sha256:").unwrap_or(hash);
                hex.parse().ok()
            });
            if is_refusal && hash.is_some() {
                last = hash;
            }
            ControlFlow::Continue(())
        })
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    Ok(last)
}

/// A task's entry, wherever it is.
pub(super) fn find(
    context: &Context,
    reader: &Reader,
    task: &TaskId,
) -> Result<Found, CommandError> {
    let found = reader
        .find(task)
        .map_err(|error| store::unreadable(&error))?;
    if let Some(found) = found {
        return Ok(found);
    }
    let what = format!("no entry `{task}` in the ledger or its archives");
    // A task that failed has none, and the journal tells of it.
    let hint = if is_in_journal(context, task)? {
        format!("callosum audit query --task {task}")
    } else {
        "callosum ledger query".to_owned()
    };
    Err(CommandError::new(Exit::No, what).hint(hint))
}

/// Whether the audit journal has any record of a task.
fn is_in_journal(context: &Context, task: &TaskId) -> Result<bool, CommandError> {
    AuditReader::new(context.disk.clone(), context.ledger_paths())
        .has_task(task)
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))
}
