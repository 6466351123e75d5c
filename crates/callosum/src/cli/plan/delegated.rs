//! Tasks of the ledger that calls of plans began, as the journal tells of them.

use std::ops::ControlFlow;

use callosum_arbiter::{delegation::PLAN_CALL, plan_run::DelegatedTask};
use callosum_ledger::{AuditQuery, AuditRecord, Event};
use jiff::Timestamp;

use super::history::reader;
use crate::{
    cli::{audit::unreadable, context::Context},
    ui::CommandError,
};

/// Those that were begun since then, in their order. Costs one pass over the journal from that day on.
pub(super) fn delegated_tasks(
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
    Ok(tasks)
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
    })
}
