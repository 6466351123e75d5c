//! Tasks of the ledger that calls of plans began, as the journal tells of them.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use callosum_arbiter::delegation::PLAN_CALL;
use callosum_ledger::{AuditQuery, AuditRecord, Entry, Event, Reader};
use callosum_plan_run::run::DelegatedTask;
use jiff::Timestamp;
use serde_json::Value;

use crate::CommandError;
use crate::audit::unreadable;
use crate::context::Context;
use crate::plan::history::reader;

/// Those that were begun since then, in their order. Costs one pass over the journal from that day on,
/// and looks each up in the ledger.
pub fn delegated_tasks(
    context: &Context,
    since: Timestamp,
) -> Result<Vec<DelegatedTask>, CommandError> {
    let query = AuditQuery {
        since: Some(since),
        ..AuditQuery::default()
    };
    let mut tasks: Vec<DelegatedTask> = Vec::new();
    let read = reader(context).query(&query, |record| {
        if let Some(task) = spawned(&record) {
            tasks.push(task);
        } else if let Some(id) = &record.task_id
            && let Some(task) = tasks.iter_mut().find(|task| task.task == *id)
        {
            task.standing = match record.event.as_str() {
                "state" | "decision" => return ControlFlow::Continue(()),
                event => event.to_owned(),
            };
        }
        ControlFlow::Continue(())
    });
    read.map_err(|error| unreadable(&error))?;
    if tasks.is_empty() {
        return Ok(tasks);
    }
    // An unreadable entry must not hide what was done.
    let ledger = Reader::open(context.disk.clone(), context.ledger_paths());
    for task in &mut tasks {
        let found = ledger.as_ref().map(|ledger| ledger.find(&task.task));
        task.citations = match found {
            Ok(Ok(found)) => found.and_then(|found| held(&found.entry)),
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
    }
    Ok(tasks)
}

/// Returns the state of an entry's citations when it was committed, with the first one that did not
/// hold.
fn held(entry: &Entry) -> Option<String> {
    let citations = entry.metadata.get("citations")?;
    let count = |key: &str| citations.get(key).and_then(Value::as_u64);
    let (total, verified) = (count("total")?, count("verified")?);
    if total == 0 {
        return None;
    }
    let noun = if total == 1 { "citation" } else { "citations" };
    let mut held = format!("{verified} of {total} {noun} hold");
    let missing = citations.get("missing_places").and_then(|all| all.get(0));
    let text = |key: &str| missing.and_then(|one| one.get(key)).and_then(Value::as_str);
    if let (Some(place), Some(why)) = (text("place"), text("why")) {
        let _ = write!(held, ", not {place} ({why})");
    }
    Some(held)
}

fn spawned(record: &AuditRecord) -> Option<DelegatedTask> {
    if record.event != Event::Spawn.as_str() {
        return None;
    }
    let key = record.details.get(PLAN_CALL)?.as_str()?;
    Some(DelegatedTask {
        key: key.to_owned(),
        task: record.task_id.clone()?,
        executor: record.executor.clone()?,
        standing: "spawned".to_owned(),
        citations: None,
    })
}
