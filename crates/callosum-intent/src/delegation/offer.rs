//! [`Offer`]: a target that can run a symbol, with what it costs, and the limits that exclude it ([`Veto`]).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{context::Needs, target::ExecTarget};

/// Highest trust tier: part of this program, or a person's own doing.
pub(super) const TOP_TIER: u8 = 3;

/// A target that can run a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Offer {
    /// Target of the call.
    pub target: ExecTarget,
    /// Expected cost of a call, in millionths of a US dollar.
    #[serde(default)]
    pub cost_micros: u64,
    /// Expected time of a call, in milliseconds.
    #[serde(default)]
    pub latency_ms: u64,
    /// Trust tier, from 0 (unknown) to 3 (own). It is compared with the sensitivity of the data.
    #[serde(default)]
    pub trust_tier: u8,
}

/// Reason that excludes an offer at any score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Veto {
    /// The policy denies the target.
    Policy,
    /// The trust tier is lower than the sensitivity of the data.
    Trust,
    /// A call costs more than the budget.
    Budget,
    /// A call takes longer than the deadline.
    Deadline,
}

impl Offer {
    /// Returns an offer of a target without costs, trusted as part of this program.
    pub fn new(target: ExecTarget) -> Self {
        Self {
            target,
            cost_micros: 0,
            latency_ms: 0,
            trust_tier: TOP_TIER,
        }
    }

    /// Sets the expected cost of a call, in millionths of a US dollar.
    #[must_use]
    pub fn cost_micros(mut self, cost: u64) -> Self {
        self.cost_micros = cost;
        self
    }

    /// Sets the expected time of a call, in milliseconds.
    #[must_use]
    pub fn latency_ms(mut self, latency: u64) -> Self {
        self.latency_ms = latency;
        self
    }

    /// Sets the trust tier, from 0 to 3.
    #[must_use]
    pub fn trust_tier(mut self, tier: u8) -> Self {
        self.trust_tier = tier;
        self
    }

    /// Returns the first limit of the call that the offer exceeds.
    pub(super) fn veto(&self, needs: &Needs) -> Option<Veto> {
        if self.trust_tier < needs.sensitivity {
            Some(Veto::Trust)
        } else if needs.budget_micros.is_some_and(|it| self.cost_micros > it) {
            Some(Veto::Budget)
        } else if needs.deadline_ms.is_some_and(|it| self.latency_ms > it) {
            Some(Veto::Deadline)
        } else {
            None
        }
    }
}

impl fmt::Display for Veto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Policy => "the policy denies it",
            Self::Trust => "its trust tier is lower than the sensitivity of the data",
            Self::Budget => "it costs more than the budget",
            Self::Deadline => "it takes longer than the deadline",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-DEL-2: limits are exclusive of what exceeds them, and of nothing else.
    #[test]
    fn an_offer_at_the_limit_is_allowed_and_one_above_it_is_not() {
        let offer = Offer::new(ExecTarget::LocalPure)
            .cost_micros(10)
            .latency_ms(20)
            .trust_tier(2);
        let needs = Needs {
            target: None,
            budget_micros: Some(10),
            deadline_ms: Some(20),
            sensitivity: 2,
        };
        assert_eq!(offer.veto(&needs), None);
        let check = |needs: Needs, veto| assert_eq!(offer.veto(&needs), Some(veto));
        check(
            Needs {
                sensitivity: 3,
                ..needs.clone()
            },
            Veto::Trust,
        );
        check(
            Needs {
                budget_micros: Some(9),
                ..needs.clone()
            },
            Veto::Budget,
        );
        check(
            Needs {
                deadline_ms: Some(19),
                ..needs
            },
            Veto::Deadline,
        );
    }
}
