//! [`Models`]: the models that the user's configuration lets another Callosum ask, and the token for
//! them.
//!
//! Off unless the configuration names models. `post_infer` answers the requests.

use std::sync::Arc;

use callosum_host::process::Cancel;
use hyper::{HeaderMap, header};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;

/// Requests that models answer at once; one more is refused.
pub(super) const MOST_AT_ONCE: usize = 4;

/// The models that are served, and what answers for them.
#[derive(Clone)]
pub struct ModelServing {
    /// The models that may be asked.
    pub names: Vec<String>,
    /// The token that a request must have.
    pub token: String,
    /// Asks a model. It blocks, and stops when its `Cancel` is asked for.
    pub infer: Arc<Infer>,
}

/// Asks a model.
pub type Infer = dyn Fn(InferRequest, &Cancel) -> Result<InferReply, InferError> + Send + Sync;

/// A request to a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InferRequest {
    /// The model.
    pub model: String,
    /// The prompt.
    pub prompt: String,
    /// A JSON Schema of the reply.
    #[serde(default)]
    pub schema: Option<Value>,
    /// A grammar of the reply in llama.cpp's GBNF.
    #[serde(default)]
    pub grammar: Option<String>,
    /// Most tokens of the reply.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// Milliseconds until there must be a reply.
    #[serde(default)]
    pub deadline_ms: Option<u64>,
}

/// The reply of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct InferReply {
    /// The text.
    pub text: String,
    /// Tokens of prompt and reply.
    pub tokens: u64,
    /// US dollars.
    pub cost_usd: f64,
}

/// Error of a model, with its text for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InferError {
    /// The prompt alone is above the limit.
    #[error("{0}")]
    OverBudget(String),
    /// The reply is too long.
    #[error("{0}")]
    TooLong(String),
    /// It was canceled.
    #[error("{0}")]
    Canceled(String),
    /// It took too long.
    #[error("{0}")]
    Deadline(String),
    /// It ended in the middle of its text.
    #[error("{0}")]
    CutOff(String),
    /// It failed.
    #[error("{0}")]
    Failed(String),
}

/// The served models of a running daemon.
pub(super) struct Models {
    pub(super) serving: ModelServing,
    pub(super) places: Arc<Semaphore>,
}

impl Models {
    pub(super) fn new(serving: ModelServing) -> Self {
        Self {
            serving,
            places: Arc::new(Semaphore::new(MOST_AT_ONCE)),
        }
    }

    /// Checks the token.
    pub(super) fn admits(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else {
            return false;
        };
        let token = value.as_bytes().strip_prefix(b"Bearer ");
        token.is_some_and(|token| is_same(token, self.serving.token.as_bytes()))
    }
}

/// Compares in a time that does not depend on where the first difference is.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other);
    let difference = differences.fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CCOS-MOD-1: only the whole token is the token.
    #[test]
    fn only_the_whole_token_is_admitted() {
        let models = Models::new(ModelServing {
            names: Vec::new(),
            token: "0123456789abcdef".to_owned(),
            infer: Arc::new(|_, _| Err(InferError::Failed(String::new()))),
        });
        let admits = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = header::HeaderValue::from_static(value);
                headers.append(header::AUTHORIZATION, value);
            }
            models.admits(&headers)
        };
        assert!(admits(&["Bearer 0123456789abcdef"]));
        for wrong in [
            &[][..],
            &["Bearer "],
            &["Bearer 0123456789abcde"],
            &["Bearer 0123456789abcdef0"],
            &["Bearer 0123456789abcdeF"],
            &["Basic 0123456789abcdef"],
            &["Bearer 0123456789abcdef", "Bearer x"],
        ] {
            assert!(!admits(wrong), "{wrong:?}");
        }
    }
}
