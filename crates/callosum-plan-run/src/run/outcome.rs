//! [`call_outcome`]: contribution of an answered call to its capability's statistics.

use callosum_plan::{CapabilityName, FailureKind};

use super::{
    record::RulingWord,
    state::{CallStanding, CallState},
};
use crate::kernel::outcomes::CallOutcome;

/// Failures that say nothing of the capability: the plan's own arguments, its budgets, and what the rules forbade.
const NOT_ITS_OWN: [FailureKind; 3] = [
    FailureKind::InvalidArgument,
    FailureKind::BudgetExhausted,
    FailureKind::SecurityViolation,
];

/// Returns what a call counts for, or nothing if it has no answer, was never made, was answered by a person, or failed for a
/// reason that is not its capability's.
pub fn call_outcome(call: &CallState) -> Option<(CapabilityName, CallOutcome)> {
    let CallStanding::Answered(answered) = &call.standing else {
        return None;
    };
    let ruling = call.ruled.as_ref().map(|ruled| ruled.ruling);
    if ruling != Some(RulingWord::Approved) || call.is_by_person {
        return None;
    }
    let failure = answered.answer.failure.as_ref();
    let is_not_its_own = |kind: &str| NOT_ITS_OWN.iter().any(|own| own.to_string() == kind);
    if failure.is_some_and(|failure| is_not_its_own(&failure.kind)) {
        return None;
    }
    let outcome = CallOutcome {
        failure: failure.map(|failure| (failure.kind.clone(), failure.message.clone())),
        milliseconds: (!answered.found).then_some(answered.spent.elapsed_ms),
        tokens: answered.spent.tokens,
        cost: answered.spent.cost,
    };
    Some((
        CapabilityName::parse(&call.intended.capability).ok()?,
        outcome,
    ))
}
