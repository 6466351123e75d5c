//! [`Draft`]: an event before it has its place in the log.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Event, Foreign, masking::masked};
use crate::{agent::AgentName, topic::Topic};

/// Event before it is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Topic; the seed's `type`.
    pub topic: Topic,
    /// Agent that publishes it.
    pub source: AgentName,
    /// Idempotency key: a second event with the same id is recognized as a copy.
    pub id: Option<String>,
    /// Machine that it is from. Default: this one.
    pub machine: Option<String>,
    /// Time at which it happened. Default: now.
    pub timestamp: Option<Timestamp>,
    /// The agent's own session.
    pub session_id: Option<String>,
    /// The terminal that the agent is in.
    pub pane_id: Option<String>,
    /// The folder that the agent is in.
    pub cwd: Option<String>,
    /// Contents.
    pub payload: Map<String, Value>,
    /// The log of another machine that it was received from.
    pub from: Option<Foreign>,
}

/// Facts of an event that only the log knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp<'a> {
    pub(crate) origin: &'a str,
    pub(crate) seq: u64,
    pub(crate) id: String,
    pub(crate) machine: &'a str,
    pub(crate) now: Timestamp,
}

impl Draft {
    /// An event that tells nothing but its topic.
    pub fn new(topic: Topic, source: AgentName) -> Self {
        Self {
            topic,
            source,
            id: None,
            machine: None,
            timestamp: None,
            session_id: None,
            pane_id: None,
            cwd: None,
            payload: Map::new(),
            from: None,
        }
    }

    /// The same, with this payload.
    #[must_use]
    pub fn with_payload(self, payload: Map<String, Value>) -> Self {
        Self { payload, ..self }
    }

    /// The event that it becomes, its secrets masked.
    pub(crate) fn stamped(self, stamp: Stamp<'_>) -> Event {
        let text = |text: String| callosum_redact::secrets::mask(&text).text;
        Event {
            seq: stamp.seq,
            origin: stamp.origin.to_owned(),
            id: self.id.map_or(stamp.id, text),
            topic: self.topic,
            source: self.source,
            machine: self.machine.map_or_else(|| stamp.machine.to_owned(), text),
            timestamp: self.timestamp.unwrap_or(stamp.now),
            session_id: self.session_id.map(text),
            pane_id: self.pane_id.map(text),
            cwd: self.cwd.map(text),
            payload: masked(self.payload),
            from: self.from,
        }
    }
}
