//! Whom a call asks that leaves to its arguments who that is: `:agent.delegate`.
//!
//! A policy about `agent.codex` holds for a task that codex is handed by whatever name. So where an executor is
//! named, the call must be permitted for it too; where none is, those that it would not be permitted for
//! are barred, and whoever performs the call chooses among the others.

use callosum_plan::{CapabilityName, Key, Value};

use super::{
    constitution::Verdict, effect::Effect, manifest::Manifest, manifest::Provenance,
    request::CallRequest,
};

/// Whom a call asks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Addressee {
    /// Who is called is who is asked.
    Itself,
    /// The executor that this capability is.
    Named(CapabilityName),
    /// One that is chosen later.
    Any,
}

impl Addressee {
    pub(super) fn of(request: &CallRequest, manifest: &Manifest) -> Self {
        let hands_on = manifest.provenance == Provenance::BuiltIn
            && manifest.effects.contains(&Effect::StartsExecutor);
        if !hands_on {
            return Self::Itself;
        }
        let named = request
            .arguments
            .iter()
            .find_map(|argument| match argument {
                Value::Map(entries) => entries
                    .get(&Key::Keyword("executor".into()))
                    .or_else(|| entries.get(&Key::Text("executor".into()))),
                _ => None,
            });
        let Some(Value::Text(id) | Value::Keyword(id)) = named else {
            // What is no name is refused by whoever performs the call.
            return Self::Any;
        };
        CapabilityName::parse(&format!("agent.{id}")).map_or(Self::Any, Self::Named)
    }
}

/// What is said to a call where one thing is said of the capability and another of the executor: the
/// stricter of the two.
pub(super) fn stricter(of_capability: Verdict, of_executor: Verdict) -> Verdict {
    match (of_capability, of_executor) {
        (
            Verdict::Asked { mut policies, why },
            Verdict::Asked {
                policies: others,
                why: other,
            },
        ) => {
            let why = if why == other {
                why
            } else {
                format!("{why}; {other}")
            };
            policies.extend(others);
            policies.sort();
            policies.dedup();
            Verdict::Asked { policies, why }
        }
        (of_capability, of_executor) if severity(&of_capability) < severity(&of_executor) => {
            of_executor
        }
        (of_capability, _) => of_capability,
    }
}

/// How much a verdict keeps from being done.
fn severity(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Permitted { .. } => 0,
        Verdict::Asked { .. } => 1,
        Verdict::Forbidden { .. } | Verdict::NotPermitted | Verdict::Failed(_) => 2,
    }
}
