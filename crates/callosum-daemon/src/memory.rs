//! [`SessionMemory`]: what answers queries about past sessions, and the requests at its port.
//!
//! Seed CALC §4, layer 5: `POST /query`, `GET /health` and `POST /heartbeat`. Off unless an address is given. The program supplies
//! the index; queries block, so each is on a thread that the runtime lends.

use std::sync::Arc;

use hyper::{Request, Response, StatusCode, body::Incoming};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::{
    ServerState,
    heartbeats::{Heartbeats, SignsOfLife},
    request,
    response::{self, Reply},
};

/// Path of a query.
pub(super) const QUERY: &str = "/query";

/// Path of a heartbeat.
pub(super) const HEARTBEAT: &str = "/heartbeat";

/// Queries that are answered at once; further ones wait.
const MOST_AT_ONCE: usize = 4;

/// Longest query, in bytes.
const LONGEST_QUERY: usize = 16 * 1024;

/// Most turns of an answer.
const MOST_TURNS: usize = 100;

/// Most tokens of an answer.
const MOST_TOKENS: u64 = 20_000;

/// The reason why a query has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryFailure {
    /// The query itself is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The memory is off or cannot be read.
    #[error("{0}")]
    Unavailable(String),
}

/// Answers queries about past sessions.
pub trait SessionMemory: Send + Sync {
    /// Returns the answer to a query. It blocks.
    ///
    /// # Errors
    /// The query is invalid, or the memory is off or cannot be read, in words for people.
    fn query(&self, query: SessionQuery) -> Result<Value, QueryFailure>;

    /// Returns the state of the memory. It blocks.
    ///
    /// # Errors
    /// The memory is off or cannot be read, in words for people.
    fn health(&self) -> Result<Value, QueryFailure>;

    /// Returns the last sign of life of each agent that left one on this machine. It blocks.
    fn signs_of_life(&self) -> SignsOfLife;
}

/// A query, with the names and defaults of the seed.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct SessionQuery {
    /// The question.
    pub query: String,
    /// Most turns of the answer.
    #[serde(default = "five")]
    pub k_rag: usize,
    /// Most tokens of all previews together.
    #[serde(default = "three_hundred")]
    pub max_tokens: u64,
    /// Whether the answer says which files, sessions, decisions, tasks, beads and intents the turns are connected with.
    #[serde(default)]
    pub include_graph: bool,
    /// Only sessions in this folder and those inside it.
    #[serde(default)]
    pub folder: Option<String>,
    /// Only sessions of this agent, or records of this kind.
    #[serde(default)]
    pub agent: Option<String>,
}

fn five() -> usize {
    5
}

fn three_hundred() -> u64 {
    300
}

/// The memory at its port, with the agents that were heard of.
pub(super) struct Memory {
    sessions: Arc<dyn SessionMemory>,
    places: Arc<Semaphore>,
    heartbeats: Heartbeats,
}

impl Memory {
    pub(super) fn new(sessions: Arc<dyn SessionMemory>) -> Self {
        Self {
            sessions,
            places: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            heartbeats: Heartbeats::default(),
        }
    }

    /// Does blocking work on another thread.
    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn SessionMemory) -> Result<T, QueryFailure> + Send + 'static,
    ) -> Result<T, QueryFailure> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place =
            place.map_err(|_| QueryFailure::Unavailable("the daemon is ending".to_owned()))?;
        let sessions = Arc::clone(&self.sessions);
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            work(&*sessions)
        });
        done.await
            .unwrap_or_else(|error| Err(QueryFailure::Unavailable(error.to_string())))
    }

    /// Answers `GET /health`.
    pub(super) async fn health(&self) -> Response<Reply> {
        // They cannot be looked up only while the daemon ends.
        let signs = self.ask(|sessions| Ok(sessions.signs_of_life())).await;
        let heartbeats = self.heartbeats.latest(signs.unwrap_or_default());
        match self.ask(|sessions| sessions.health()).await {
            Ok(state) => response::data(
                StatusCode::OK,
                &json!({ "healthy": true, "memory": state, "heartbeats": heartbeats }),
            ),
            Err(reason) => response::data(
                StatusCode::SERVICE_UNAVAILABLE,
                &json!({ "healthy": false, "error": reason.to_string(), "heartbeats": heartbeats }),
            ),
        }
    }
}

/// Answers `POST /query` and `POST /heartbeat`.
pub(super) async fn answer(
    house: &ServerState,
    memory: &Memory,
    request: Request<Incoming>,
    now: Timestamp,
) -> Response<Reply> {
    let is_query = request.uri().path() == QUERY;
    let body = match request::body(request.into_body()).await {
        Ok(body) => body,
        Err(unread) => {
            let (label, status, words) = unread.refusal();
            house.hub.counts.refused(label);
            return response::error(status, words);
        }
    };
    let read = if is_query {
        read_query(&body).map(Some)
    } else {
        memory.heartbeats.beat(&body, now).map(|()| None)
    };
    match read {
        Err(words) => {
            house.hub.counts.refused("faults");
            response::error(StatusCode::BAD_REQUEST, &words)
        }
        Ok(None) => response::data(StatusCode::OK, &json!({ "ok": true })),
        Ok(Some(query)) => match memory.ask(move |sessions| sessions.query(query)).await {
            Ok(answer) => response::data(StatusCode::OK, &answer),
            Err(QueryFailure::Invalid(words)) => {
                house.hub.counts.refused("faults");
                response::error(StatusCode::BAD_REQUEST, &words)
            }
            Err(QueryFailure::Unavailable(reason)) => {
                response::error(StatusCode::SERVICE_UNAVAILABLE, &reason)
            }
        },
    }
}

fn read_query(body: &[u8]) -> Result<SessionQuery, String> {
    let query: SessionQuery = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if query.query.trim().is_empty() || query.query.len() > LONGEST_QUERY {
        return Err(format!("`query` must have 1 to {LONGEST_QUERY} bytes"));
    }
    if query.k_rag == 0 || query.k_rag > MOST_TURNS {
        return Err(format!(
            "`k_rag` is {} (allowed: 1 to {MOST_TURNS})",
            query.k_rag
        ));
    }
    if query.max_tokens == 0 || query.max_tokens > MOST_TOKENS {
        return Err(format!(
            "`max_tokens` is {} (allowed: 1 to {MOST_TOKENS})",
            query.max_tokens
        ));
    }
    Ok(query)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-L5-1: the seed's query has defaults, and numbers within limits.
    #[test]
    fn a_query_has_defaults_and_limits() {
        let query = read_query(br#"{"query":"why"}"#).unwrap();
        assert_eq!(
            (query.k_rag, query.max_tokens, query.include_graph),
            (5, 300, false)
        );
        for (body, words) in [
            ("{}", "query"),
            (r#"{"query":" "}"#, "`query` must"),
            (r#"{"query":"a","k_rag":0}"#, "allowed: 1 to 100"),
            (
                r#"{"query":"a","max_tokens":999999}"#,
                "allowed: 1 to 20000",
            ),
        ] {
            let error = read_query(body.as_bytes()).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
