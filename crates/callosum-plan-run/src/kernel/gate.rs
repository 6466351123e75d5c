//! [`Kernel::gate`]: the check that every call passes.
//!
//! Rules that no policy may change come first: whether there is such a capability, whether it was
//! revoked, whether the run may call it, a person's decision, whether the arguments are valid, the
//! rest of the budgets. Then the constitution decides. Nothing here looks at a clock or a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callosum_plan::{CapabilityName, Key, Value};

use super::{
    accepted::PendingChange,
    call_target::{Addressee, stricter},
    catalogue::Catalogue,
    constitution::{
        Constitution, Verdict,
        request_context::{CapabilityEntity, Facts},
    },
    decision::{ApprovalRequest, ApprovedCall, CallLimits, Denial, DenialKind, Reasons, Ruling},
    effect::TrustTier,
    manifest::{Manifest, Provenance},
    redaction::{Redacted, redact},
    request::CallRequest,
    run_grants::{PersonsDecision, RunCaps, RunGrants},
};

/// Units of work that holding arguments against a type may take.
pub(super) const SCHEMA_WORK: u64 = 1 << 20;

/// Bytes of a hint; one that shows longer arguments is none.
pub(super) const LONGEST_HINT: usize = 300;

/// Decides over each call of a plan.
#[derive(Clone, Debug)]
pub struct Kernel {
    catalogue: Arc<Catalogue>,
    constitution: Constitution,
    /// The catalog in the policies' terms; an error marks a capability that can't be put in them.
    entities: Arc<BTreeMap<CapabilityName, Result<CapabilityEntity, String>>>,
}

/// Obstacle to a call, before any policy is asked.
struct Objection {
    kind: DenialKind,
    policy: &'static str,
    text: String,
    hint: Option<String>,
}

impl Kernel {
    /// Makes a kernel over the capabilities that there are.
    pub fn new(catalogue: Arc<Catalogue>, constitution: Constitution) -> Self {
        let entity = |manifest: &Arc<Manifest>| {
            let entity = CapabilityEntity::of(manifest);
            (manifest.id.clone(), entity)
        };
        Self {
            entities: Arc::new(catalogue.iter().map(entity).collect()),
            catalogue,
            constitution,
        }
    }

    /// Returns the capabilities that it knows.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// Returns the constitution that it decides by.
    pub fn constitution(&self) -> &Constitution {
        &self.constitution
    }

    /// Decides over one call. The same request and standing always get the same ruling.
    ///
    /// Costs some ten microseconds, and as much more as it takes to look through the arguments.
    pub fn gate(&self, request: &CallRequest, standing: &RunGrants) -> Ruling {
        match self.decide(request, standing) {
            Ok(ruling) => ruling,
            Err(objection) => Ruling::Denied(Denial {
                capability: request.capability.clone(),
                position: request.position.clone(),
                key: request.key.clone(),
                kind: objection.kind,
                grounds: self.grounds(vec![objection.policy.to_owned()], objection.text),
                hint: objection.hint,
            }),
        }
    }

