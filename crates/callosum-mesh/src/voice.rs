//! [`Voice`]: who speaks, and from where.

use crate::{agent::AgentName, event::Draft};

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voice {
    /// The agent.
    pub agent: AgentName,
    /// Its own session.
    pub session_id: Option<String>,
    /// The terminal that it is in.
    pub pane_id: Option<String>,
    /// The folder that it is in.
    pub cwd: Option<String>,
}

impl Voice {
    /// An agent of which nothing else is known.
    pub fn of(agent: AgentName) -> Self {
        Self {
            agent,
            session_id: None,
            pane_id: None,
            cwd: None,
        }
    }

    /// Who says what an event says.
    pub(crate) fn who_says(draft: &Draft) -> Self {
        Self {
            agent: draft.source.clone(),
            session_id: draft.session_id.clone(),
            pane_id: draft.pane_id.clone(),
            cwd: draft.cwd.clone(),
        }
    }
}
