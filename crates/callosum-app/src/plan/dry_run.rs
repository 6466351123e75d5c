//! [`DryRun`]: rulings of the kernel on each call of a plan, as if it were run.

use std::sync::Arc;

use callosum_json::Checksum;
use callosum_plan::{Allowlist, Failure, Program, Yield};
use callosum_plan_run::kernel::{CallRequest, Kernel, Ruling, RunCaps, RunGrants, TrustTier};
use schemars::JsonSchema;
use serde::Serialize;

use crate::constitution::{governance, governance_failed};
use crate::context::Context;
use crate::plan::drive::constitution;
use crate::plan::source::Source;
use crate::{CommandError, capability};

/// The kernel's ruling on one call.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RulingOutput {
    /// Position of the call in the run.
    pub position: String,
    /// Capability that is called.
    pub capability: String,
    /// `approved`, `asked` where a person would be, or `denied`.
    pub ruling: String,
    /// The policies that would decide.
    pub policies: Vec<String>,
    /// Reason, in a sentence.
    pub reason: String,
}

/// A run that only asks what it may.
///
/// Nothing is performed and nothing recorded. What a person would be asked for counts as approved in what
/// follows, so that each question of a run is seen in one go.
pub struct DryRun {
    kernel: Kernel,
    standing: RunGrants,
    plan_hash: String,
    /// Rulings so far, in the order of the calls.
    pub rulings: Vec<RulingOutput>,
}

impl DryRun {
    /// Of a plan that a person at the command line would run now, here.
    pub fn of(
        context: &Context,
        source: &Source,
        program: &Program,
        caps: RunCaps,
    ) -> Result<Self, CommandError> {
        let catalogue = Arc::new(capability::catalogue(context)?);
        let (constitution, _) = constitution(context);
        let revoked = governance(context).revoked();
        let names: Vec<String> = program.capabilities().map(ToString::to_string).collect();
        Ok(Self {
            kernel: Kernel::new(catalogue, constitution),
            standing: RunGrants {
                tier: TrustTier::OWN,
                allowed: Allowlist::parse(&names).map_err(CommandError::internal)?,
                caps,
                revoked: revoked.map_err(|error| governance_failed(&error))?,
                ..RunGrants::default()
            },
            plan_hash: Checksum::of(source.text.as_bytes()).to_string(),
            rulings: Vec::new(),
        })
    }

    /// Asks for the ruling on a call; fails with the plan's failure if the call would be denied.
    pub fn ask(&mut self, call: &Yield) -> Result<(), Failure> {
        // No call of a run has such a key, so no decision of a person applies to it.
        let key = format!("rehearsal-{}", call.position);
        let request = CallRequest::of_yield("rehearsal", &self.plan_hash, &key, call);
        let ruling = self.kernel.gate(&request, &self.standing);
        let grounds = ruling.grounds();
        let word = match &ruling {
            Ruling::Approved(_) => "approved",
            Ruling::NeedsApproval(_) => "asked",
            Ruling::Denied(_) => "denied",
        };
        self.rulings.push(RulingOutput {
            position: call.position.to_string(),
            capability: call.capability.to_string(),
            ruling: word.to_owned(),
            policies: grounds.policies.clone(),
            reason: grounds.text.clone(),
        });
        if let Ruling::Denied(denial) = &ruling {
            return Err(denial.to_failure());
        }
        let standing = &mut self.standing;
        standing.spent.yields += 1;
        *standing.calls.entry(call.capability.clone()).or_default() += 1;
        if let Some(manifest) = self.kernel.catalogue().get(&call.capability) {
            standing.sensitivity = standing.sensitivity.max(manifest.sensitivity);
        }
        Ok(())
    }
}

impl RulingOutput {
    /// The same on one line, for a person.
    pub fn line(&self) -> String {
        let Self {
            position,
            capability,
            ruling,
            policies,
            reason,
        } = self;
        let by = policies.join(", ");
        format!("call {position} :{capability}: {ruling} by {by}: {reason}")
    }
}
