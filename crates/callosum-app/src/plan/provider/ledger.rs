//! `:ledger.query`: entries of the ledger.

use callosum_arbiter::Mode;
use callosum_host::process::Cancel;
use callosum_ledger::{Entry, Query, Reader, TaskId};
use callosum_plan::{FailureKind, Value};
use callosum_plan_run::kernel::{Answer, ApprovedCall, ProviderFailure};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::plan::provider::{PlanEnvironment, arguments, free, keyed, moment, unfit};

/// Most entries that one call is answered with.
const MOST: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: Option<String>,
    executor: Option<String>,
    text: Option<String>,
    since: Option<String>,
    until: Option<String>,
    mode: Option<String>,
    repo: Option<String>,
    branch: Option<String>,
    #[serde(default = "usual")]
    limit: usize,
}

fn usual() -> usize {
    10
}

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    _: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let context = surroundings.context;
    let unreadable = |error: callosum_ledger::ReadError| {
        let what = format!(":ledger.query: {error}");
        ProviderFailure::before(FailureKind::CapabilityError, what)
    };
    let reader = Reader::open(context.disk.clone(), context.ledger_paths()).map_err(unreadable)?;
    if let Some(task) = &wanted.task {
        let id: TaskId = task
            .parse()
            .map_err(|_| unfit(call, "`:task` is not a task id"))?;
        let found = reader.find(&id).map_err(unreadable)?;
        let found = found.iter().map(|found| value_of(&found.entry)).collect();
        return Ok(free(Value::vector(found)));
    }
    if let Some(mode) = &wanted.mode
        && Mode::ALL.iter().all(|known| known.as_str() != mode)
    {
        let known = Mode::ALL.map(|mode| format!(":{mode}")).join(", ");
        let why = format!("`:mode` is `{mode}` (allowed: {known})");
        return Err(unfit(call, &why));
    }
    let now = context.clock.now();
    let query = Query {
        executor: wanted.executor,
        since: moment(call, wanted.since.as_deref())?.map(|since| since.first(now)),
        until: moment(call, wanted.until.as_deref())?.map(|until| until.last(now)),
        text: wanted.text,
        mode: wanted.mode,
        repo: wanted.repo,
        branch: wanted.branch,
        limit: Some(wanted.limit.min(MOST)),
    };
    let entries = reader.query(&query).map_err(unreadable)?;
    Ok(free(Value::vector(entries.iter().map(value_of).collect())))
}

/// An entry as plans read it.
pub(super) fn value_of(entry: &Entry) -> Value {
    let known = |key: &str| entry.metadata.get(key).cloned().unwrap_or(Json::Null);
    keyed(&json!({
        "task": entry.task_id,
        "time": entry.timestamp,
        "executor": entry.executor,
        "kind": known("kind"),
        "prompt": known("prompt"),
        "summary": entry.summary,
        "tokens": entry.tokens_used,
        // How they stood when it was committed, with the places of those that did not hold.
        "citations": known("citations"),
    }))
}
