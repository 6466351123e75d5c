//! [`Provider`]: performs capabilities, and receives only calls that the kernel has approved.

use callosum_host::process::Cancel;
use callosum_plan::{Failure, FailureKind, Value};
use thiserror::Error;

use super::{decision::ApprovedCall, effect::Sensitivity, manifest::Manifest};
use callosum_arbiter::budget::Money;

/// Performs one capability.
///
/// A call is taken by value, and can be neither made nor copied, so each is performed once at most:
///
/// ```
/// use callosum_plan_run::kernel::{Answer, ApprovedCall, Provider, ProviderFailure};
/// use callosum_host::process::Cancel;
///
/// fn once(provider: &dyn Provider, call: ApprovedCall, cancel: &Cancel) -> Result<Answer, ProviderFailure> {
///     provider.perform(call, cancel)
/// }
/// ```
///
/// ```compile_fail,E0382
/// use callosum_plan_run::kernel::{Answer, ApprovedCall, Provider, ProviderFailure};
/// use callosum_host::process::Cancel;
///
/// fn twice(provider: &dyn Provider, call: ApprovedCall, cancel: &Cancel) -> Result<Answer, ProviderFailure> {
///     provider.perform(call, cancel)?;
///     provider.perform(call, cancel)
/// }
/// ```
pub trait Provider: Send + Sync {
    /// Returns what it performs.
    fn manifest(&self) -> &Manifest;

    /// Performs a call within its limits, and ends early once `cancel` is asked for.
    fn perform(&self, call: ApprovedCall, cancel: &Cancel) -> Result<Answer, ProviderFailure>;

    /// Returns what became of the call of that key, which an earlier process may have made.
    ///
    /// Only asked where the manifest says that it answers by key. It does nothing else.
    fn outcome(&self, key: &str, cancel: &Cancel) -> Result<KnownOutcome, ProviderFailure>;
}

/// Result of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The value that the program goes on with.
    pub value: Value,
    /// Cost of the call.
    pub cost: AnsweredCost,
    /// Sensitivity of the answer, if it is higher than in its capability's manifest.
    pub sensitivity: Option<Sensitivity>,
}

/// Cost of a call beyond time, as its provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnsweredCost {
    /// Tokens of models.
    pub tokens: u64,
    /// Money.
    pub cost: Money,
}

/// Result of a lookup of a call by its key.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownOutcome {
    /// It was never begun: making it does nothing twice.
    NotBegun,
    /// It came to this.
    Answered(Answer),
    /// It failed, and is not under way.
    Failed(ProviderFailure),
    /// It was begun, and making it again under its key does nothing twice.
    Repeatable,
    /// The provider cannot know: a person must decide.
    Unknown,
}

/// Reason that a call failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ProviderFailure {
    /// Kind by which a program catches it.
    pub kind: FailureKind,
    /// Description of the failure, in a sentence.
    pub message: String,
    /// Whether it may have done something all the same.
    pub may_have_happened: bool,
    /// Remedy, in words to paste.
    pub hint: Option<&'static str>,
    /// Cost of the call.
    pub cost: AnsweredCost,
}

impl ProviderFailure {
    /// A failure before anything was done.
    pub fn before(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            may_have_happened: false,
            hint: None,
            cost: AnsweredCost::default(),
        }
    }

    /// A failure after something may have been done.
    pub fn midway(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            may_have_happened: true,
            ..Self::before(kind, message)
        }
    }

    /// Returns the failure that the program gets.
    pub fn to_failure(&self) -> Failure {
        let failure = Failure::new(self.kind, self.message.clone());
        match self.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
