//! [`Session`]: an agent at work, and the process by which one sees that it still is.

use callosum_host::process::Identity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    agent::AgentName,
    author::Author,
    event::{Draft, Event},
};

/// An agent's session begins.
pub const BEGINS: &str = "session.start";

/// It has ended.
pub const ENDS: &str = "session.end";

/// The key of a payload that names the process of a session.
pub const PROCESS: &str = "process";

/// Sessions are remembered up to so many; of the oldest it is no longer seen whether they have ended.
pub(super) const MOST: usize = 200;

/// An agent at work.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The agent.
    pub agent: AgentName,
    /// Its session, as its client names it.
    pub session_id: String,
    /// The machine that it is on.
    pub machine: String,
    /// The client's process, where that is known.
    pub process: Option<Process>,
}

/// A process, as an event names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it began, in the system's ticks.
    pub started: u64,
    /// The space in which it has this number.
    pub space: u64,
}

impl Session {
    /// The session that an event says begins; `None` where it is about something else, or names none.
    pub(super) fn begun(event: &Event) -> Option<Self> {
        (event.topic.as_str() == BEGINS).then_some(())?;
        let process = event.payload.get(PROCESS).cloned();
        Some(Self {
            agent: event.source.clone(),
            session_id: event.session_id.clone()?,
            machine: event.machine.clone(),
            process: process.and_then(|process| serde_json::from_value(process).ok()),
        })
    }

    /// Whether it is the session of this agent with this name.
    pub fn is(&self, agent: &AgentName, session_id: &str) -> bool {
        self.agent == *agent && self.session_id == session_id
    }
}

impl Process {
    /// Returns its form in a payload.
    pub fn to_value(self) -> Value {
        serde_json::json!({ "pid": self.pid, "started": self.started, "space": self.space })
    }
}

impl From<Identity> for Process {
    fn from(identity: Identity) -> Self {
        let Identity {
            pid,
            started,
            space,
        } = identity;
        Self {
            pid,
            started,
            space,
        }
    }
}

impl From<Process> for Identity {
    fn from(process: Process) -> Self {
        let Process {
            pid,
            started,
            space,
        } = process;
        Self {
            pid,
            started,
            space,
        }
    }
}

/// Returns an event about a session of this author.
pub(crate) fn session_draft(voice: &Author, topic: &str) -> Draft {
    Draft {
        session_id: voice.session_id.clone(),
        pane_id: voice.pane_id.clone(),
        cwd: voice.cwd.clone(),
        ..Draft::new(topic.parse().expect("it is a topic"), voice.agent.clone())
    }
}
