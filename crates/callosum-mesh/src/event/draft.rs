//! [`Draft`]: an event before it has its place in the log.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Event, masking::masked};
use crate::{agent::AgentName, topic::Topic};

/// An event that somebody hands in.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What it is about; the seed's `type`.
    pub topic: Topic,
    /// Who says it.
    pub source: AgentName,
    /// An id by which it is known to be the same when it is handed in twice.
    pub id: Option<String>,
    /// The machine that it is said on; this one where it is not told.
    pub machine: Option<String>,
    /// When it happened; now where it is not told.
    pub timestamp: Option<Timestamp>,
    /// The agent's own session.
    pub session_id: Option<String>,
    /// The terminal that the agent is in.
    pub pane_id: Option<String>,
    /// The folder that the agent is in.
    pub cwd: Option<String>,
    /// Whatever there is to tell.
    pub payload: Map<String, Value>,
}

/// What only the log knows of an event.
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
        }
    }

    /// The same, with this payload.
    #[must_use]
    pub fn with_payload(self, payload: Map<String, Value>) -> Self {
        Self { payload, ..self }
    }

    /// The event that it becomes, its secrets masked.
    pub(crate) fn stamped(self, stamp: Stamp<'_>) -> Event {
        let text = |text: String| callosum_evidence::secrets::mask(&text).text;
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
        }
    }
}
