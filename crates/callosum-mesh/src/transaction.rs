//! [`Transaction`]: a turn at the log in which orders are decided and appended.
//!
//! Start with [`Transaction::give`]. Commands in events from elsewhere are in `ingest`.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    author::Author,
    board::{Board, BoardError, Command, Effect, Lease},
    board_replay::catch_up,
    event::{Draft, Event},
    journal::{Cursor, LogWriter},
    leased_path::with_leased_path,
    mesh_error::MeshError,
    route::{CATEGORY, Matrix},
};

/// A turn in which orders are decided, each on the board that the last has left.
pub(crate) struct Transaction<'b, 'j> {
    pub(crate) board: &'b mut Board,
    pub(crate) turn: LogWriter<'j>,
    pub(crate) matrix: &'b Matrix,
}

impl Transaction<'_, '_> {
    pub(crate) fn catch_up(&mut self) -> Result<(), MeshError> {
        let mut reader = self.turn.read_after(&Cursor {
            origin: Some(self.turn.origin().to_owned()),
            seq: self.board.seq,
        });
        catch_up(self.board, &mut reader)?;
        Ok(())
    }

    pub(crate) fn board(&self) -> &Board {
        self.board
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.turn.now()
    }

    pub(crate) fn give(
        &mut self,
        order: Command,
        voice: &Author,
        at: Option<Timestamp>,
    ) -> Result<Vec<Event>, MeshError> {
        let order = self.completed(order)?;
        let lost = self.taken_away(&order, voice);
        let deeds = self.board.decide(order, voice, self.turn.now())?;
        let mut events = Vec::new();
        for deed in deeds {
            events.extend(self.append(&deed, voice, at)?);
        }
        if let Some((what, lease)) = lost {
            self.notify_holder(what, &lease, &voice.agent)?;
        }
        Ok(events)
    }

    /// Returns the lease that a command takes away from its holder, and the verb for the notice.
    fn taken_away(&self, order: &Command, voice: &Author) -> Option<(&'static str, Lease)> {
        let (what, path) = match order {
            Command::Lease {
                path, anyway: true, ..
            } => ("took", path),
            Command::Unlease {
                path, anyway: true, ..
            } => ("ended", path),
            _ => return None,
        };
        let session = voice.session_id.as_deref();
        let held = self
            .board
            .holder(path, &voice.agent, session, self.turn.now());
        held.cloned().map(|lease| (what, lease))
    }

    /// Reserves room for the events of these commands, so that a full disk cannot interrupt them in
    /// this turn.
    pub(crate) fn make_room(&self, orders: &[Command], voice: &Author) -> Result<(), MeshError> {
        let mut drafts = Vec::new();
        for order in orders {
            let deeds = self.board.decide(order.clone(), voice, self.turn.now())?;
            drafts.extend(deeds.iter().map(|deed| draft(deed, voice, None)));
        }
        Ok(self.turn.make_room(drafts)?)
    }

    /// Completes a command with facts of this machine: a leased file gets its one path. A task with
    /// a category and no agent goes to the agent of that category.
    pub(crate) fn completed(&self, order: Command) -> Result<Command, BoardError> {
        let order = with_leased_path(order, self.turn.journal().disk())?;
        let Command::Add(mut task) = order else {
            return Ok(order);
        };
        if task.assigned_to.is_none() {
            let category = task.other.get(CATEGORY).and_then(Value::as_str);
            let route = category.and_then(|category| self.matrix.route(category));
            task.assigned_to = route.map(|route| route.primary.clone());
        }
        Ok(Command::Add(task))
    }

    pub(crate) fn append(
        &mut self,
        deed: &Effect,
        voice: &Author,
        at: Option<Timestamp>,
    ) -> Result<Vec<Event>, MeshError> {
        self.append_event(draft(deed, voice, at))
    }

    /// Appends an event that changes nothing on the board, or one that was decided before.
    pub(crate) fn append_event(&mut self, draft: Draft) -> Result<Vec<Event>, MeshError> {
        let events = self.turn.append(vec![draft])?;
        for event in &events {
            self.board.apply(event);
        }
        Ok(events)
    }
}

/// The event that tells of a deed of this voice's.
fn draft(deed: &Effect, voice: &Author, at: Option<Timestamp>) -> Draft {
    Draft {
        timestamp: at,
        session_id: voice.session_id.clone(),
        pane_id: voice.pane_id.clone(),
        cwd: voice.cwd.clone(),
        ..deed.draft(&voice.agent)
    }
}
