//! Sessions of agents: that they begin and end, and what they leave behind.

use callosum_host::process::Identity;
use serde_json::Map;

use crate::{
    author::Author,
    board::{
        BEGINS, CLAIM, Claim, Command, ENDS, PROCESS, Process, Session, Status, session_draft,
    },
    journal::Durability,
    mesh::Mesh,
    mesh_error::MeshError,
    session_end::ended,
};

impl Mesh {
    /// Tells that a session begins, whose client is this process. Logged: who misses it misses no work.
    pub fn begin_session(
        &mut self,
        voice: &Author,
        process: Option<Identity>,
    ) -> Result<(), MeshError> {
        let mut payload = Map::new();
        if let Some(process) = process {
            payload.insert(PROCESS.to_owned(), Process::from(process).to_value());
        }
        let draft = session_draft(voice, BEGINS).with_payload(payload);
        self.in_turn_of(Durability::Logged, |orders| {
            orders.append_event(draft)?;
            Ok(())
        })
    }

    /// Tells that a session has ended, and gives back the tasks and files that it had claimed.
    pub fn end_session(&mut self, voice: &Author, reason: &str) -> Result<(), MeshError> {
        let session = Session {
            agent: voice.agent.clone(),
            session_id: voice.session_id.clone().unwrap_or_default(),
            machine: self.machine().to_owned(),
            process: None,
        };
        self.in_turn(|orders| {
            if session.session_id.is_empty() {
                orders.append_event(session_draft(voice, ENDS))?;
                return Ok(());
            }
            orders.end_session(&session, reason)
        })?;
        if voice.session_id.is_some() {
            self.news_file(voice).forget()?;
        }
        Ok(())
    }

    /// Renews the claims of this session that have less than half of their time left: it is at
    /// work.
    pub fn renew_claims(&mut self, voice: &Author) -> Result<(), MeshError> {
        let now = self.journal().now();
        let is_own =
            |claim: &&Claim| claim.by == voice.agent && claim.session_id == voice.session_id;
        let tasks = self.board()?.tasks.iter();
        let tasks = tasks.filter(|task| task.status == Status::InProgress);
        let short = tasks.filter(|task| {
            let claim = task.claim.as_ref().filter(is_own);
            claim.is_some_and(|claim| claim.until.duration_since(now) < CLAIM / 2)
        });
        let short: Vec<String> = short.map(|task| task.id.clone()).collect();
        if voice.session_id.is_none() || short.is_empty() {
            return Ok(());
        }
        self.in_turn_of(Durability::Logged, |orders| {
            for task in short {
                let order = Command::Claim {
                    task: Some(task),
                    anyway: true,
                    fence: None,
                };
                match orders.give(order, voice, None) {
                    // It has expired since, or belongs to another agent by now.
                    Ok(_) | Err(MeshError::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }

    /// Returns the sessions of this machine whose processes are gone, and whose end is not recorded
    /// yet.
    pub fn ended_sessions(&mut self) -> Result<Vec<Session>, MeshError> {
        let machine = self.machine().to_owned();
        Ok(ended(self.board()?, &machine).cloned().collect())
    }

    /// Returns the session of this agent whose process is among these, the nearest first. This
    /// finds the session for a program that the agent's client started without naming it.
    pub fn session_above(
        &mut self,
        voice: &Author,
        ancestors: &[Identity],
    ) -> Result<Option<String>, MeshError> {
        let machine = self.machine().to_owned();
        let board = self.board()?;
        let sessions = || {
            let sessions = board.sessions.iter().rev();
            sessions.filter(|known| known.agent == voice.agent && known.machine == machine)
        };
        let above = ancestors.iter().find_map(|above| {
            let process = Some(Process::from(*above));
            sessions().find(|known| known.process == process)
        });
        Ok(above.map(|session| session.session_id.clone()))
    }
}
