//! [`Message`] and [`Discovery`]: what one agent says to another, and to all (Seed CALC §4, layer 3).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Receipt;
use crate::{addressee::Addressee, agent::AgentName};

/// What one agent says to another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// What tells it from every other.
    pub id: String,
    /// Who says it.
    pub from: AgentName,
    /// To whom.
    pub to: Addressee,
    /// What.
    pub content: String,
    /// The message that it answers.
    pub reply_to: Option<String>,
    /// When.
    #[serde(with = "crate::moment")]
    pub timestamp: Timestamp,
    /// How far it has come, with evidence for each step; `None` while it waits.
    pub receipt: Option<Receipt>,
    /// What shows that it came so far, or why it could not be handed over.
    pub evidence: Option<String>,
    /// Seconds that it is worth handing over, where its author said so.
    pub ttl_seconds: Option<u64>,
    /// When it becomes a dead letter, unless it was handed over before.
    #[serde(with = "crate::moment::optional")]
    pub expires: Option<Timestamp>,
    /// The session that it was delivered to.
    pub session_id: Option<String>,
    /// The folder that it was sent from.
    pub cwd: Option<String>,
    /// The last event that changed it.
    pub rev: u64,
}

/// What one agent found out and tells all.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Discovery {
    /// What tells it from every other.
    pub id: String,
    /// What was found.
    pub content: String,
    /// Who found it.
    pub source: AgentName,
    /// When.
    #[serde(with = "crate::moment")]
    pub timestamp: Timestamp,
    /// The folder that it was found in.
    pub cwd: Option<String>,
    /// The event that told it.
    pub rev: u64,
}
