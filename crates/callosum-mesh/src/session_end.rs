//! End of sessions: which ones have lost their process, and the events that record it.

use callosum_host::process::Identity;
use serde_json::json;

use crate::{
    agent::AgentName,
    author::Author,
    board::{Board, ENDS, Session, session_draft},
    event::Draft,
    mesh_error::MeshError,
    transaction::Transaction,
};

impl Transaction<'_, '_> {
    /// Records the end of the sessions whose processes are gone, and releases what they held.
    pub(crate) fn end_sessions(&mut self, machine: &str) -> Result<(), MeshError> {
        let ended: Vec<Session> = ended(self.board, machine).cloned().collect();
        for session in ended {
            self.end_session(&session, "its process has ended")?;
        }
        Ok(())
    }

    /// Records that a session has ended, and releases what it held.
    pub(crate) fn end_session(&mut self, session: &Session, reason: &str) -> Result<(), MeshError> {
        let left = self.board().left_by(session);
        let draft = Draft {
            session_id: Some(session.session_id.clone()),
            payload: [("reason".to_owned(), json!(reason))].into_iter().collect(),
            ..session_draft(&Author::of(session.agent.clone()), ENDS)
        };
        self.append_event(draft)?;
        for deed in left {
            self.append(&deed, &Author::of(AgentName::us()), None)?;
        }
        Ok(())
    }
}

/// Returns the sessions of this machine whose processes have ended.
pub(crate) fn ended<'b>(board: &'b Board, machine: &'b str) -> impl Iterator<Item = &'b Session> {
    let here = board
        .sessions
        .iter()
        .filter(move |session| session.machine == machine);
    here.filter(|session| {
        let process = session.process.map(Identity::from);
        process.is_some_and(|process| process.has_ended())
    })
}
