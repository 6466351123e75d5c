//! [`Standing`]: what a run may, has used up and was told, when it asks for a call.
//!
//! Whoever drives the run keeps it. The kernel only reads it, so that the same request and the same
//! standing always lead to the same ruling.

use std::collections::{BTreeMap, BTreeSet};

use callosum_plan::{Allowlist, CapabilityName};
use serde::{Deserialize, Serialize};

use super::effect::{Sensitivity, TrustTier};
use crate::budget::Money;

/// How a run stands.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// How far its plan is trusted.
    pub tier: TrustTier,
    /// What it may call at all; by default nothing.
    pub allowed: Allowlist,
    /// What it may use up.
    pub caps: RunCaps,
    /// What it has used up, together with what calls under way may still use up.
    pub spent: RunSpent,
    /// How often it has called what.
    pub calls: BTreeMap<CapabilityName, u64>,
    /// The most sensitive that it was given so far: the input's, and that of each answer.
    pub sensitivity: Sensitivity,
    /// What a person decided, by the calls' keys.
    pub decisions: BTreeMap<String, PersonsDecision>,
    /// What was revoked on this machine.
    pub revoked: BTreeSet<CapabilityName>,
}

/// What a run may use up; what is `None` has no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCaps {
    /// Calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yields: Option<u64>,
    /// Tokens of models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Milliseconds of its calls together, pauses left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<u64>,
}

/// What a run has used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSpent {
    /// Calls.
    pub yields: u64,
    /// Tokens of models.
    pub tokens: u64,
    /// Money.
    pub cost: Money,
    /// Milliseconds of its calls together, pauses left out.
    pub milliseconds: u64,
}

/// What a person said to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonsDecision {
    /// It may go ahead.
    Approved,
    /// It may not.
    Refused,
}

impl Standing {
    /// Returns how often the run has called a capability.
    pub fn calls_of(&self, name: &CapabilityName) -> u64 {
        self.calls.get(name).copied().unwrap_or(0)
    }
}

impl RunCaps {
    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what is left, each the cap itself where nothing was spent and 0 where more was.
    #[must_use]
    pub fn left(&self, spent: &RunSpent) -> Self {
        Self {
            yields: self.yields.map(|cap| cap.saturating_sub(spent.yields)),
            tokens: self.tokens.map(|cap| cap.saturating_sub(spent.tokens)),
            cost: self
                .cost
                .map(|cap| Money(cap.0.saturating_sub(spent.cost.0))),
            milliseconds: self
                .milliseconds
                .map(|cap| cap.saturating_sub(spent.milliseconds)),
        }
    }

    /// Returns the caps under which both hold, the least of each.
    #[must_use]
    pub fn narrowed(&self, other: &Self) -> Self {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            yields: least(self.yields, other.yields),
            tokens: least(self.tokens, other.tokens),
            cost: least(self.cost, other.cost),
            milliseconds: least(self.milliseconds, other.milliseconds),
        }
    }
}

impl RunSpent {
    /// Returns both together; what is beyond 64 bits stays at their end, so that no cap is escaped.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            yields: self.yields.saturating_add(other.yields),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: Money(self.cost.0.saturating_add(other.cost.0)),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
        }
    }
}
