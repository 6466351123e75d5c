//! Rules that change while a run is under way: what was revoked or forbidden is stopped.
//!
//! A constitution that is edited during a run may forbid more from then on. What it permits beyond the one that the run goes
//! on under holds when the run is next resumed.

use std::time::{Duration, Instant};

use callosum_plan::{CapabilityName, FailureKind};

use super::{Driver, RunError};
use crate::{
    kernel::{
        CallRequest, Denial, DenialKind, Kernel, ProviderFailure, Ruling, RunCaps, RunGrants,
    },
    run::standing::standing,
};

/// Interval between looks at the rules while calls are being made.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Reason that a call in flight is stopped.
pub(super) struct Stopped {
    /// Description of what was forbidden, and by which rule.
    text: String,
    /// Remedy.
    hint: &'static str,
}

impl<'env, 'a: 'env> Driver<'_, 'env, 'a> {
    /// Has the kernel decide over a call, by the constitution that the run goes on under and by a newer one: the stricter counts.
    pub(super) fn gate(&self, request: &CallRequest, standing: &RunGrants) -> Ruling {
        let ruling = self.means.kernel.gate(request, standing);
        let Some(newer) = &self.newer else {
            return ruling;
        };
        match (ruling, newer.gate(request, standing)) {
            (ruling @ Ruling::Denied(_), _) | (ruling, Ruling::Approved(_)) => ruling,
            (_, stricter) => stricter,
        }
    }

    /// Looks at the rules, unless that was a moment ago.
    pub(super) fn look_at_rules_now_and_then(&mut self) -> Result<(), RunError> {
        if self.rules_seen_at.elapsed() < LOOK_EVERY {
            return Ok(());
        }
        self.look_at_rules()
    }

    /// Looks whether the rules have changed, and stops the calls that are forbidden by now. Costs a look at four files.
    pub(super) fn look_at_rules(&mut self) -> Result<(), RunError> {
        let stamp = self.means.rules.stamp();
        self.rules_seen_at = Instant::now();
        if stamp == self.rules_seen {
            return Ok(());
        }
        // Before they are read, so that a change in between is seen at the next look.
        self.rules_seen = stamp;
        if let Some(constitution) = self.means.rules.constitution() {
            let own = self.means.kernel;
            let is_other = constitution.hash() != own.constitution().hash();
            self.newer =
                is_other.then(|| Kernel::new(std::sync::Arc::clone(own.catalogue()), constitution));
        }
        let revoked = self.means.rules.revoked().map_err(RunError::Revocations)?;
        let mut stopped = Vec::new();
        for (key, call) in &self.flying {
            if call.is_late || call.stopped.is_some() {
                continue;
            }
            // What is left of budgets is no reason to stop what was approved when there was more.
            let at_call = RunGrants {
                caps: RunCaps::default(),
                calls: std::collections::BTreeMap::new(),
                ..standing(&self.state, self.means.grant, revoked.clone(), &[], *key)
            };
            let ruling = self.gate(&call.request, &at_call);
            let addressee = call.addressee.get();
            let revoked = addressee.filter(|name| at_call.revoked.contains(*name));
            let why = match (&ruling, revoked) {
                (_, Some(name)) => Some(Stopped::named(name, "revoked", RESTORE)),
                (Ruling::Denied(denial), None) => Stopped::by(denial),
                (Ruling::Approved(call), None) => addressee
                    .filter(|name| call.barred().contains(*name))
                    .map(|name| Stopped::named(name, "forbidden", SHOW)),
                (Ruling::NeedsApproval(_), None) => None,
            };
            stopped.extend(why.map(|why| (*key, why)));
        }
        for (key, why) in stopped {
            if let Some(call) = self.flying.get_mut(&key) {
                call.stopped = Some(why);
                call.cancel.cancel();
            }
        }
        Ok(())
    }
}

impl Stopped {
    /// By a denial of a call that was approved before.
    fn by(denial: &Denial) -> Option<Self> {
        let name = &denial.capability;
        let how = match denial.kind {
            DenialKind::Revoked => return Some(Self::named(name, "revoked", RESTORE)),
            DenialKind::Forbidden => {
                let policies = denial.grounds.policies.join(", ");
                format!("forbidden by {policies}")
            }
            DenialKind::NotPermitted | DenialKind::Constitution => {
                "left without a policy that permits it".to_owned()
            }
            _ => return None,
        };
        Some(Self::named(name, &how, SHOW))
    }

    /// By what happened to the executor that performs it.
    fn named(name: &CapabilityName, how: &str, hint: &'static str) -> Self {
        Self {
            text: format!("`{name}` was {how} while running"),
            hint,
        }
    }

    /// The failure that the plan gets, in place of the one that its provider ended with.
    ///
    /// It is the call's answer, and no second ruling is on record: with one, a process that ended between the two would make the
    /// call again.
    pub(super) fn failure(self, ended: ProviderFailure) -> ProviderFailure {
        let done = if ended.may_have_happened {
            "; it may have done part of its work"
        } else {
            ""
        };
        ProviderFailure {
            kind: FailureKind::SecurityViolation,
            message: format!("{}{done}", self.text),
            hint: Some(self.hint),
            ..ended
        }
    }
}

const RESTORE: &str = "run `callosum capability restore NAME` to restore it";

const SHOW: &str = "run `callosum constitution show` for the policies";
