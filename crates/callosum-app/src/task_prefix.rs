//! Ids of tasks as a person types them: whole, or as much of one as no other begins with.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use callosum_ledger::{AuditQuery, AuditReader, InvalidTaskId, Reader, TaskId};

use crate::context::Context;
use crate::{CommandError, Exit, ledger_errors};

/// Most ids that are listed for an ambiguous prefix.
const MOST_LISTED: usize = 10;

/// Returns the id that a text means among the entries of the ledger: itself if it is whole, be it known or not, else the
/// only one that begins with it.
pub fn entry_id(reader: &Reader, text: &str) -> Result<TaskId, CommandError> {
    if let Some(id) = whole(text)? {
        return Ok(id);
    }
    let ids = reader.ids_with_prefix(text, MOST_LISTED + 1);
    let ids = ids.map_err(|error| ledger_errors::unreadable(&error))?;
    only(
        text,
        ids,
        "no entry in the ledger or its archives has an id that begins with",
    )
}

/// Returns the same among all tasks that the audit journal tells of, which may have failed.
pub fn journal_id(context: &Context, text: &str) -> Result<TaskId, CommandError> {
    if let Some(id) = whole(text)? {
        return Ok(id);
    }
    let mut ids = BTreeSet::new();
    AuditReader::new(context.disk.clone(), context.ledger_paths())
        .query(&AuditQuery::default(), |record| {
            ids.extend(record.task_id.filter(|id| id.as_str().starts_with(text)));
            if ids.len() > MOST_LISTED {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    only(
        text,
        ids.into_iter().collect(),
        "no task in the audit journal has an id that begins with",
    )
}

/// Returns a whole id, or `None` for what may begin one.
fn whole(text: &str) -> Result<Option<TaskId>, CommandError> {
    match text.parse() {
        Ok(id) => Ok(Some(id)),
        Err(_) if TaskId::may_begin_with(text) => Ok(None),
        Err(error) => {
            let error: InvalidTaskId = error;
            Err(CommandError::from_error(Exit::Usage, &error))
        }
    }
}

/// Returns the only id, or lists those that the prefix may mean.
fn only(text: &str, ids: Vec<TaskId>, none: &str) -> Result<TaskId, CommandError> {
    match <[TaskId; 1]>::try_from(ids) {
        Ok([id]) => Ok(id),
        Err(ids) if ids.is_empty() => {
            let what = format!("{none} `{text}`");
            Err(CommandError::new(Exit::No, what).hint("callosum ledger query"))
        }
        Err(ids) => {
            let listed: Vec<&str> = ids.iter().take(MOST_LISTED).map(TaskId::as_str).collect();
            let more = if ids.len() > MOST_LISTED { ", …" } else { "" };
            let what = format!(
                "several ids begin with `{text}`: {}{more}",
                listed.join(", ")
            );
            Err(CommandError::new(Exit::Usage, what).hint("give a longer prefix or the whole id"))
        }
    }
}
