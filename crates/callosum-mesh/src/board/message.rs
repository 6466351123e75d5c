//! [`Message`] and [`Discovery`]: what one agent says to another, and to all (Seed CALC §4, layer 3).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Receipt;
use crate::{addressee::Addressee, agent::AgentName};

/// Message from one agent to another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Unique id.
    pub id: String,
    /// Sender.
    pub from: AgentName,
    /// The session that says it, if that is known: no hook hands it to that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_session: Option<String>,
    /// To whom.
    pub to: Addressee,
    /// Text.
    pub content: String,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// When.
    #[serde(with = "crate::timestamp")]
    pub timestamp: Timestamp,
    /// Delivery state, with evidence for each step. `None` while the message waits.
    pub receipt: Option<Receipt>,
    /// The evidence of its delivery, or why it could not be delivered.
    pub evidence: Option<String>,
    /// Seconds until it expires, if its author set them.
    pub ttl_seconds: Option<u64>,
    /// When it becomes a dead letter, unless it is delivered before.
    #[serde(with = "crate::timestamp::optional")]
    pub expires: Option<Timestamp>,
    /// The session that it was delivered to.
    pub session_id: Option<String>,
    /// The folder that it was sent from.
    pub cwd: Option<String>,
    /// The last event that changed it.
    pub rev: u64,
    /// Person and machine that sent it, if that is another one, which then decides when it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl Message {
    /// Whether it was sent on another machine.
    pub fn is_foreign(&self) -> bool {
        self.machine.is_some()
    }

    /// Whether the program itself tells one session something of its own work, as that another edits its file. Once that
    /// session is over, no one misses it.
    pub fn is_notice_to_session(&self) -> bool {
        self.from.is_us() && self.to.session.is_some()
    }

    /// Whether it is for this session of an agent: one that its own session wrote to all sessions of its agent is for the others.
    pub fn is_for(&self, agent: &AgentName, session: Option<&str>) -> bool {
        let is_own = self.to.session.is_none()
            && self.from == *agent
            && self.from_session.is_some()
            && self.from_session.as_deref() == session;
        self.to.is(agent, session) && !is_own
    }
}

/// Discovery that an agent shares with all others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Discovery {
    /// Unique id.
    pub id: String,
    /// Text.
    pub content: String,
    /// Agent that made the discovery.
    pub source: AgentName,
    /// The session that found it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// When.
    #[serde(with = "crate::timestamp")]
    pub timestamp: Timestamp,
    /// The folder that it was found in.
    pub cwd: Option<String>,
    /// Person and machine that found it, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Event that published it.
    pub rev: u64,
}
