//! Providers that perform the calls of plans: this program, by a manifest and functions for each
//! capability, executors, by the delegation that all commands use, and tool servers, by a call.
//!
//! Start with [`providers`]. A provider only gets calls that the kernel approved. Its arguments are
//! data of a plan, and are checked as strictly as a command line: an unknown key is rejected by
//! name.

mod catalogue;
mod causal_chain;
mod decision;
mod delegation;
mod denied_files;
mod event;
mod file;
mod foreign;
mod horizon;
mod ledger;
pub mod model;
mod server_tool;
mod task;

use std::sync::Arc;

use callosum_host::process::Cancel;
use callosum_ledger::Answers;
use callosum_mesh::Author;
use callosum_plan::{CapabilityName, FailureKind, Key, Value};
use callosum_plan_run::kernel::{
    Answer, AnsweredCost, ApprovedCall, Catalogue, KnownOutcome, Manifest, Provenance, Provider,
    ProviderFailure,
};
use callosum_plan_run::run::{Providers, RunId, RunState};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::context::Context;
use crate::mesh::asking;
use crate::model::configured;
use crate::plan::provider::foreign::ForeignTexts;
use crate::time_arg::TimeArg;
use crate::{CommandError, Exit, capability};

/// Context that capabilities are performed in.
struct PlanEnvironment<'c> {
    context: &'c Context,
    /// The run whose calls are performed.
    run: RunId,
    /// Everything that there is to call.
    catalogue: Arc<Catalogue>,
    /// The texts that calls answered with so far.
    foreign: ForeignTexts,
}

/// Author of a plan's entries on the mesh.
const PLAN: &str = "plan";

type Perform = fn(&PlanEnvironment<'_>, &ApprovedCall, &Cancel) -> Result<Answer, ProviderFailure>;

type Outcome = fn(&PlanEnvironment<'_>, &str) -> Result<KnownOutcome, ProviderFailure>;

/// One capability.
struct Capability<'c> {
    manifest: Manifest,
    surroundings: Arc<PlanEnvironment<'c>>,
    perform: Perform,
    outcome: Option<Outcome>,
}

/// A capability's name, what performs it, and what tells what became of a call of it.
struct Row {
    pub id: &'static str,
    perform: Perform,
    /// `None` if the outcome cannot be looked up, so that a person must settle it.
    outcome: Option<Outcome>,
}

static ROWS: [Row; 15] = [
    Row {
        id: CapabilityName::DELEGATE,
        perform: delegation::perform,
        outcome: Some(delegation::outcome),
    },
    Row {
        id: "capability.query",
        perform: catalogue::perform,
        outcome: Some(repeatable),
    },
    Row {
        id: "chain.query",
        perform: causal_chain::perform,
        outcome: Some(repeatable),
    },
    Row {
        id: "fs.read",
        perform: file::perform,
        outcome: Some(repeatable),
    },
    Row {
        id: "horizon.build",
        perform: horizon::perform,
        outcome: Some(repeatable),
    },
    Row {
        id: "ledger.query",
        perform: ledger::perform,
        outcome: Some(repeatable),
    },
    Row {
        id: "llm.generate-plan",
        perform: model::generate,
        outcome: Some(model::outcome),
    },
    Row {
        id: "llm.infer",
        perform: model::infer,
        outcome: Some(model::outcome),
    },
    Row {
        id: "llm.review",
        perform: model::review,
        outcome: Some(model::outcome),
    },
    Row {
        id: "mesh.publish",
        perform: event::perform,
        outcome: Some(repeatable),
    },
    Row {
        id: "nlp.classify",
        perform: model::classify,
        outcome: Some(model::outcome),
    },
    Row {
        id: "nlp.sentiment",
        perform: model::sentiment,
        outcome: Some(model::outcome),
    },
    Row {
        id: "nlp.summarize",
        perform: model::summarize,
        outcome: Some(model::outcome),
    },
    Row {
        id: "session.decide",
        perform: decision::perform,
        outcome: Some(decision::outcome),
    },
    Row {
        id: "task.add",
        perform: task::perform,
        outcome: Some(repeatable),
    },
];

impl Provider for Capability<'_> {
    fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    fn perform(&self, call: ApprovedCall, cancel: &Cancel) -> Result<Answer, ProviderFailure> {
        let answer = (self.perform)(&self.surroundings, &call, cancel)?;
        self.surroundings
            .foreign
            .add(&self.manifest.id, &answer.value);
        Ok(answer)
    }

    fn outcome(&self, key: &str, _: &Cancel) -> Result<KnownOutcome, ProviderFailure> {
        match self.outcome {
            Some(outcome) => outcome(&self.surroundings, key),
            None => Ok(KnownOutcome::Unknown),
        }
    }
}

