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

    /// Answers one request within its limits, and stops early when `cancel` is asked for. `sink` gets the text as it
    /// comes; a model that does not stream sends it once, at the end.
    ///
    /// Costs what the model costs: 0.3 to 60 s for most. What counts is the reply: the deltas may have thoughts in
    /// them that the reply does not have.
    ///
    /// # Errors
    /// A model that ends in the middle of its text fails with [`ModelError::CutOff`], which has what came.
    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        cancel: &Cancel,
        sink: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Reply, ModelError>;
}

/// An event while a model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'d> {
    /// The next piece of the text.
    Text(&'d str),
    /// The pieces until now are void: the text begins again.
    Restart,
    /// A line for people about what the model does.
    Progress(&'d str),
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
    /// A JSON Schema of the reply, for servers that can hold a model to it. The reply is not checked here.
    pub schema: Option<serde_json::Value>,
    /// A grammar of the reply in llama.cpp's GBNF, for servers that take one.
    pub grammar: Option<String>,
    /// Most tokens of the reply, for servers that take such a limit.
    pub max_tokens: Option<u64>,
}

impl Request {
    /// Returns a request for any text.
    pub fn text(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            ..Self::default()
        }
    }
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
    /// It ended in the middle of its text.
    #[error("{why}")]
    CutOff {
        /// The reason, with the model's name.
        why: String,
        /// The text until then.
        partial: String,
        /// Tokens that were used all the same, by estimate if the model reports none.
        tokens: u64,
    },
    /// It took longer than the request may take.
    #[error("{why}")]
    Deadline {
        /// The reason, with the model's name.
        why: String,
        /// The text until then.
        partial: Option<String>,
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
            Self::Failed { tokens, .. } | Self::CutOff { tokens, .. } => *tokens,
            _ => 0,
        }
    }

    /// Returns what came of the text, if anything did.
    pub fn partial(&self) -> Option<&str> {
        match self {
            Self::CutOff { partial, .. } => Some(partial),
            Self::Deadline { partial, .. } => partial.as_deref(),
            _ => None,
        }
    }
}

/// Fails if a prompt alone is above the limit.
pub(crate) fn refuse_over_budget(request: &Request, limits: Limits) -> Result<u64, ModelError> {
    let tokens = callosum_citation::tokens::estimate(&request.prompt);
    match limits.tokens {
        Some(allowed) if tokens > allowed => Err(ModelError::OverBudget { tokens, allowed }),
        _ => Ok(tokens),
    }
}
