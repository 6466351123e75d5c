//! `:chain.query`: the causal chain of a run, or records of the audit journal.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use callosum_host::process::Cancel;
use callosum_ledger::{AuditQuery, AuditReader, AuditRecord, Event};
use callosum_plan::{FailureKind, Value};
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure};
use callosum_plan_run::run::{ReadRun, read_run, tree_of};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::intent;
use crate::plan::delegated_tasks::delegated_tasks;
use crate::plan::local_run::LocalRun;
use crate::plan::provider::{PlanEnvironment, arguments, failed, free, keyed, moment, unfit};

/// Most records that one call is answered with.
const MOST: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// A run's id, or `this`: the run that asks.
    run: Option<String>,
    /// The id of an intent, or a beginning of it: the records that changed it or its relations.
    intent: Option<Json>,
    task: Option<String>,
    executor: Option<String>,
    event: Option<String>,
    since: Option<String>,
    until: Option<String>,
    #[serde(default = "usual")]
    limit: usize,
}

fn usual() -> usize {
    50
}

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let context = surroundings.context;
    let reader = AuditReader::new(context.disk.clone(), context.ledger_paths());
    let broken = |error: &dyn std::fmt::Display| {
        let what = format!(":chain.query: {error}");
        ProviderFailure::before(FailureKind::CapabilityError, what)
    };
    if let Some(intent) = &wanted.intent {
        let text = match intent {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        let graph = intent::read(context).map_err(|error| failed(&error))?;
        let id = match graph.find(&text) {
            Ok(intent) => intent.id.to_string(),
            Err(error) => {
                let what = format!(":chain.query: {error}, so it matches nothing");
                context.report.warn(&what, None);
                return Ok(free(Value::vector(Vec::new())));
            }
        };
        let mut last = VecDeque::new();
        let most = wanted.limit.min(MOST);
        let read = reader.of_event(Event::Intent, |record| {
            if is_about(&record, &id) {
                last.push_back(value_of(&record));
                if last.len() > most {
                    last.pop_front();
                }
            }
        });
        read.map_err(|error| broken(&error))?;
        return Ok(free(Value::vector(last.into())));
    }
    if let Some(run) = &wanted.run {
        let run = match run.as_str() {
            "this" => surroundings.run.clone(),
            other => other
                .parse()
                .map_err(|error| unfit(call, &format!("{error}")))?,
        };
        let seals = LocalRun::of(context, &run).seals();
        let read = read_run(&reader, &run, seals).map_err(|error| broken(&error))?;
        let Some(ReadRun { state, .. }) = read else {
            return Ok(free(Value::Nil));
        };
        let tasks = delegated_tasks(context, state.begun()).map_err(|error| failed(&error))?;
        let tree = tree_of(&state, &tasks, run == surroundings.run);
        let tree = serde_json::to_value(tree).map_err(|error| broken(&error))?;
        return Ok(free(keyed(&tree)));
    }
    let now = context.clock.now();
    let task = wanted.task.as_deref().map(str::parse).transpose();
    let event = wanted.event.as_deref().map(str::parse).transpose();
    let query = AuditQuery {
        task_id: task.map_err(|error| unfit(call, &format!("{error}")))?,
        executor: wanted.executor,
        event: event.map_err(|error| unfit(call, &format!("{error}")))?,
        since: moment(call, wanted.since.as_deref())?.map(|since| since.first(now)),
        until: moment(call, wanted.until.as_deref())?.map(|until| until.last(now)),
    };
    let most = wanted.limit.min(MOST);
    let mut last = VecDeque::new();
    let read = reader.query(&query, |record| {
        last.push_back(value_of(&record));
        if last.len() > most {
            last.pop_front();
        }
        ControlFlow::Continue(())
    });
    read.map_err(|error| broken(&error))?;
    Ok(free(Value::vector(last.into())))
}

/// Returns true if a record changed an intent, or a relation from or to it.
fn is_about(record: &AuditRecord, intent: &str) -> bool {
    let ends = ["intent", "from", "to"].map(|key| record.details.get(key));
    ends.into_iter().flatten().any(|id| id == intent)
}

fn value_of(record: &AuditRecord) -> Value {
    keyed(&json!({
        "seq": record.seq,
        "time": record.timestamp,
        "event": record.event,
        "status": record.status,
        "task": record.task_id,
        "executor": record.executor,
        "details": record.details,
    }))
}
