//! `:agent.delegate` and `:agent.NAME`: a task for an executor of the registry, by the
//! delegation that everybody uses.
//!
//! The call's key goes with the task into the journal and the ledger. So a call that an earlier process
//! made is found by it: its entry is the answer. Where there is none, the executor may have been at work;
//! it is asked again only where it can't have changed anything, as it stood when it was called: the embedded one, and one
//! that is confined and has no place to write to but its own login. For others a person says what became of it.

use std::ops::ControlFlow;

use callosum_arbiter::budget::Money;
use callosum_arbiter::delegation::{MAY_CHANGE, PLAN_CALL, StartMark, may_change};
use callosum_host::process::Cancel;
use callosum_ledger::{AuditQuery, AuditReader, Entry, Event, Reader, TaskId};
use callosum_plan::{CapabilityName, FailureKind};
use callosum_plan_run::kernel::{
    Answer, AnsweredCost, ApprovedCall, KnownOutcome, Manifest, Provenance, ProviderFailure,
    TrustTier,
};

use crate::constitution::{governance, governance_failed};
use crate::delegate::{Wanted, planned};
use crate::executor_pool::Roster;
use crate::plan::local_run::LocalRun;
use crate::plan::provider::ledger::value_of;
use crate::plan::provider::{PlanEnvironment, arguments, failed, unfit};

