//! [`Grant`]: permissions of a run, and its state for the kernel.

use std::collections::{BTreeMap, BTreeSet};

use callosum_plan::{Allowlist, CapabilityName};

use super::{
    ids::CallKey,
    record::{ConstitutionPrint, RulingWord, RunRecord},
    state::{CallStanding, RunState},
};
use crate::kernel::{PersonsDecision, RunCaps, RunGrants, RunSpent, Sensitivity, TrustTier};

/// Permissions of a run, granted by its starter.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    /// Level of trust in its plan.
    pub tier: TrustTier,
    /// Capabilities that it may call.
    pub allowed: Allowlist,
    /// The calls that a person approved where it is carried on; a record that says so is not enough.
    pub approved: BTreeSet<CallKey>,
    /// Limits on its resources, in addition to those that it was begun with.
    pub caps: RunCaps,
    /// Sensitivity of its input.
    pub sensitivity: Sensitivity,
    /// Constitution that governs it, for the record.
    pub constitution: ConstitutionPrint,
}

/// Returns the state of a run before the call of this key, with what is about to be put on record,
/// and with what is revoked at this moment.
///
/// Time is that of its calls together; calls that are under way count as calls. What else they may
/// use up is not known, so that no other that may use up something is ruled on before they are
/// over.
pub fn standing(
    state: &RunState,
    grant: &Grant,
    revoked: BTreeSet<CapabilityName>,
    about_to: &[RunRecord],
    key: CallKey,
) -> RunGrants {
    let mut calls: BTreeMap<CapabilityName, u64> = BTreeMap::new();
    let mut decisions = BTreeMap::new();
    let mut yields = 0;
    for call in state.calls() {
        let was_made = matches!(
            call.ruled.as_ref().map(|ruled| ruled.ruling),
            Some(RulingWord::Approved)
        );
        let is_other = call.intended.key != key;
        if was_made && is_other && call.standing != CallStanding::NotDone {
            yields += 1;
            if let Ok(name) = CapabilityName::parse(&call.intended.capability) {
                *calls.entry(name).or_default() += 1;
            }
        }
        if call.standing == CallStanding::Granted && grant.approved.contains(&call.intended.key) {
            decisions.insert(call.intended.key.to_string(), PersonsDecision::Approved);
        }
    }
    let approved = about_to.iter().filter_map(|record| match record {
        RunRecord::Ruled(ruled) if ruled.ruling == RulingWord::Approved => Some(ruled.key),
        _ => None,
    });
    for key in approved {
        yields += 1;
        let intended = about_to.iter().find_map(|record| match record {
            RunRecord::Intended(intended) if intended.key == key => Some(&intended.capability),
            _ => None,
        });
        let capability = intended.or_else(|| Some(&state.call(key)?.intended.capability));
        let name = capability.and_then(|name| CapabilityName::parse(name).ok());
        if let Some(name) = name {
            *calls.entry(name).or_default() += 1;
        }
    }
    let spent = state.spent();
    RunGrants {
        tier: grant.tier,
        allowed: grant.allowed.clone(),
        caps: grant.caps.narrowed(&state.started().caps),
        spent: RunSpent {
            yields,
            tokens: spent.tokens,
            cost: spent.cost,
            milliseconds: spent.elapsed_ms,
        },
        calls,
        sensitivity: grant.sensitivity.max(state.sensitivity()),
        decisions,
        revoked,
    }
}
