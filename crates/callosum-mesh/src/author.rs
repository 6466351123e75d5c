//! [`Author`]: agent that acts, with its session, terminal and folder.

use crate::{agent::AgentName, event::Draft};

/// Agent that acts, and where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// The agent.
    pub agent: AgentName,
    /// Its own session.
    pub session_id: Option<String>,
    /// The terminal that it is in.
    pub pane_id: Option<String>,
    /// The folder that it is in.
    pub cwd: Option<String>,
}

impl Author {
    /// Returns an author with only the agent known.
    pub fn of(agent: AgentName) -> Self {
        Self {
            agent,
            session_id: None,
            pane_id: None,
            cwd: None,
        }
    }

    /// Whether this session itself is the author of something that a session of `agent` published.
    /// An unknown session counts as its own, as with leases.
    pub(crate) fn is_author_of(&self, agent: &AgentName, session: Option<&str>) -> bool {
        is_own((&self.agent, self.session_id.as_deref()), (agent, session))
    }

    /// Whether a session of an agent is this one, and known to be.
    pub(crate) fn is_session(&self, agent: &AgentName, session: Option<&str>) -> bool {
        self.agent == *agent && session.is_some() && self.session_id.as_deref() == session
    }

    /// Returns the name of another session's agent for texts to this session, with its machine if that is another one.
    pub(crate) fn name_of(&self, agent: &AgentName, machine: Option<&str>) -> String {
        name_for(&self.agent, agent, machine)
    }

    /// Returns the author of an event.
    pub(crate) fn of_draft(draft: &Draft) -> Self {
        Self {
            agent: draft.source.clone(),
            session_id: draft.session_id.clone(),
            pane_id: draft.pane_id.clone(),
            cwd: draft.cwd.clone(),
        }
    }
}

/// Whether two sessions of agents are one, as far as that is known.
pub(crate) fn is_own(
    (agent, session): (&AgentName, Option<&str>),
    (other, its_session): (&AgentName, Option<&str>),
) -> bool {
    let is_session = match (session, its_session) {
        (Some(session), Some(its_session)) => session == its_session,
        _ => true,
    };
    agent == other && is_session
}

/// Returns the name of `other` for texts to a session of `agent`, with its machine if that is another one. `other` is not
/// the session that reads the text.
pub(crate) fn name_for(agent: &AgentName, other: &AgentName, machine: Option<&str>) -> String {
    match machine {
        Some(machine) => format!("{other} on {machine}"),
        None if agent == other => format!("another session of {other}"),
        None => other.to_string(),
    }
}
