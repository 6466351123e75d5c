//! [`Envelope`]: events of one machine in one message of the stream, in the order of its log.

use callosum_mesh::{agent::AgentName, topic::Topic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Names, Repository};

/// Version of the format.
pub(crate) const VERSION: u32 = 1;

/// Most bytes of the events of a message. A server accepts 1 MiB by default.
pub(crate) const MOST_BYTES: usize = 256 * 1024;

/// Most events of a message.
pub(crate) const MOST_EVENTS: usize = 256;

/// Message of the stream.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Envelope {
    /// Version of the format.
    pub(crate) v: u32,
    /// The log that the events are from.
    pub(crate) origin: String,
    /// Person and machine.
    #[serde(flatten)]
    pub(crate) names: Names,
    /// The last event of the message before; 0 in the first message of a log.
    pub(crate) previous: u64,
    /// The events.
    pub(crate) events: Vec<WireEvent>,
}

/// The beginning of a message, which every version has.
#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    pub(crate) v: u32,
}

impl Envelope {
    /// The last event of the message.
    pub(crate) fn last(&self) -> u64 {
        self.events.last().map_or(self.previous, |event| event.seq)
    }

    /// Id by which the server recognizes a message that is sent twice.
    pub(crate) fn id(&self) -> String {
        format!("{}:{}", self.origin, self.last())
    }
}

/// Event on its way to other machines. It has no folder, terminal or process of the machine that it is from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireEvent {
    /// Its place in the log of its machine.
    pub(crate) seq: u64,
    /// Unique id.
    pub(crate) id: String,
    /// Topic.
    pub(crate) topic: Topic,
    /// Agent that published it.
    pub(crate) source: AgentName,
    /// When it happened, by the clock of its machine.
    pub(crate) timestamp: Timestamp,
    /// The agent's session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session_id: Option<String>,
    /// The repository that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<Repository>,
    /// The folder or file in the repository, relative to its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Contents.
    pub(crate) payload: Map<String, Value>,
}
