//! [`RunGrants`]: permissions of a run, its use of the budget and its decisions, when it asks for a call.
//!
//! The driver of the run keeps it. The kernel only reads it, so that the same request and the same
//! standing always lead to the same ruling.

use std::collections::{BTreeMap, BTreeSet};

use callosum_plan::{Allowlist, CapabilityName};
use serde::{Deserialize, Serialize};

use super::effect::{Sensitivity, TrustTier};
use callosum_arbiter::budget::Money;

/// State of a run, for the kernel.
#[derive(Clone, Debug, Default)]
pub struct RunGrants {
    /// Level of trust in its plan.
    pub tier: TrustTier,
    /// Capabilities that it may call; by default none.
    pub allowed: Allowlist,
    /// Limits on its use of resources.
    pub caps: RunCaps,
    /// Resources that it has used, together with those that calls in flight may still use.
    pub spent: RunSpent,
    /// Number of calls, by capability.
    pub calls: BTreeMap<CapabilityName, u64>,
    /// The most sensitive that it was given so far: the input's, and that of each answer.
    pub sensitivity: Sensitivity,
    /// Decisions of a person, by the calls' keys.
    pub decisions: BTreeMap<String, PersonsDecision>,
    /// Capabilities that were revoked on this machine.
    pub revoked: BTreeSet<CapabilityName>,
}

/// Limits on a run's use of resources; `None` means no cap.
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

/// Resources that a run has used.
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

/// Decision of a person on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonsDecision {
    /// It may go ahead.
    Approved,
    /// It may not.
    Refused,
}

impl RunGrants {
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
