//! `:agent.delegate`: a task for an executor of the registry, by the delegation that everybody uses.
//!
//! The call's key goes with the task into the journal and the ledger. So a call that an earlier process
//! made is found by it: its entry is the answer, and where there is none the analysis is had again,
//! which changes nothing but the ledger.

use std::ops::ControlFlow;

use callosum_arbiter::{
    budget::Money,
    delegation::PLAN_CALL,
    kernel::{Answer, AnsweredCost, ApprovedCall, KnownOutcome, ProviderFailure},
};
use callosum_host::process::Cancel;
use callosum_ledger::{AuditQuery, AuditReader, Entry, Event, Reader};
use callosum_plan::FailureKind;
use serde::Deserialize;

use super::{Surroundings, arguments, failed, ledger::value_of};
use crate::cli::delegate::{KindArg, Wanted, planned};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    prompt: String,
    kind: Option<KindArg>,
    #[serde(default)]
    paths: Vec<String>,
    executor: Option<String>,
    /// Tasks of the ledger to build on.
    #[serde(default)]
    links: Vec<String>,
    #[serde(default)]
    fresh: bool,
}

pub(super) fn perform(
    surroundings: &Surroundings<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let wanted: Arguments = arguments(call)?;
    let wanted = Wanted {
        prompt: wanted.prompt,
        kind: wanted.kind,
        paths: wanted.paths,
        executor: wanted.executor,
        links: wanted.links,
        budget: None,
        fresh: wanted.fresh,
        plan_call: Some(call.key().to_owned()),
    };
    let context = surroundings.context.for_call(cancel);
    let entry = context.and_then(|context| planned(&context, wanted));
    match entry {
        Ok(entry) => Ok(answer(&entry)),
        Err(error) => Err(ProviderFailure {
            may_have_happened: cancel.is_cancelled(),
            ..failed(&error)
        }),
    }
}

pub(super) fn outcome(
    surroundings: &Surroundings<'_>,
    key: &str,
) -> Result<KnownOutcome, ProviderFailure> {
    let context = surroundings.context;
    let broken = |error: &dyn std::fmt::Display| {
        let what = format!(":agent.delegate: {error}");
        ProviderFailure::before(FailureKind::CapabilityError, what)
    };
    let query = AuditQuery {
        event: Some(Event::Spawn),
        ..AuditQuery::default()
    };
    let mut tasks = Vec::new();
    let reader = AuditReader::new(context.disk.clone(), context.ledger_paths());
    let read = reader.query(&query, |record| {
        let said = record.details.get(PLAN_CALL).and_then(|said| said.as_str());
        if said == Some(key) {
            tasks.extend(record.task_id);
        }
        ControlFlow::Continue(())
    });
    read.map_err(|error| broken(&error))?;
    let reader = Reader::open(context.disk.clone(), context.ledger_paths());
    let reader = reader.map_err(|error| broken(&error))?;
    for task in &tasks {
        if let Some(found) = reader.find(task).map_err(|error| broken(&error))? {
            return Ok(KnownOutcome::Answered(answer(&found.entry)));
        }
    }
    Ok(if tasks.is_empty() {
        KnownOutcome::NotBegun
    } else {
        KnownOutcome::Repeatable
    })
}

fn answer(entry: &Entry) -> Answer {
    let dollars = entry
        .metadata
        .get("cost_usd")
        .and_then(|cost| cost.as_f64());
    Answer {
        value: value_of(entry),
        cost: AnsweredCost {
            tokens: entry.tokens_used,
            cost: dollars.map_or(Money(0), Money::of_dollars),
        },
    }
}