    fn decide(&self, request: &CallRequest, standing: &RunGrants) -> Result<Ruling, Objection> {
        let manifest = self.known(request)?;
        may_call(request, standing)?;
        self.is_accepted(&request.capability)?;
        let redacted = fitting(request, manifest)?;
        let limits = within_budget(request, manifest, standing)?;
        let own = &request.capability;
        let (verdict, barred) = match Addressee::of(request, manifest) {
            Addressee::Itself => (
                self.verdict(own, request, standing, &redacted),
                BTreeSet::new(),
            ),
            Addressee::Named(executor) => {
                self.may_hand_on(&executor, request, standing)?;
                let verdict = self.verdict(own, request, standing, &redacted);
                // The provider asks only executors of the catalog.
                let verdict = match self.catalogue.get(&executor) {
                    Some(_) => stricter(
                        verdict,
                        self.verdict(&executor, request, standing, &redacted),
                    ),
                    None => verdict,
                };
                (verdict, BTreeSet::new())
            }
            Addressee::Unknown(text) => return Err(no_addressee(&text, own)),
            Addressee::Any => (
                self.verdict(own, request, standing, &redacted),
                self.barred(request, standing, &redacted),
            ),
        };
        let (policies, why) = match verdict {
            Verdict::Permitted { policies } => (policies, None),
            Verdict::Asked { policies, why } => (policies, Some(why)),
            verdict => return Ok(Ruling::Denied(self.denied(request, verdict))),
        };
        let withheld = redacted.withheld;
        let request = CallRequest {
            arguments: redacted.arguments,
            ..request.clone()
        };
        let name = &request.capability;
        let decision = standing.decisions.get(&request.key);
        let by_person = decision == Some(&PersonsDecision::Approved);
        if let Some(why) = why.as_ref().filter(|_| !by_person) {
            let without = without(manifest, withheld);
            let question = format!("may the plan call `{name}`? {why}{without}");
            return Ok(Ruling::NeedsApproval(ApprovalRequest {
                grounds: self.grounds(policies, format!("a person is asked for `{name}`: {why}")),
                question,
                request,
            }));
        }
        let text = match why {
            Some(why) => format!("a person approved `{name}`: {why}"),
            None => format!("`{name}` is permitted"),
        };
        Ok(Ruling::Approved(ApprovedCall::new(
            request,
            limits,
            manifest.sensitivity.max(standing.sensitivity),
            by_person,
            barred,
            self.grounds(policies, text),
        )))
    }

    /// Refuses to have a task handed to an executor that was revoked, or that is to see less than what is
    /// handed on.
    fn may_hand_on(
        &self,
        executor: &CapabilityName,
        request: &CallRequest,
        standing: &RunGrants,
    ) -> Result<(), Objection> {
        if standing.revoked.contains(executor) {
            return Err(revoked(executor));
        }
        self.is_accepted(executor)?;
        let name = &request.capability;
        let manifest = self.catalogue.get(executor);
        if manifest.is_some_and(|manifest| manifest.trust_tier < TrustTier::TRUSTED) {
            return Err(Objection {
                kind: DenialKind::NotAllowed,
                policy: "kernel.addressee",
                text: format!(
                    "the trust tier of `{executor}` is too low to ask it through `{name}`"
                ),
                hint: Some(format!("call `:{executor}`")),
            });
        }
        Ok(())
    }

    /// The executors that a call may not be handed to.
    fn barred(
        &self,
        request: &CallRequest,
        standing: &RunGrants,
        redacted: &Redacted,
    ) -> BTreeSet<CapabilityName> {
        let executors = self
            .catalogue
            .iter()
            .filter(|manifest| matches!(manifest.provenance, Provenance::Executor(_)));
        let is_barred = |manifest: &&Arc<Manifest>| {
            self.may_hand_on(&manifest.id, request, standing).is_err()
                || !matches!(
                    self.verdict(&manifest.id, request, standing, redacted),
                    Verdict::Permitted { .. }
                )
        };
        let barred = executors.filter(is_barred);
        barred.map(|manifest| manifest.id.clone()).collect()
    }

    /// Returns the policies' verdict on a call with this capability for its resource.
    fn verdict(
        &self,
        resource: &CapabilityName,
        request: &CallRequest,
        standing: &RunGrants,
        redacted: &Redacted,
    ) -> Verdict {
        let capability = match self.entities.get(resource) {
            Some(Ok(capability)) => capability,
            Some(Err(error)) => return Verdict::Failed(error.clone()),
            None => return Verdict::NotPermitted,
        };
        let weight = request.arguments.iter().map(Value::weight);
        self.constitution.decide(&Facts {
            request,
            capability,
            tier: standing.tier,
            sensitivity: standing.sensitivity,
            argument_bytes: weight.fold(0, u64::saturating_add),
            masked: redacted.masked,
            withheld: redacted.withheld,
            calls: standing.calls_of(resource),
            left: standing.caps.left(&standing.spent),
        })
    }