pub(super) fn perform(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    cancel: &Cancel,
) -> Result<Answer, ProviderFailure> {
    let asked: Wanted = arguments(call)?;
    if asked.budget.is_some() {
        return Err(unfit(
            call,
            "a plan always receives the whole answer: `:budget` is not allowed",
        ));
    }
    // Another try that the executor is given is bounded by what the run has left, too.
    let (left, set) = (
        call.limits(),
        surroundings.context.project.settings.bounds(),
    );
    let chosen = executor(surroundings, call, asked.executor)?;
    let name = chosen.as_ref().map(|id| format!("agent.{id}"));
    if let Some(Ok(name)) = name.map(|name| CapabilityName::parse(&name)) {
        call.note_addressee(name);
    }
    let wanted = Wanted {
        prompt: surroundings.foreign.quoted(&asked.prompt),
        executor: chosen,
        max_tokens: least(left.tokens, set.tokens),
        max_cost: least(left.cost, set.cost).map(Money::to_dollars),
        plan_call: Some(call.key().to_owned()),
        start_mark: Some(start_mark(surroundings, call.key())),
        ..asked
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

/// Returns this machine's mark that the executor of a call was about to be started.
fn start_mark(surroundings: &PlanEnvironment<'_>, key: &str) -> StartMark {
    LocalRun::of(surroundings.context, &surroundings.run).start_mark(key)
}

fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns the executor to ask. A capability that is an executor has that one only. Through
/// `:agent.delegate` only executors can be asked that are capabilities themselves and need no more
/// permission than it. If the call names none, those that the kernel barred are skipped; if it
/// barred all others, the answer is `scout`.
fn executor(
    surroundings: &PlanEnvironment<'_>,
    call: &ApprovedCall,
    asked: Option<String>,
) -> Result<Option<String>, ProviderFailure> {
    let catalogue = &surroundings.catalogue;
    let own = catalogue.get(call.capability());
    let own = own.map(|manifest| &manifest.provenance);
    if let Some(Provenance::Executor(id)) = own {
        if asked.as_ref().is_some_and(|asked| asked != id) {
            return Err(unfit(
                call,
                "`:executor` is not the executor of the capability",
            ));
        }
        return Ok(Some(id.clone()));
    }
    let roster = Roster::load(surroundings.context).map_err(|error| failed(&error))?;
    let is_barred = |id: &String| {
        let name = format!("agent.{id}");
        call.barred().iter().any(|barred| barred.as_str() == name)
    };
    // What is no capability no policy speaks of, neither the kernel's nor a person's.
    let is_capability = |id: &str| {
        catalogue
            .iter()
            .any(|manifest| matches!(&manifest.provenance, Provenance::Executor(own) if own == id))
    };
    let free = || {
        roster
            .choice()
            .ready()
            .into_iter()
            .chain(roster.embedded())
            .find(|id| is_capability(id) && !is_barred(id))
    };
    let Some(chosen) = asked.or_else(free) else {
        let what = "no ready executor is allowed: name one with `:executor`";
        return Err(ProviderFailure::before(
            FailureKind::SecurityViolation,
            what,
        ));
    };
    let called = roster.registry().get(&chosen);
    if called.is_some_and(|executor| !executor.takes_tasks()) {
        let what = format!(
            "`{chosen}` is an MCP server without a tool that takes tasks; call its tools as \
             `:tool.{chosen}.NAME`"
        );
        return Err(unfit(call, &what));
    }
    if !is_capability(&chosen) {
        roster.known(&chosen).map_err(|error| failed(&error))?;
        let what = format!(
            "no policy covers `{chosen}`: it is not a capability (`callosum capability list` \
             says why), or was not one when the run was loaded"
        );
        return Err(ProviderFailure::before(
            FailureKind::SecurityViolation,
            what,
        ));
    }
    let called = called.and_then(|executor| executor.tool.clone());
    let is_it = |manifest: &Manifest| match &manifest.provenance {
        Provenance::Executor(id) => *id == chosen,
        // A task for a server is a call of the tool that its entry names.
        Provenance::ToolServer(id) => *id == chosen && called.as_ref() == Some(&manifest.name),
        Provenance::BuiltIn => false,
    };
    let revoked = governance(surroundings.context).revoked();
    let revoked = revoked.map_err(|error| failed(&governance_failed(&error)))?;
    let ways = || catalogue.iter().filter(|manifest| is_it(manifest));
    if let Some(way) = ways().find(|way| revoked.contains(&way.id)) {
        let what = format!("`:{}` was revoked on this machine", way.id);
        return Err(ProviderFailure::before(
            FailureKind::SecurityViolation,
            what,
        ));
    }
    if let Some(way) = ways().find(|way| catalogue.pending(&way.id).is_some()) {
        let what = format!(
            "`:{}` changed since it was accepted; see `callosum capability show {}`",
            way.id, way.id
        );
        return Err(ProviderFailure::before(
            FailureKind::SecurityViolation,
            what,
        ));
    }
    if let Some(way) = ways().find(|way| way.trust_tier < TrustTier::TRUSTED) {
        let what = format!(
            "the trust level of `{chosen}` is too low for `:agent.delegate`; call `:{}`",
            way.id
        );
        return Err(ProviderFailure::before(
            FailureKind::SecurityViolation,
            what,
        ));
    }
    Ok(Some(chosen))
}

pub(super) fn outcome(
    surroundings: &PlanEnvironment<'_>,
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
        let recorded = record
            .details
            .get(PLAN_CALL)
            .and_then(|value| value.as_str());
        if recorded == Some(key) {
            // One that does not say so may have changed something.
            let did_change = record.details.get(MAY_CHANGE) != Some(&false.into());
            let task = record.task_id.zip(record.executor);
            tasks.extend(task.map(|(id, executor)| (id, executor, did_change)));
        }
        ControlFlow::Continue(())
    });
    read.map_err(|error| broken(&error))?;
    let reader = Reader::open(context.disk.clone(), context.ledger_paths());
    let reader = reader.map_err(|error| broken(&error))?;
    for (task, ..) in &tasks {
        if let Some(found) = reader.find(task).map_err(|error| broken(&error))? {
            return Ok(KnownOutcome::Answered(answer(&found.entry)));
        }
    }
    match (tasks.is_empty(), start_mark(surroundings, key).read()) {
        (true, None) => return Ok(KnownOutcome::NotBegun),
        (true, Some(false)) => return Ok(KnownOutcome::Repeatable),
        (_, Some(true)) => return Ok(KnownOutcome::Unknown),
        (false, _) => {}
    }
    let roster = Roster::load(context).map_err(|error| failed(&error))?;
    let around = context.surroundings().map_err(|error| failed(&error))?;
    // Checks its state at the call and its present one, since nothing proves that record.
    let may_have_changed = |(_, id, did_change): &(TaskId, String, bool)| {
        let executor = roster.registry().get(id);
        *did_change || executor.is_none_or(|executor| may_change(executor, &around))
    };
    Ok(if tasks.iter().any(may_have_changed) {
        KnownOutcome::Unknown
    } else {
        KnownOutcome::Repeatable
    })
}

fn answer(entry: &Entry) -> Answer {
    let dollars = entry
        .metadata
        .get("cost_usd")
        .and_then(serde_json::Value::as_f64);
    Answer {
        value: value_of(entry),
        cost: AnsweredCost {
            tokens: entry.tokens_used,
            cost: dollars.map_or(Money(0), Money::of_dollars),
        },
        sensitivity: None,
    }
}
