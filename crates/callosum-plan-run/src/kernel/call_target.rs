//! Further effects of a call, by its arguments, that policies know under another name:
//! `:agent.delegate` and `:llm.infer` ask an executor, `:session.decide` quotes the files that it
//! cites, and `:horizon.build` answers from the ledger.
//!
//! A policy about `agent.codex` holds for each task that codex gets, under any capability's name.
//! So if a call names an executor, it must be permitted for that too, and one that no policy can
//! name is not asked. If it names none, the executors that it would not be permitted for are
//! barred, and the provider chooses among the others. A decision with citations must be permitted
//! as `fs.read` is, and a horizon that asks the ledger as `ledger.query` is.

use callosum_plan::{CapabilityName, Key, Value};

use super::{
    constitution::Verdict, effect::Effect, manifest::Manifest, manifest::Provenance,
    request::CallRequest,
};

/// Executor or further capability that a call asks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Addressee {
    /// The called capability itself.
    Itself,
    /// This capability as well: an executor, or what reads files or the ledger.
    Named(CapabilityName),
    /// One that is chosen later.
    Any,
    /// A text that names no executor's capability, so that no policy can name it.
    Unknown(String),
}

impl Addressee {
    pub(super) fn of(request: &CallRequest, manifest: &Manifest) -> Self {
        let besides = if quotes_files(request, manifest) {
            Some("fs.read")
        } else if asks_ledger(request, manifest) {
            Some("ledger.query")
        } else {
            None
        };
        if let Some(besides) = besides {
            return CapabilityName::parse(besides).map_or(Self::Itself, Self::Named);
        }
        let hands_on = manifest.provenance == Provenance::BuiltIn
            && manifest.effects.contains(&Effect::StartsExecutor);
        if !hands_on {
            return Self::Itself;
        }
        let named = argument(request, "executor").or_else(|| argument(request, "model"));
        let Some(Value::Text(id) | Value::Keyword(id)) = named else {
            // The provider refuses what is no name.
            return Self::Any;
        };
        match CapabilityName::parse(&format!("agent.{id}")) {
            Ok(executor) if executor != request.capability => Self::Named(executor),
            _ => Self::Unknown(id.to_string()),
        }
    }
}

/// Whether a call writes down content of files, in addition to its arguments.
fn quotes_files(request: &CallRequest, manifest: &Manifest) -> bool {
    manifest.provenance == Provenance::BuiltIn
        && manifest.effects.contains(&Effect::WritesSession)
        && manifest.effects.contains(&Effect::ReadsFiles)
        && matches!(argument(request, "cite"), Some(Value::Vector(places)) if !places.is_empty())
}

/// Whether a call answers with the ledger's entries among other things that are known.
fn asks_ledger(request: &CallRequest, manifest: &Manifest) -> bool {
    // Intents are records of the journal that the ledger is rebuilt from.
    let is_ledger = |source: &Value| matches!(source, Value::Text(name) | Value::Keyword(name) if matches!(name.as_ref(), "ledger" | "intent"));
    manifest.provenance == Provenance::BuiltIn
        && manifest.effects.contains(&Effect::ReadsLedger)
        && manifest.effects.contains(&Effect::ReadsSession)
        && match argument(request, "sources") {
            // All, if it names none. The provider refuses what are no sources.
            Some(Value::Vector(sources)) => sources.is_empty() || sources.iter().any(is_ledger),
            _ => true,
        }
}

/// Returns the value under a name in a map among a call's arguments.
fn argument<'r>(request: &'r CallRequest, name: &str) -> Option<&'r Value> {
    request
        .arguments
        .iter()
        .find_map(|argument| match argument {
            Value::Map(entries) => entries
                .get(&Key::Keyword(name.into()))
                .or_else(|| entries.get(&Key::Text(name.into()))),
            _ => None,
        })
}

/// Combines the verdict on a capability with the one on what else it does: returns the stricter of
/// the two.
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

/// Returns the rank of a verdict: the greater, the less it permits.
fn severity(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Permitted { .. } => 0,
        Verdict::Asked { .. } => 1,
        Verdict::Forbidden { .. } | Verdict::NotPermitted | Verdict::Failed(_) => 2,
    }
}