    /// Says what a verdict means that lets nothing through.
    fn denied(&self, request: &CallRequest, verdict: Verdict) -> Denial {
        let name = &request.capability;
        let own = |id: &str| vec![id.to_owned()];
        let (kind, policies, text, hint) = match verdict {
            Verdict::Forbidden { policies, hint } => {
                let text = format!("`{name}` is forbidden by {}", policies.join(", "));
                (DenialKind::Forbidden, policies, text, hint)
            }
            Verdict::Failed(reason) => {
                let text = format!("nothing is permitted: {reason}");
                let hint = "run `callosum constitution show` for the reason".to_owned();
                let policies = own("kernel.constitution");
                (DenialKind::Constitution, policies, text, Some(hint))
            }
            Verdict::NotPermitted | Verdict::Permitted { .. } | Verdict::Asked { .. } => {
                let text = format!("no policy permits `{name}`");
                let hint = "run `callosum constitution show` for the policies".to_owned();
                let policies = own("kernel.default-deny");
                (DenialKind::NotPermitted, policies, text, Some(hint))
            }
        };
        Denial {
            capability: name.clone(),
            position: request.position.clone(),
            key: request.key.clone(),
            kind,
            grounds: self.grounds(policies, text),
            hint,
        }
    }

    fn known(&self, request: &CallRequest) -> Result<&Manifest, Objection> {
        let manifest = self.catalogue.get(&request.capability);
        manifest.map(Arc::as_ref).ok_or_else(|| Objection {
            kind: DenialKind::UnknownCapability,
            policy: "kernel.unknown-capability",
            text: format!("no one provides `{}`", request.capability),
            hint: Some("run `callosum capability list` for all capabilities".to_owned()),
        })
    }

    /// Refuses a capability that widened since this machine accepted it.
    fn is_accepted(&self, name: &CapabilityName) -> Result<(), Objection> {
        let Some(pending) = self.catalogue.pending(name) else {
            return Ok(());
        };
        let PendingChange { from, to, change } = pending;
        let reasons = change.decisive().join("; ");
        Err(Objection {
            kind: DenialKind::Changed,
            policy: "kernel.changed",
            text: format!("`{name}` changed since it was accepted, from {from} to {to}: {reasons}"),
            hint: Some(format!(
                "run `callosum capability show {name}`, then `callosum capability accept {name}`"
            )),
        })
    }

    fn grounds(&self, policies: Vec<String>, text: String) -> Reasons {
        Reasons {
            policies,
            constitution: self.constitution.hash().to_owned(),
            text,
        }
    }
}

fn revoked(name: &CapabilityName) -> Objection {
    Objection {
        kind: DenialKind::Revoked,
        policy: "kernel.revoked",
        text: format!("`{name}` was revoked on this machine"),
        hint: Some(format!(
            "run `callosum capability restore {name}` to restore it"
        )),
    }
}

fn no_addressee(text: &str, name: &CapabilityName) -> Objection {
    Objection {
        kind: DenialKind::NotAllowed,
        policy: "kernel.addressee",
        text: format!(
            "`{}` is not an executor that plans can call, so `{name}` does not ask it",
            text.escape_debug()
        ),
        hint: Some("run `callosum capability list` for all capabilities".to_owned()),
    }
}

fn may_call(request: &CallRequest, standing: &RunGrants) -> Result<(), Objection> {
    let name = &request.capability;
    if standing.revoked.contains(name) {
        return Err(revoked(name));
    }
    if !standing.allowed.allows(name) {
        return Err(Objection {
            kind: DenialKind::NotAllowed,
            policy: "kernel.allowlist",
            text: format!(
                "the run may not call `{name}`; it may call {}",
                standing.allowed
            ),
            hint: None,
        });
    }
    if standing.decisions.get(&request.key) == Some(&PersonsDecision::Refused) {
        return Err(Objection {
            kind: DenialKind::Refused,
            policy: "kernel.refused",
            text: format!("a person refused this call of `{name}`"),
            hint: None,
        });
    }
    Ok(())
}

/// Returns a remark for a person who sees the arguments as the plan wrote them: some are withheld.
fn without(manifest: &Manifest, withheld: usize) -> String {
    if withheld == 0 {
        return String::new();
    }
    let names = manifest.sensitive_fields.iter();
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!(
        "; its trust tier is too low for {}, which is withheld",
        names.join(", ")
    )
}

