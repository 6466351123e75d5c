//! [`Event`]: published event, with its place in the log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{agent::AgentName, topic::Topic};

/// Place of an event in the log of another machine, from which it was received.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// The other log.
    pub origin: String,
    /// Its place there.
    pub seq: u64,
}

/// An event in the log of a machine.
///
/// Written as one JSON object with the keys of the seed's schema (Seed CALC §4, layer 1) and three
/// of ours: `seq`, `origin` and `id`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(from = "Line", into = "Line")]
pub struct Event {
    /// Its place in this log, counted from 1 without gaps.
    pub seq: u64,
    /// The log that it is in.
    pub origin: String,
    /// Unique id.
    pub id: String,
    /// Topic.
    pub topic: Topic,
    /// Agent that published it.
    pub source: AgentName,
    /// Machine that it was published on.
    pub machine: String,
    /// When it happened, as its source says.
    pub timestamp: Timestamp,
    /// The agent's own session.
    pub session_id: Option<String>,
    /// The terminal that the agent was in.
    pub pane_id: Option<String>,
    /// The folder that the agent was in.
    pub cwd: Option<String>,
    /// Contents.
    pub payload: Map<String, Value>,
    /// The log of another machine that it was received from; `None` for an event of this machine.
    pub from: Option<Foreign>,
}

impl Event {
    /// Returns the person and machine, such as `ana@laptop`, of an event of another machine.
    pub fn other_machine(&self) -> Option<&str> {
        self.from.as_ref().map(|_| self.machine.as_str())
    }
}

/// An event as it is written: `seq` first, so that the beginning of a line is enough to find its
/// place.
#[derive(Deserialize, Serialize)]
struct Line {
    seq: u64,
    origin: String,
    id: String,
    #[serde(rename = "type")]
    topic: Topic,
    /// The seed's other name for `type`.
    event: Topic,
    source: AgentName,
    machine: String,
    #[serde(with = "crate::timestamp")]
    timestamp: Timestamp,
    /// The same moment in seconds since 1970.
    ts: f64,
    session_id: Option<String>,
    pane_id: Option<String>,
    cwd: Option<String>,
    payload: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Foreign>,
}

impl From<Line> for Event {
    fn from(line: Line) -> Self {
        Self {
            seq: line.seq,
            origin: line.origin,
            id: line.id,
            topic: line.topic,
            source: line.source,
            machine: line.machine,
            timestamp: line.timestamp,
            session_id: line.session_id,
            pane_id: line.pane_id,
            cwd: line.cwd,
            payload: line.payload,
            from: line.from,
        }
    }
}

impl From<Event> for Line {
    fn from(event: Event) -> Self {
        Self {
            seq: event.seq,
            origin: event.origin,
            id: event.id,
            event: event.topic.clone(),
            topic: event.topic,
            source: event.source,
            machine: event.machine,
            ts: event.timestamp.as_millisecond() as f64 / 1000.0,
            timestamp: event.timestamp,
            session_id: event.session_id,
            pane_id: event.pane_id,
            cwd: event.cwd,
            payload: event.payload,
            from: event.from,
        }
    }
}
