//! `callosum ledger show`: one entry, from the active ledger or an archive.

use std::ops::ControlFlow;

use callosum_json::Checksum;
use callosum_ledger::{AuditQuery, AuditReader, Entry, Event, LocatedEntry, Reader, TaskId};

use crate::context::Context;
use crate::{CommandError, Exit, ledger_errors};

/// The hash of the answer that an entry's summary is the short form of.
pub fn kept_with(entry: &Entry) -> Option<Checksum> {
    let answer = entry.metadata.get("answer")?;
    answer.get("sha256")?.as_str()?.parse().ok()
}

/// The hash of the last answer of a task that was refused.
pub fn refused_of(context: &Context, task: &TaskId) -> Result<Option<Checksum>, CommandError> {
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
pub fn find(
    context: &Context,
    reader: &Reader,
    task: &TaskId,
) -> Result<LocatedEntry, CommandError> {
    let found = reader
        .find(task)
        .map_err(|error| ledger_errors::unreadable(&error))?;
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
