//! [`Decision`]: where a call runs and why; and [`DelegationPlan`], the same with its explanation.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{
    target::ExecTarget,
    task_hash::{TaskHash, stable_hash},
};

/// Step that led to a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A static route names the target of the symbol.
    Static,
    /// The L1 cache had a valid entry.
    Hit,
    /// The scorers moved the target, from offers and metadata.
    Metadata,
    /// Nothing else applied: the evaluator.
    Default,
}

/// State of the policy that a decision was made under: a hash of its text.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(from = "TaskHash", into = "TaskHash")]
pub struct PolicyEpoch(pub u64);

/// Returns a confidence in millionths, as entries and records store it.
pub(super) fn millionths(confidence: f64) -> u32 {
    (confidence * 1e6).round() as u32
}

/// Returns a confidence from 0 to 1.
#[inline]
pub(super) fn confidence(millionths: u32) -> f64 {
    f64::from(millionths) / 1e6
}

/// Target of a call, and the step that led to it. It borrows from the engine, so that a hit allocates nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision<'e> {
    /// Target of the call.
    pub target: &'e ExecTarget,
    /// Step that led to it.
    pub why: Why,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// Policy that it was made or checked under.
    pub policy_epoch: PolicyEpoch,
    /// Second half of the key of the L1 cache.
    pub task_hash: TaskHash,
}

/// A decision with its explanation, as the L1 cache stores it (Seed CCOS §3.b.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelegationPlan {
    /// Target of the call.
    pub target: ExecTarget,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// Explanation for people.
    pub reasoning: String,
    /// Facts that the decision was made from.
    pub metadata: BTreeMap<String, String>,
}

impl Why {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Hit => "hit",
            Self::Metadata => "metadata",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PolicyEpoch {
    /// Returns the epoch of a policy's text.
    pub fn of_policy(text: &[u8]) -> Self {
        Self(stable_hash([text]))
    }
}

/// Both are written as 16 hexadecimal digits: many readers of JSON round a number of 64 bits.
impl From<TaskHash> for PolicyEpoch {
    fn from(digits: TaskHash) -> Self {
        Self(digits.get())
    }
}

impl From<PolicyEpoch> for TaskHash {
    fn from(epoch: PolicyEpoch) -> Self {
        Self::from_number(epoch.0)
    }
}

impl fmt::Display for PolicyEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_json_are_those_that_are_shown() {
        for why in [Why::Static, Why::Hit, Why::Metadata, Why::Default] {
            assert_eq!(serde_json::to_value(why).unwrap(), why.as_str());
        }
    }

    #[test]
    fn an_epoch_is_16_digits_in_json() {
        let epoch = PolicyEpoch(u64::MAX - 1);
        let json = serde_json::to_string(&epoch).unwrap();
        assert_eq!(json, format!("\"{epoch}\""));
        assert_eq!(serde_json::from_str::<PolicyEpoch>(&json).unwrap(), epoch);
    }
}