/// The arguments as the provider may see them, where they are what the capability takes.
fn fitting(request: &CallRequest, manifest: &Manifest) -> Result<Redacted, Objection> {
    let refuse = |text: String| Objection {
        kind: DenialKind::Arguments,
        policy: "kernel.arguments",
        text: format!("`{}`: {text}", request.capability),
        hint: None,
    };
    let none = BTreeSet::new();
    let withheld = if manifest.trust_tier < TrustTier::TRUSTED {
        &manifest.sensitive_fields
    } else {
        &none
    };
    let redacted =
        redact(&request.arguments, withheld).map_err(|error| refuse(error.to_string()))?;
    let mismatch = match request.arguments.as_slice() {
        [one] => manifest.input.mismatch_within(one, SCHEMA_WORK),
        several => {
            let all = Value::vector(several.to_vec());
            manifest.input.mismatch_within(&all, SCHEMA_WORK)
        }
    };
    if let Some(mismatch) = mismatch {
        let map = map_of_pairs(&redacted.arguments);
        let map = map.filter(|map| manifest.input.mismatch_within(map, SCHEMA_WORK).is_none());
        let hint = map.map(|map| format!("write one map: `(call :{} {map})`", request.capability));
        return Err(Objection {
            hint: hint.filter(|hint| hint.len() <= LONGEST_HINT),
            ..refuse(mismatch)
        });
    }
    Ok(redacted)
}

/// The map that arguments are which were written as keywords, each before its value.
pub(super) fn map_of_pairs(arguments: &[Value]) -> Option<Value> {
    let pairs = arguments.chunks(2).map(|pair| match pair {
        [Value::Keyword(name), value] => Some((Key::Keyword(name.clone()), value.clone())),
        _ => None,
    });
    let pairs: Option<BTreeMap<Key, Value>> = pairs.collect();
    pairs.filter(|pairs| !pairs.is_empty()).map(Value::map)
}

fn within_budget(
    request: &CallRequest,
    manifest: &Manifest,
    standing: &RunGrants,
) -> Result<CallLimits, Objection> {
    let refuse = |policy, text: String, hint: Option<&str>| Objection {
        kind: DenialKind::Budget,
        policy,
        text,
        hint: hint.map(str::to_owned),
    };
    let used = standing.calls_of(&request.capability);
    let quota = manifest.quotas.calls_per_run;
    if let Some(quota) = quota.filter(|quota| used >= *quota) {
        let text = format!("one run may call `{}` {quota} times", request.capability);
        return Err(refuse("kernel.quota", text, None));
    }
    let left = standing.caps.left(&standing.spent);
    if let Some((policy, what, option)) = used_up(&left) {
        let text = format!("the run's budget of {what} is used up");
        let hint = format!("start it again with a larger `{option}`");
        return Err(refuse(policy, text, Some(&hint)));
    }
    let within =
        |milliseconds: u64, other: Option<u64>| milliseconds.min(other.unwrap_or(u64::MAX));
    let milliseconds = within(manifest.quotas.milliseconds, request.timeout_ms());
    Ok(CallLimits {
        milliseconds: within(milliseconds, left.milliseconds),
        answer_bytes: manifest.quotas.answer_bytes,
        tokens: left.tokens,
        cost: left.cost,
    })
}

/// The policy by which nothing more is called, what is used up, and the option that sets its cap.
fn used_up(left: &RunCaps) -> Option<(&'static str, &'static str, &'static str)> {
    if left.yields == Some(0) {
        return Some(("kernel.budget.yields", "calls", "--max-calls"));
    }
    if left.tokens == Some(0) {
        return Some(("kernel.budget.tokens", "tokens", "--max-tokens"));
    }
    if left.cost.is_some_and(|cost| cost.0 == 0) {
        return Some(("kernel.budget.cost", "money", "--max-cost"));
    }
    if left.milliseconds == Some(0) {
        return Some(("kernel.budget.time", "time", "--timeout"));
    }
    None
}
