//! [`ModelProvider`]: what answers a prompt, and what an answer costs (Seed CCOS §3.b.3).

use std::{fmt, time::Duration};

use callosum_host::process::Cancel;
use thiserror::Error;

/// Longest text that is taken as a reply, in bytes. A plan has at most 1 MiB.
pub const LONGEST_REPLY: usize = 2 << 20;

/// Answers prompts.
pub trait ModelProvider: Send + Sync + fmt::Debug {
    /// Returns the id that requests and configuration use. It comes from configuration, so it is not `'static`.
    fn id(&self) -> &str;

    /// Returns where it runs.
    fn place(&self) -> Place;

    /// Answers one request within its limits, and stops early when `cancel` is asked for. `progress` gets lines for
    /// people while the model works.
    ///
    /// Costs what the model costs: 0.3 to 60 s for most.
    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError>;
}

/// Location of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In this process, the same reply for the same request.
    Deterministic,
    /// On this machine.
    Local,
    /// Elsewhere.
    Remote,
}

impl Place {
    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Local => "local",
            Self::Remote => "remote",
        }
    }
}

/// A question to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The prompt, with everything that the model may know.
    pub prompt: String,
}

/// Limits of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens of prompt and reply.
    pub tokens: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
}

/// Answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The text.
    pub text: String,
    /// Tokens of prompt and reply, as the model counts, or an estimate.
    pub tokens: u64,
    /// US dollars, as the model says; 0 if it does not.
    pub cost_usd: f64,
}

/// Error of a request.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The prompt alone is above the limit, so nothing was asked.
    #[error("the prompt has about {tokens} tokens, more than the {allowed} that are left")]
    OverBudget {
        /// Estimated tokens of the prompt.
        tokens: u64,
        /// The limit.
        allowed: u64,
    },
    /// The reply is longer than [`LONGEST_REPLY`].
    #[error("`{model}` answered with {bytes} bytes; at most {LONGEST_REPLY} are read")]
    TooLong {
        /// The model.
        model: String,
        /// Length of the reply.
        bytes: usize,
    },
    /// It was canceled.
    #[error("`{model}` was canceled")]
    Canceled {
        /// The model.
        model: String,
    },
    /// The model failed, or could not be reached.
    #[error("{why}")]
    Failed {
        /// The reason, with the model's name.
        why: String,
        /// Tokens that were used all the same.
        tokens: u64,
        /// Whether a second try within a minute may help.
        may_pass: bool,
    },
}

impl ModelError {
    /// Returns the tokens that were used though there is no reply.
    pub fn tokens(&self) -> u64 {
        match self {
            Self::Failed { tokens, .. } => *tokens,
            _ => 0,
        }
    }
}

/// Fails if a prompt alone is above the limit.
pub(crate) fn refuse_over_budget(request: &Request, limits: Limits) -> Result<u64, ModelError> {
    let tokens = callosum_evidence::tokens::estimate(&request.prompt);
    match limits.tokens {
        Some(allowed) if tokens > allowed => Err(ModelError::OverBudget { tokens, allowed }),
        _ => Ok(tokens),
    }
}
