//! [`Ruling`]: the kernel's decision on a call, with the policies that made it.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, OnceLock},
};

use callosum_plan::{CapabilityName, Failure, FailureKind, Position, Value};
use serde::{Deserialize, Serialize};

use super::{effect::Sensitivity, request::CallRequest};
use callosum_arbiter::budget::Money;

/// Decision of the kernel on a call.
#[derive(Debug)]
pub enum Ruling {
    /// It may go ahead.
    Approved(ApprovedCall),
    /// A person must say whether it may.
    NeedsApproval(ApprovalRequest),
    /// It may not.
    Denied(Denial),
}

/// Reasons for a ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasons {
    /// The ids of the policies that decided; those that begin with `kernel.` are the kernel's own.
    pub policies: Vec<String>,
    /// The hash of the constitution that has them.
    pub constitution: String,
    /// Explanation for a person, in a sentence.
    pub text: String,
}

/// A call that may be performed, once.
///
/// Only [`Kernel::gate`](super::Kernel::gate) makes one:
///
/// ```compile_fail
/// use callosum_plan_run::kernel::{ApprovedCall, CallRequest, Grounds};
///
/// fn forge(request: CallRequest, grounds: Grounds) -> ApprovedCall {
///     ApprovedCall { request, grounds }
/// }
/// ```
///
/// ```compile_fail,E0624
/// use callosum_plan_run::kernel::ApprovedCall;
///
/// let forged = ApprovedCall::new;
/// ```
///
/// ```compile_fail,E0599
/// use callosum_plan_run::kernel::ApprovedCall;
///
/// fn double(call: ApprovedCall) -> (ApprovedCall, ApprovedCall) {
///     (call.clone(), call)
/// }
/// ```
///
/// ```compile_fail,E0277
/// use callosum_plan_run::kernel::ApprovedCall;
///
/// fn read(json: &str) -> ApprovedCall {
///     serde_json::from_str(json).unwrap()
/// }
/// ```
///
/// ```compile_fail,E0616
/// use callosum_plan_run::kernel::ApprovedCall;
///
/// fn reroute(mut call: ApprovedCall, to: &ApprovedCall) -> ApprovedCall {
///     call.request = to.request().clone();
///     call
/// }
/// ```
#[derive(Debug)]
pub struct ApprovedCall {
    request: CallRequest,
    limits: CallLimits,
    sensitivity: Sensitivity,
    by_person: bool,
    barred: BTreeSet<CapabilityName>,
    grounds: Reasons,
    addressee: Arc<OnceLock<CapabilityName>>,
}

/// Resources that one call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Milliseconds.
    pub milliseconds: u64,
    /// Bytes of its answer.
    pub answer_bytes: u64,
    /// Tokens of models that the run has left.
    pub tokens: Option<u64>,
    /// Money that the run has left.
    pub cost: Option<Money>,
}

/// A call that waits for a person, with what they are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRequest {
    /// The request, with the arguments that the provider would get.
    pub request: CallRequest,
    /// The question.
    pub question: String,
    /// Policies that ask for a person.
    pub grounds: Reasons,
}

/// A call that may not be performed.
#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    /// Capability that is called.
    pub capability: CapabilityName,
    /// Position of the call in the run.
    pub position: Position,
    /// Its key.
    pub key: String,
    /// Kind of denial.
    pub kind: DenialKind,
    /// Policies that denied it.
    pub grounds: Reasons,
    /// Suggestion for the user, if there is one.
    pub hint: Option<String>,
}

/// Kind of denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DenialKind {
    /// There is no capability of that name.
    UnknownCapability,
    /// It was revoked on this machine.
    Revoked,
    /// It changed since this machine accepted it, and no person accepted that.
    Changed,
    /// The run may not call it.
    NotAllowed,
    /// Its arguments are none that it takes, or too many or too deep.
    Arguments,
    /// A budget of the run, or the capability's quota, is used up.
    Budget,
    /// A person refused it.
    Refused,
    /// A policy forbids it.
    Forbidden,
    /// No policy permits it.
    NotPermitted,
    /// The policies can't be evaluated for it.
    Constitution,
}

impl Ruling {
    /// Returns why it is what it is.
    pub fn grounds(&self) -> &Reasons {
        match self {
            Self::Approved(call) => call.grounds(),
            Self::NeedsApproval(request) => &request.grounds,
            Self::Denied(denial) => &denial.grounds,
        }
    }
}

impl ApprovedCall {
    /// The only constructor, for the kernel alone.
    pub(in crate::kernel) fn new(
        request: CallRequest,
        limits: CallLimits,
        sensitivity: Sensitivity,
        by_person: bool,
        barred: BTreeSet<CapabilityName>,
        grounds: Reasons,
    ) -> Self {
        Self {
            request,
            limits,
            sensitivity,
            by_person,
            barred,
            grounds,
            addressee: Arc::default(),
        }
    }

    /// Returns what is to be done, its arguments redacted.
    pub fn request(&self) -> &CallRequest {
        &self.request
    }

    /// Returns what is called.
    pub fn capability(&self) -> &CapabilityName {
        &self.request.capability
    }

    /// Returns what it is called with, redacted.
    pub fn arguments(&self) -> &[Value] {
        &self.request.arguments
    }

    /// Returns what this call and no other is known by.
    pub fn key(&self) -> &str {
        &self.request.key
    }

    /// Returns what it may take.
    pub fn limits(&self) -> CallLimits {
        self.limits
    }

    /// Returns how sensitive its answer is to be held, which the run's standing takes up.
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// Returns whether a person approved it.
    pub fn by_person(&self) -> bool {
        self.by_person
    }

    /// Returns the executors that may not get the call, if the provider chooses one.
    pub fn barred(&self) -> &BTreeSet<CapabilityName> {
        &self.barred
    }

    /// Notes the executor that its provider chose; the first note counts.
    pub fn note_addressee(&self, executor: CapabilityName) {
        drop(self.addressee.set(executor));
    }

    /// Returns the place where its provider notes the executor that it chose.
    pub(crate) fn addressee(&self) -> Arc<OnceLock<CapabilityName>> {
        Arc::clone(&self.addressee)
    }

    /// Returns why it may go ahead.
    pub fn grounds(&self) -> &Reasons {
        &self.grounds
    }
}

impl Denial {
    /// Returns the failure that the program gets.
    pub fn to_failure(&self) -> Failure {
        let failure = Failure::new(self.kind.failure_kind(), self.grounds.text.clone());
        match &self.hint {
            Some(hint) => failure.with_hint(hint.clone()),
            None => failure,
        }
    }
}

impl DenialKind {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownCapability => "unknown-capability",
            Self::Revoked => "revoked",
            Self::Changed => "changed",
            Self::NotAllowed => "not-allowed",
            Self::Arguments => "arguments",
            Self::Budget => "budget",
            Self::Refused => "refused",
            Self::Forbidden => "forbidden",
            Self::NotPermitted => "not-permitted",
            Self::Constitution => "constitution",
        }
    }

    /// Returns what a program knows it as. A budget that is used up is caught by nothing.
    pub fn failure_kind(self) -> FailureKind {
        match self {
            Self::UnknownCapability => FailureKind::UnknownCapability,
            Self::Arguments => FailureKind::TypeValidationError,
            Self::Budget => FailureKind::BudgetExhausted,
            Self::Revoked
            | Self::Changed
            | Self::NotAllowed
            | Self::Refused
            | Self::Forbidden
            | Self::NotPermitted
            | Self::Constitution => FailureKind::SecurityViolation,
        }
    }
}

impl fmt::Display for DenialKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
