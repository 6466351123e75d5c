//! [`Provider`]: what performs capabilities, and hears of no call that the kernel has not approved.

use callosum_host::process::Cancel;
use callosum_plan::{Failure, FailureKind, Value};
use thiserror::Error;

use super::{effect::Sensitivity, manifest::Manifest, ruling::ApprovedCall};
use crate::budget::Money;

/// Performs one capability.
///
/// A call is taken by value, and can be neither made nor copied, so each is performed once at most:
///
/// ```
/// use callosum_arbiter::kernel::{Answer, ApprovedCall, Provider, ProviderFailure};
/// use callosum_host::process::Cancel;
///
/// fn once(provider: &dyn Provider, call: ApprovedCall, cancel: &Cancel) -> Result<Answer, ProviderFailure> {
///     provider.perform(call, cancel)
/// }
/// ```
///
/// ```compile_fail,E0382
/// use callosum_arbiter::kernel::{Answer, ApprovedCall, Provider, ProviderFailure};
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

/// What a call came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The value that the program goes on with.
    pub value: Value,
    /// What it cost.
    pub cost: AnsweredCost,
    /// How sensitive it is, where that is more than its capability's manifest says.
    pub sensitivity: Option<Sensitivity>,
}

/// What a call cost beyond time, as its provider says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnsweredCost {
    /// Tokens of models.
    pub tokens: u64,
    /// Money.
    pub cost: Money,
}

/// What is known of a call that was asked after by its key.
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
    /// Nobody can say: a person must.
    Unknown,
}

/// Why a call came to nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct ProviderFailure {
    /// What a program catches it as.
    pub kind: FailureKind,
    /// What failed, in a sentence.
    pub message: String,
    /// Whether it may have done something all the same.
    pub may_have_happened: bool,
    /// What helps, in words to paste.
    pub hint: Option<&'static str>,
    /// What it cost.
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

    /// Returns what the program is told.
    pub fn to_failure(&self) -> Failure {
        let failure = Failure::new(self.kind, self.message.clone());
        match self.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}
