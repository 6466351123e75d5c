//! Sessions of agents: that they begin and end, and what they leave behind.

use callosum_host::process::Identity;
use serde_json::{Map, json};

use crate::{
    agent::AgentName,
    author::Author,
    board::{BEGINS, Board, CLAIM, Claim, Command, ENDS, PROCESS, Process, Session, Status},
    event::Draft,
    journal::Durability,
    mesh::Mesh,
    mesh_error::MeshError,
    transaction::Transaction,
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

impl Transaction<'_, '_> {
    /// Tells that a session has ended, and gives back what it left.
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

/// The sessions of this machine whose processes have ended.
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

fn session_draft(voice: &Author, topic: &str) -> Draft {
    Draft {
        session_id: voice.session_id.clone(),
        pane_id: voice.pane_id.clone(),
        cwd: voice.cwd.clone(),
        ..Draft::new(topic.parse().expect("it is a topic"), voice.agent.clone())
    }
}
