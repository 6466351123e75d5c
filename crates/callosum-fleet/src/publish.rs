//! [`Publisher`]: this machine's events, sent in the order of its log.
//!
//! The last message of this log's own subject is the truth of what the server has, not a file of this machine: a server that
//! lost its last minutes gets them again, and one that has them gets nothing twice. Before other machines can see a task the
//! server knows it, and this machine's board marks it as shared, so that no one claims it without the server.

use std::collections::BTreeSet;

use callosum_host::Disk;
use callosum_mesh::{
    Author, Mesh,
    board::{CLAIM, Command, Effect, Status, Task},
    event::Event,
    journal::{Cursor, Reader},
};
use serde::{Deserialize, Serialize};

use super::{
    FleetError, Membership, Published, Server, ServerError,
    claims::{self, Acquired, Holder, State},
    crossing::{Filter, is_to_be_shared},
    envelope::{Envelope, MOST_BYTES, MOST_EVENTS, VERSION, WireEvent},
    membership::FOLDER,
};

/// Events that are read at once.
const BATCH: usize = 512;

/// The file that says how far the log was looked at, beyond the last event that was sent.
const EXAMINED: &str = "fleet/examined.json";

/// Outcome of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Number of events.
    pub(crate) events: u64,
    /// The part of this log that the server has.
    pub(crate) end: End,
    /// The last event that was looked at.
    pub(crate) examined: u64,
    /// Tasks that keep their id to themselves, since another machine has it.
    pub(crate) not_shared: u64,
}

/// End of the part of the log that was looked at.
#[derive(Debug, Deserialize, Serialize)]
struct Examined {
    origin: String,
    /// The last event that was sent then.
    sent: u64,
    /// The last event that was looked at.
    seq: u64,
}

/// Sender of this machine's events.
pub(crate) struct Publisher<'p> {
    pub(crate) membership: &'p Membership,
    pub(crate) filter: Filter<'p>,
    pub(crate) disk: &'p Disk,
}

/// The end of what the server has of this log.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    /// Place of the message in the stream; 0 if there is none.
    pub(crate) sequence: u64,
    /// The last event in it.
    pub(crate) last: u64,
}

