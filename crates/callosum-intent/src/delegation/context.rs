//! [`CallContext`]: what the engine knows of a call, and what other components know about it ([`DelegationMetadata`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    target::ExecTarget,
    task_hash::{TaskHash, mix, stable_hash},
};

/// An interned symbol of the engine that returned it ([`Engine::symbol`](super::Engine::symbol)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol(pub(super) u32);

/// A call to decide about: cheap to make, and without an allocation.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    pub(super) key: Key,
    pub(super) task: TaskHash,
    semantic: Option<&'a [f32]>,
    metadata: Option<&'a DelegationMetadata>,
}

/// All that tells one entry of the cache from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) symbol: u32,
    pub(super) fingerprint: u64,
    pub(super) context: u64,
}

/// Hints about a call from other components, such as an intent's analysis.
///
/// Hints never name a target that is not registered: they change the scores of those that are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct DelegationMetadata {
    /// Confidence of the component, from 0 to 1. Below the engine's minimum, the target does not move.
    pub confidence: Option<f64>,
    /// Explanation for people. Does not influence the decision.
    pub reasoning: Option<String>,
    /// Facts for scorers of your own, such as `intent_type`.
    pub context: BTreeMap<String, String>,
    /// Component that provides the hints.
    pub source: Option<String>,
    /// Limits that the target must meet, and the target that the component proposes.
    pub needs: Needs,
}

/// Limits of a call. A target outside them is not chosen, however high its score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Needs {
    /// Target that the component proposes. It counts only if it is registered for the symbol.
    pub target: Option<ExecTarget>,
    /// Highest cost of the call, in millionths of a US dollar.
    pub budget_micros: Option<u64>,
    /// Longest expected time of the call, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Sensitivity of the data, from 0 (public) to 3 (secret). The target needs at least this trust tier.
    pub sensitivity: u8,
}

impl<'a> CallContext<'a> {
    /// Describes a call by its symbol, a hash of its argument types, and a hash of its context (permissions, quotas).
    pub fn new(symbol: Symbol, arg_type_fingerprint: u64, runtime_context_hash: u64) -> Self {
        let key = Key {
            symbol: symbol.0,
            fingerprint: arg_type_fingerprint,
            context: runtime_context_hash,
        };
        Self {
            key,
            task: TaskHash::new(key.fingerprint, key.context),
            semantic: None,
            metadata: None,
        }
    }

    /// Adds hints. They become part of the key: a decision for public data is no answer for secret data.
    #[must_use]
    pub fn with_metadata(mut self, metadata: &'a DelegationMetadata) -> Self {
        self.key.context = mix(self.key.context, metadata.fingerprint());
        self.task = TaskHash::new(self.key.fingerprint, self.key.context);
        self.metadata = Some(metadata);
        self
    }

    /// Adds a vector for the search of [similar plans](super::compiled::SimilarPlans). It never decides by itself.
    #[must_use]
    pub fn with_semantic(mut self, vector: &'a [f32]) -> Self {
        self.semantic = Some(vector);
        self
    }

    /// Returns the symbol.
    pub fn symbol(&self) -> Symbol {
        Symbol(self.key.symbol)
    }

    /// Returns the second half of the key of the L1 cache, with the hints mixed in.
    pub fn task_hash(&self) -> TaskHash {
        self.task
    }

    /// Returns the vector for the search of similar plans.
    pub fn semantic(&self) -> Option<&'a [f32]> {
        self.semantic
    }

    /// Returns the hints.
    pub fn metadata(&self) -> Option<&'a DelegationMetadata> {
        self.metadata
    }
}

impl DelegationMetadata {
    /// Returns a hash of all that may influence a decision; the reasoning does not.
    fn fingerprint(&self) -> u64 {
        let needs = &self.needs;
        let target = needs.target.as_ref().map(ToString::to_string);
        let number = |number: Option<u64>| number.map(u64::to_be_bytes);
        let numbers = [
            number(self.confidence.map(f64::to_bits)),
            number(needs.budget_micros),
            number(needs.deadline_ms),
            number(Some(u64::from(needs.sensitivity))),
        ];
        let mut parts: Vec<&[u8]> = Vec::new();
        for number in &numbers {
            parts.push(number.as_ref().map_or(&[], |bytes| bytes));
        }
        for text in [&target, &self.source] {
            parts.push(if text.is_some() { b"1" } else { b"0" });
            parts.push(text.as_deref().unwrap_or_default().as_bytes());
        }
        for (name, value) in &self.context {
            parts.push(name.as_bytes());
            parts.push(value.as_bytes());
        }
        stable_hash(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(metadata: &DelegationMetadata) -> TaskHash {
        CallContext::new(Symbol(1), 2, 3)
            .with_metadata(metadata)
            .task_hash()
    }

    /// CCOS-DEL-3: hints that may change the target are part of the key.
    #[test]
    fn hints_that_may_change_the_target_change_the_task_hash() {
        let plain = DelegationMetadata::default();
        let reasoned = DelegationMetadata {
            reasoning: Some("because".to_owned()),
            ..plain.clone()
        };
        assert_eq!(task(&plain), task(&reasoned));
        let needs = [
            Needs {
                sensitivity: 3,
                ..Needs::default()
            },
            Needs {
                budget_micros: Some(0),
                ..Needs::default()
            },
            Needs {
                deadline_ms: Some(0),
                ..Needs::default()
            },
            Needs {
                target: Some(ExecTarget::LocalPure),
                ..Needs::default()
            },
        ];
        let mut hashes = vec![
            task(&plain),
            task(&DelegationMetadata {
                confidence: Some(0.0),
                ..plain.clone()
            }),
            task(&DelegationMetadata {
                source: Some(String::new()),
                ..plain.clone()
            }),
            task(&DelegationMetadata {
                context: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
                ..plain.clone()
            }),
        ];
        hashes.extend(needs.map(|needs| {
            task(&DelegationMetadata {
                needs,
                ..plain.clone()
            })
        }));
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }

    #[test]
    fn unknown_fields_of_hints_are_refused() {
        let json = r#"{"needs": {"sensitive": 3}}"#;
        assert!(serde_json::from_str::<DelegationMetadata>(json).is_err());
    }
}
