//! [`CapabilityOutcomes`]: results of the calls of a capability, and the score that follows.
//!
//! Counts and a bounded sample: adding a call costs the same however many there were. Deliberately
//! not here: the file that keeps them, and which calls count.

use std::{cmp::Ordering, collections::BTreeMap};

use callosum_plan::CapabilityName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use callosum_arbiter::budget::Money;

/// Number of last durations that are kept, for their median.
const DURATIONS: usize = 64;

/// Bytes of the message of a failure that are kept.
const LONGEST_MESSAGE: usize = 200;

/// Outcomes by capability.
pub type Outcomes = BTreeMap<CapabilityName, CapabilityOutcomes>;

/// Results of the calls of one capability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityOutcomes {
    /// Calls that count.
    pub calls: u64,
    /// Those of them that answered.
    pub succeeded: u64,
    /// Tokens of models that they used.
    pub tokens: u64,
    /// Money that they cost, in ten-thousandths of a US dollar.
    pub cost: Money,
    /// Milliseconds of the last calls, the newest last.
    pub durations_ms: Vec<u64>,
    /// The last failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<LastFailure>,
}

/// The last failure of a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastFailure {
    /// When it was counted.
    pub at: Timestamp,
    /// Its kind, as plans name it.
    pub kind: String,
    /// Its message, secrets masked, cut at 200 bytes.
    pub message: String,
}

/// Result of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome {
    /// The kind and the message of its failure; none if it answered.
    pub failure: Option<(String, String)>,
    /// Milliseconds that it took; none if it was found by its key after an interruption.
    pub milliseconds: Option<u64>,
    /// Tokens of models that it used.
    pub tokens: u64,
    /// Cost of the call.
    pub cost: Money,
}

impl CapabilityOutcomes {
    /// Counts a call.
    pub fn add(&mut self, outcome: &CallOutcome, at: Timestamp) {
        self.calls = self.calls.saturating_add(1);
        self.tokens = self.tokens.saturating_add(outcome.tokens);
        self.cost = Money(self.cost.0.saturating_add(outcome.cost.0));
        self.durations_ms.extend(outcome.milliseconds);
        let too_many = self.durations_ms.len().saturating_sub(DURATIONS);
        self.durations_ms.drain(..too_many);
        match &outcome.failure {
            None => self.succeeded = self.succeeded.saturating_add(1),
            Some((kind, message)) => {
                let end = message.floor_char_boundary(LONGEST_MESSAGE);
                self.last_failure = Some(LastFailure {
                    at,
                    kind: kind.clone(),
                    message: message[..end].to_owned(),
                });
            }
        }
    }

    /// Returns the score, between 0 and 1: the mean of a Beta(1, 1) distribution after these calls, (successes + 1) / (calls + 2).
    ///
    /// This is Laplace's rule of succession (1774). The lower bound of
    /// Wilson's interval was the alternative (Wilson, Journal of the American Statistical Association 22, 1927). It puts a
    /// capability without calls last, at 0, so that no plan that orders by score would ever try it. Here it is in the middle, at
    /// 0.5, and one failure moves a new capability less than it moves the plain share.
    pub fn score(&self) -> f64 {
        self.score_parts().0 as f64 / self.score_parts().1 as f64
    }

    fn score_parts(&self) -> (u128, u128) {
        (u128::from(self.succeeded) + 1, u128::from(self.calls) + 2)
    }

    /// Compares two scores exactly.
    pub fn compare_score(&self, other: &Self) -> Ordering {
        let ((own, of_own), (others, of_others)) = (self.score_parts(), other.score_parts());
        (own * of_others).cmp(&(others * of_own))
    }

    /// Returns the median of the last durations in milliseconds, the lower one of two.
    pub fn median_ms(&self) -> Option<u64> {
        let mut sorted = self.durations_ms.clone();
        sorted.sort_unstable();
        let middle = sorted.len().saturating_sub(1) / 2;
        sorted.get(middle).copied()
    }

    /// Returns the mean cost of a call.
    pub fn mean_cost(&self) -> Money {
        Money(self.cost.0 / self.calls.max(1))
    }

    /// Returns the mean of the tokens of a call.
    pub fn mean_tokens(&self) -> u64 {
        self.tokens / self.calls.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(milliseconds: u64, failure: Option<&str>) -> CallOutcome {
        CallOutcome {
            failure: failure.map(|message| ("CapabilityError".to_owned(), message.to_owned())),
            milliseconds: Some(milliseconds),
            tokens: 10,
            cost: Money(4),
        }
    }

    fn after(calls: &[CallOutcome]) -> CapabilityOutcomes {
        let mut outcomes = CapabilityOutcomes::default();
        for call in calls {
            outcomes.add(call, Timestamp::UNIX_EPOCH);
        }
        outcomes
    }

    /// CCOS-CAP-1: a score rises with successes and falls with failures, and what was never called is in the middle.
    #[test]
    fn a_score_follows_from_outcomes() {
        let none = after(&[]);
        assert!((none.score() - 0.5).abs() < f64::EPSILON);
        let good = after(&[outcome(10, None)]);
        let bad = after(&[outcome(10, Some("no"))]);
        let better = after(&vec![outcome(10, None); 20]);
        let order = [&bad, &none, &good, &better];
        for pair in order.windows(2) {
            assert_eq!(pair[0].compare_score(pair[1]), Ordering::Less);
            assert!(pair[0].score() < pair[1].score());
        }
    }

    #[test]
    fn what_is_kept_has_bounds() {
        let many: Vec<CallOutcome> = (0..1_000)
            .map(|n| outcome(n, Some(&"é".repeat(500))))
            .collect();
        let kept = after(&many);
        assert_eq!(
            (kept.calls, kept.succeeded, kept.mean_tokens()),
            (1_000, 0, 10)
        );
        assert_eq!(kept.mean_cost(), Money(4));
        assert_eq!(kept.durations_ms.len(), DURATIONS);
        assert_eq!(kept.median_ms(), Some(967));
        assert_eq!(kept.last_failure.unwrap().message.len(), LONGEST_MESSAGE);
        assert_eq!(after(&[]).median_ms(), None);
    }
}