/// Everything that plans may call here, and who performs it for the calls of one run: what this program
/// brings along, each executor of the registry, and each tool of a server that is one.
pub fn providers<'c>(
    context: &'c Context,
    state: &RunState,
    answers: &Answers,
) -> Result<(Providers<'c>, Arc<Catalogue>), CommandError> {
    let catalogue = Arc::new(capability::noted_catalogue(context)?);
    let surroundings = Arc::new(PlanEnvironment {
        context,
        run: state.run().clone(),
        catalogue: Arc::clone(&catalogue),
        foreign: ForeignTexts::of_run(state, answers),
    });
    // A configuration that cannot be used was reported with the catalogue, and names none.
    let configured = configured::settings(context).cloned().unwrap_or_default();
    let mut providers = Providers::new();
    for manifest in catalogue.iter() {
        let (perform, outcome): (Perform, Option<Outcome>) = match &manifest.provenance {
            Provenance::BuiltIn => {
                let row = row_of(manifest)?;
                (row.perform, row.outcome)
            }
            Provenance::Executor(id) if configured.get(id).is_some() => {
                (model::as_agent, Some(model::outcome))
            }
            Provenance::Executor(_) => (delegation::perform, Some(delegation::outcome)),
            Provenance::ToolServer(_) => (server_tool::perform, None),
        };
        let provider = Capability {
            manifest: (**manifest).clone(),
            surroundings: Arc::clone(&surroundings),
            perform,
            outcome,
        };
        providers.insert(manifest.id.clone(), Arc::new(provider));
    }
    Ok((providers, catalogue))
}

/// Returns the implementation of a built-in capability.
fn row_of(manifest: &Manifest) -> Result<&'static Row, CommandError> {
    let row = ROWS.iter().find(|row| row.id == manifest.id.as_str());
    row.ok_or_else(|| {
        let what = format!("`{}` has no implementation", manifest.id);
        CommandError::new(Exit::Internal, what)
    })
}

/// Returns the author on the mesh for a run: the agent that carries it on, else the plan, with the
/// run as its session.
fn voice(surroundings: &PlanEnvironment<'_>, context: &Context) -> Author {
    let asking = asking(context);
    if surroundings.context.asker.is_some() {
        return asking;
    }
    Author {
        agent: PLAN.parse().expect("it is a name"),
        session_id: Some(surroundings.run.to_string()),
        ..asking
    }
}

/// The outcome of calls that only read, or that have no second effect under the same key.
#[expect(
    clippy::unnecessary_wraps,
    reason = "has the signature of functions that may fail"
)]
fn repeatable(_: &PlanEnvironment<'_>, _: &str) -> Result<KnownOutcome, ProviderFailure> {
    Ok(KnownOutcome::Repeatable)
}

/// Parses the arguments of a call: nothing, or one map.
fn arguments<T: DeserializeOwned>(call: &ApprovedCall) -> Result<T, ProviderFailure> {
    let json = match call.arguments() {
        [] => Json::Object(serde_json::Map::new()),
        [map @ Value::Map(_)] => {
            let text = map
                .to_json(None)
                .map_err(|error| unfit(call, &error.to_string()))?;
            serde_json::from_str(&text).map_err(|error| unfit(call, &error.to_string()))?
        }
        [other] => {
            return Err(unfit(
                call,
                &format!("it takes a map, not {}", other.noun()),
            ));
        }
        _ => return Err(unfit(call, "it takes one map")),
    };
    serde_json::from_value(json).map_err(|error| unfit(call, &error.to_string()))
}

/// A moment that a call names, where it does.
fn moment(call: &ApprovedCall, text: Option<&str>) -> Result<Option<TimeArg>, ProviderFailure> {
    let moment = text.map(TimeArg::read).transpose();
    moment.map_err(|error| unfit(call, &error))
}

/// A call whose arguments are none that it takes.
fn unfit(call: &ApprovedCall, why: &str) -> ProviderFailure {
    let what = format!(":{}: {why}", call.capability());
    ProviderFailure::before(FailureKind::InvalidArgument, what)
}

/// A call that failed, in the words that a person would read.
fn failed(error: &CommandError) -> ProviderFailure {
    let kind = match error.exit {
        Exit::Usage => FailureKind::InvalidArgument,
        _ => FailureKind::CapabilityError,
    };
    ProviderFailure::before(kind, error.one_line())
}

/// An answer that cost nothing.
fn free(value: Value) -> Answer {
    Answer {
        value,
        cost: AnsweredCost::default(),
        sensitivity: None,
    }
}

/// JSON as plans read it: keys that may be keywords are.
fn keyed(json: &Json) -> Value {
    match json {
        Json::Array(items) => Value::vector(items.iter().map(keyed).collect()),
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| (key_of(key), keyed(value)));
            Value::map(entries.collect())
        }
        // A number beyond 64 bits, which nothing of ours has, is its text.
        other => Value::of_json(other).unwrap_or_else(|_| Value::text(other.to_string())),
    }
}

fn key_of(key: &str) -> Key {
    let is_word = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_word {
        Key::Keyword(key.replace('_', "-").into())
    } else {
        Key::Text(key.into())
    }
}

#[cfg(test)]
mod tests {
    use callosum_plan_run::kernel::built_in_manifests;

    use super::*;

    /// CCOS-RTFS-2: a capability whose provider can look up a call's outcome declares that, so the
    /// provider is asked before a person is.
    #[test]
    fn what_can_be_asked_after_says_so_and_nothing_else_does() {
        let manifests = built_in_manifests("1");
        assert_eq!(manifests.len(), ROWS.len());
        for manifest in manifests {
            let row = row_of(&manifest).unwrap();
            assert_eq!(manifest.answers_by_key, row.outcome.is_some(), "{}", row.id);
        }
    }
}
