//! The kernel's ruling about a call, put on record before anything is made of it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use callosum_json::Checksum;
use callosum_plan::{CapabilityName, Failure, FailureKind, Yield};

use super::{Driver, RunError};
use crate::{
    kernel::{ApprovedCall, CallRequest, Provider, Ruling, RunCaps},
    run::{
        ids::{CallKey, arguments_text},
        next_action::{Attention, Need},
        payload_store::keep,
        record::{Answer, Answered, Intended, KeptFailure, Ruled, RulingWord, RunRecord, Spent},
        standing::standing,
    },
};

/// A call that may be made, who makes it, and the request that it was approved for.
pub(super) type Approved<'a> = (ApprovedCall, Arc<dyn Provider + 'a>, CallRequest);

impl<'env, 'a: 'env> Driver<'_, 'env, 'a> {
    /// Has the kernel rule about a call, and puts it on record.
    pub(super) fn rule(
        &mut self,
        attention: Attention,
        records: &mut Vec<RunRecord>,
        approved: &mut Vec<Approved<'a>>,
        waiting: &mut Vec<CallKey>,
    ) -> Result<(), RunError> {
        let Attention {
            call,
            key,
            attempt,
            need,
        } = attention;
        if self.flying.len() + approved.len() >= self.means.at_once || self.is_delayed(key, &call) {
            return Ok(());
        }
        if self.is_behind_others(&call.capability, approved) {
            return Ok(());
        }
        if need == Need::Begin {
            let ordinal = self.state.calls().len() as u64;
            let begun = records
                .iter()
                .filter(|record| matches!(record, RunRecord::Intended(_)))
                .count() as u64;
            let intended = self.intended(&call, key, attempt, ordinal + begun)?;
            records.push(RunRecord::Intended(Box::new(intended)));
        }
        let request = CallRequest::of_yield(
            self.state.run().as_str(),
            &self.state.started().source_sha256.to_string(),
            &key.to_string(),
            &call,
        );
        self.look_at_rules()?;
        let revoked = self.means.rules.revoked().map_err(RunError::Revocations)?;
        let at_call = standing(&self.state, self.means.grant, revoked, records, key);
        let ruling = self.gate(&request, &at_call);
        let grounds = ruling.grounds().clone();
        let mut ruled = Ruled {
            key,
            ruling: RulingWord::Approved,
            policies: grounds.policies,
            reason: grounds.text,
            sensitivity: None,
        };
        match ruling {
            Ruling::Approved(call) => {
                let provider = self.means.providers.get(call.capability());
                let Some(provider) = provider else {
                    ruled.ruling = RulingWord::Denied;
                    let failure = unprovided(call.capability());
                    records.push(RunRecord::Ruled(ruled));
                    records.push(RunRecord::Answered(Self::refused(key, &failure)));
                    return Ok(());
                };
                ruled.sensitivity = Some(call.sensitivity());
                records.push(RunRecord::Ruled(ruled));
                approved.push((call, Arc::clone(provider), request));
            }
            Ruling::NeedsApproval(request) => {
                ruled.ruling = RulingWord::Asked;
                ruled.reason = request.question;
                records.push(RunRecord::Ruled(ruled));
                waiting.push(key);
            }
            Ruling::Denied(denial) => {
                ruled.ruling = RulingWord::Denied;
                records.push(RunRecord::Ruled(ruled));
                let failure = denial.to_failure();
                records.push(RunRecord::Answered(Self::refused(key, &failure)));
            }
        }
        Ok(())
    }

    /// Whether a call has to wait for others to end: what one uses of the run's tokens and money is known when
    /// it is over, so until then it has all that is left.
    fn is_behind_others(&self, capability: &CapabilityName, approved: &[Approved<'a>]) -> bool {
        let caps = self.caps();
        if caps.tokens.is_none() && caps.cost.is_none() {
            return false;
        }
        let may_cost = |name: &CapabilityName| {
            let provider = self.means.providers.get(name);
            provider.is_some_and(|provider| provider.manifest().may_cost())
        };
        let others = approved.iter();
        may_cost(capability)
            && (self.flying.values().any(|call| call.may_cost)
                || others.map(|(call, ..)| call.capability()).any(may_cost))
    }

    /// Returns the limits on the resources of the run, in all.
    pub(super) fn caps(&self) -> RunCaps {
        self.means.grant.caps.narrowed(&self.state.started().caps)
    }

    /// Whether a call's step asks for a pause that is not over.
    fn is_delayed(&mut self, key: CallKey, call: &Yield) -> bool {
        if call.delay_ms == 0 {
            return false;
        }
        let now = Instant::now();
        let pause = Duration::from_millis(call.delay_ms);
        let until = *self.not_before.entry(key).or_insert(now + pause);
        if until > now {
            return true;
        }
        self.not_before.remove(&key);
        false
    }

    fn intended(
        &self,
        call: &Yield,
        key: CallKey,
        attempt: u32,
        ordinal: u64,
    ) -> Result<Intended, RunError> {
        let arguments = arguments_text(&call.arguments);
        let masked = callosum_redact::secrets::mask(&arguments).text;
        let (line, column) = call.span.line_and_column(self.source);
        let steps = call.steps.iter().map(|step| match step.attempt {
            1 => step.id.to_string(),
            attempt => format!("{}#{attempt}", step.id),
        });
        Ok(Intended {
            position: call.position.to_string(),
            ordinal,
            capability: call.capability.to_string(),
            arguments_sha256: Checksum::of(arguments.as_bytes()),
            arguments: keep(self.means.answers, masked)?,
            key,
            attempt,
            steps: steps.collect(),
            line: line as u64,
            column: column as u64,
        })
    }

    fn refused(key: CallKey, failure: &Failure) -> Answered {
        Answered {
            key,
            answer: Answer::of_failure(KeptFailure::of(failure)),
            spent: Spent::default(),
            found: false,
            sensitivity: None,
        }
    }
}

fn unprovided(capability: &CapabilityName) -> Failure {
    let what = format!("no one provides `:{capability}` here");
    Failure::new(FailureKind::UnknownCapability, what)
        .with_hint("run `callosum capability list` for all capabilities")
}