impl Publisher<'_> {
    /// Sends all that the server does not have, after what is `known` of that or what the server says. If `known` is wrong,
    /// the server accepts nothing.
    pub(crate) fn publish(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        known: Option<End>,
    ) -> Result<Sent, FleetError> {
        let subject = self.membership.subject();
        let mut end = match known {
            Some(known) => known,
            None => self.end(mesh, server, &subject)?,
        };
        let mut sent = Sent {
            end,
            examined: self.examined(mesh, end.last)?,
            ..Sent::default()
        };
        // Events that other machines see survive a loss of power here.
        let mut is_synced = false;
        let mut reader = self.read_after(mesh, sent.examined);
        loop {
            let batch = reader.next_batch(BATCH)?;
            let Some(last) = batch.events.last().map(|event| event.seq) else {
                break;
            };
            if !is_synced {
                mesh.sync()?;
                is_synced = true;
            }
            sent.not_shared += self.share(mesh, server, &batch.events)?;
            self.settle(mesh, server, &batch.events)?;
            let board = mesh.board()?;
            let events = batch.events.iter();
            let wire: Vec<WireEvent> = events
                .filter_map(|event| self.filter.outgoing(event, board))
                .collect();
            for events in packed(wire) {
                let count = events.len() as u64;
                let envelope = Envelope {
                    v: VERSION,
                    origin: self.membership.origin.clone(),
                    names: self.membership.names.clone(),
                    previous: end.last,
                    events,
                };
                end = Self::send(server, &subject, &envelope, &end)?;
                sent.events += count;
                sent.end = end;
            }
            sent.examined = last;
            self.keep(mesh, end.last, last)?;
        }
        Ok(sent)
    }

    fn send(
        server: &mut dyn Server,
        subject: &str,
        envelope: &Envelope,
        end: &End,
    ) -> Result<End, FleetError> {
        let body = serde_json::to_vec(envelope).unwrap_or_default();
        match server.publish(subject, &envelope.id(), end.sequence, body)? {
            Published::At(sequence) => Ok(End {
                sequence,
                last: envelope.last(),
            }),
            Published::Conflict => Err(FleetError::Busy),
        }
    }

    fn read_after(&self, mesh: &Mesh, seq: u64) -> Reader {
        mesh.journal().read_after(&Cursor {
            origin: Some(self.membership.origin.clone()),
            seq,
        })
    }

    /// Returns what the server has of this log. Fails if that is not what the log has.
    fn end(&self, mesh: &Mesh, server: &mut dyn Server, subject: &str) -> Result<End, FleetError> {
        let Some(message) = server.last(subject)? else {
            return Ok(End::default());
        };
        let envelope: Envelope =
            serde_json::from_slice(&message.body).map_err(|error| ServerError::Failed {
                reason: format!("a message of this machine cannot be read: {error}"),
            })?;
        let last = envelope.last();
        let id = envelope.events.last().map(|event| &event.id);
        let mut reader = self.read_after(mesh, last.saturating_sub(1));
        let batch = reader.next_batch(1)?;
        let own = batch.events.first();
        // An event that the log keeps no longer is not compared.
        let is_gone = own.is_some_and(|own| own.seq > last);
        let is_same = own.is_some_and(|own| own.seq == last && Some(&own.id) == id);
        if !is_gone && !is_same {
            let origin = self.membership.origin.clone();
            return Err(FleetError::Forked { origin, seq: last });
        }
        Ok(End {
            sequence: message.sequence,
            last,
        })
    }

    /// Returns the event after which the log was not looked at yet. The file is believed if it is about the message that
    /// the server has last.
    fn examined(&self, mesh: &Mesh, sent: u64) -> Result<u64, FleetError> {
        let path = mesh.folder().join(EXAMINED);
        let bytes = self.disk.read_if_there(&path)?.unwrap_or_default();
        let known: Option<Examined> = serde_json::from_slice(&bytes).ok();
        let known = known.filter(|it| it.origin == self.membership.origin && it.sent == sent);
        let known = known.map_or(0, |known| known.seq);
        Ok(known.max(sent).max(self.membership.since))
    }

    fn keep(&self, mesh: &Mesh, sent: u64, seq: u64) -> Result<(), FleetError> {
        self.disk.create_private_dir(&mesh.folder().join(FOLDER))?;
        let examined = Examined {
            origin: self.membership.origin.clone(),
            sent,
            seq,
        };
        let bytes = serde_json::to_vec(&examined).unwrap_or_default();
        let path = mesh.folder().join(EXAMINED);
        Ok(self.disk.replace_unsynced(&path, &bytes, 0o600)?)
    }

    /// Makes new tasks known to the server. Returns the number of tasks whose id another machine has.
    fn share(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        events: &[Event],
    ) -> Result<u64, FleetError> {
        let own = events.iter().filter(|event| event.from.is_none());
        let added: BTreeSet<String> = own
            .filter_map(|event| match Effect::of(event)? {
                Effect::TaskAdded { id, .. } => Some(id),
                _ => None,
            })
            .collect();
        if added.is_empty() {
            return Ok(0);
        }
        let board = mesh.board()?;
        let mut new = Vec::new();
        let mut shared = Vec::new();
        for task in added.iter().filter_map(|id| board.task(id)) {
            if is_to_be_shared(&mut self.filter, task) {
                new.push(task.id.clone());
            }
            if task.is_shared || new.last() == Some(&task.id) {
                shared.push(task.id.clone());
            }
        }
        if !new.is_empty() {
            mesh.share(&new)?;
        }
        let board = mesh.board()?;
        let known: Vec<Task> = shared
            .iter()
            .filter_map(|id| board.task(id).cloned())
            .collect();
        let states = known.iter().map(|task| (&*task.id, state_of(task)));
        let mut taken = claims::register(server, states, &self.membership.origin)?;
        for task in known.iter().filter(|task| task.fence == 0) {
            if !taken.contains(&task.id) {
                self.fence(mesh, server, task)?;
            }
        }
        let count = taken.len() as u64;
        if count > 0 {
            taken.sort();
            mesh.unshare(Some(&taken))?;
        }
        Ok(count)
    }

    /// Gives a claim that an agent of this machine has a fencing token. No other machine sees the task yet.
    fn fence(
        &self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        task: &Task,
    ) -> Result<(), FleetError> {
        let now = mesh.journal().now();
        let Some(claim) = task.claim_at(now).filter(|claim| !claim.is_foreign()) else {
            return Ok(());
        };
        let holder = Holder {
            origin: self.membership.origin.clone(),
            names: self.membership.names.clone(),
            agent: claim.by.to_string(),
            session_id: claim.session_id.clone(),
        };
        if let Acquired::Token(fence) = claims::acquire(server, &task.id, &holder, 0, false, CLAIM)?
        {
            let order = Command::Claim {
                task: Some(task.id.clone()),
                anyway: true,
                fence: Some(fence),
            };
            let voice = Author {
                session_id: claim.session_id.clone(),
                cwd: task.cwd.clone(),
                ..Author::of(claim.by.clone())
            };
            mesh.give(order, &voice)?;
        }
        Ok(())
    }

    /// Tells the server of claims that ended or were renewed here, as far as it does not know. The server learns here of
    /// what was done while it did not answer. If another machine has taken the task since, its claim counts.
    fn settle(
        &self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        events: &[Event],
    ) -> Result<(), FleetError> {
        let origin = &self.membership.origin;
        for event in events.iter().filter(|event| event.from.is_none()) {
            let (task, fence, state) = match Effect::of(event) {
                Some(Effect::TaskClaimed { task, fence, .. }) => (task, fence, State::Claimed),
                Some(Effect::TaskReleased { task, fence, .. }) => (task, fence, State::Free),
                Some(Effect::TaskCompleted { task, fence, .. }) => (task, fence, State::Complete),
                Some(Effect::TaskCancelled { task, .. }) => (task, None, State::Cancelled),
                _ => continue,
            };
            match (fence, state) {
                (Some(fence), _) => {
                    claims::settle(server, &task, origin, fence, state)?;
                }
                (None, State::Complete | State::Cancelled) => {
                    let is_shared = mesh.board()?.task(&task).is_some_and(|task| task.is_shared);
                    if is_shared {
                        claims::close(server, &task, state)?;
                    }
                }
                (None, _) => {}
            }
        }
        Ok(())
    }
}

fn state_of(task: &Task) -> State {
    match task.status {
        Status::Complete => State::Complete,
        Status::Cancelled => State::Cancelled,
        Status::Pending | Status::InProgress => State::Free,
    }
}

/// Splits events into messages that a server accepts.
fn packed(events: Vec<WireEvent>) -> Vec<Vec<WireEvent>> {
    let mut messages: Vec<Vec<WireEvent>> = Vec::new();
    let mut bytes = 0;
    for event in events {
        let own = serde_json::to_vec(&event).map_or(0, |bytes| bytes.len());
        match messages.last_mut() {
            Some(last) if last.len() < MOST_EVENTS && bytes + own <= MOST_BYTES => {
                bytes += own;
                last.push(event);
            }
            _ => {
                bytes = own;
                messages.push(vec![event]);
            }
        }
    }
    messages
}
