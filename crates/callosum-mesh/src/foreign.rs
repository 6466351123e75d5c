//! Events of other machines: each is appended once, in the order of the log that it comes from.
//!
//! Start with [`Mesh::receive`]. The log itself records what was received: an event has the log and the place that it comes
//! from. [`Marks`] is a summary of that, read and written in a turn, and made again from the log if it is lost.
//!
//! Deliberately not here: which events cross, and the connection (`callosum-fleet`).

use std::collections::BTreeMap;

use callosum_host::Disk;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    agent::AgentName,
    author::Author,
    board::{Effect, REFUSED, SHARED, UNSHARED},
    event::{Draft, Event, Foreign},
    journal::{Cursor, Journal},
    mesh::Mesh,
    mesh_error::MeshError,
    transaction::Transaction,
};

/// The file with the summary, in the mesh's folder.
const FILE: &str = "marks/received";

/// Events that are read at once.
const BATCH: usize = 256;

/// Events of another machine, in the order of its log.
#[derive(Clone, Debug)]
pub struct ForeignEvents {
    /// The other machine's log.
    pub origin: String,
    /// The last event of that log that was sent before these; 0 if these are the first.
    pub previous: u64,
    /// Whether those before can no longer be received, so that the gap is accepted.
    pub is_oldest: bool,
    /// The events with their places in that log.
    pub events: Vec<(u64, Draft)>,
}

/// Outcome of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Events were appended. They are synced.
    Appended {
        /// Number of events.
        events: usize,
        /// Number of them that were not taken in, and change nothing.
        refused: usize,
    },
    /// The log had all of them.
    Known,
    /// Events between this one, the last that the log has, and these are missing. Nothing was appended.
    Gap {
        /// The last event of that log that was received.
        last: u64,
    },
}

impl Draft {
    /// Returns the same event of another machine as one that changes nothing: its place in the other log is taken all the
    /// same.
    #[must_use]
    pub fn refused(self, reason: &str) -> Self {
        let payload = json!({ "topic": self.topic, "reason": reason });
        let Value::Object(payload) = payload else {
            unreachable!("it is an object")
        };
        let topic = REFUSED.parse().expect("it is a topic");
        Self {
            machine: self.machine,
            timestamp: self.timestamp,
            from: self.from,
            ..Self::new(topic, self.source).with_payload(payload)
        }
    }
}

/// The last event that was received from each other log.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Marks {
    /// This log.
    log: String,
    /// The last event of this log that the summary knows.
    seq: u64,
    /// The last event of each other log.
    origins: BTreeMap<String, u64>,
}

impl Marks {
    fn read(disk: &Disk, journal: &Journal) -> Result<Self, MeshError> {
        let path = journal.events().with_file_name(FILE);
        let bytes = disk.read_if_there(&path)?.unwrap_or_default();
        let known: Option<Self> = serde_json::from_slice(&bytes).ok();
        let known = known.filter(|known| known.log == journal.origin());
        Ok(known.unwrap_or_else(|| Self {
            log: journal.origin().to_owned(),
            ..Self::default()
        }))
    }

    /// Takes in what the log has beyond the summary.
    fn catch_up(&mut self, journal: &Journal) -> Result<(), MeshError> {
        let mut reader = journal.read_after(&Cursor {
            origin: Some(self.log.clone()),
            seq: self.seq,
        });
        loop {
            let batch = reader.next_batch(BATCH)?;
            for event in &batch.events {
                self.note(event);
            }
            if batch.is_end {
                return Ok(());
            }
        }
    }

    fn note(&mut self, event: &Event) {
        self.seq = self.seq.max(event.seq);
        if let Some(Foreign { origin, seq }) = &event.from {
            let last = self.origins.entry(origin.clone()).or_default();
            *last = (*last).max(*seq);
        }
    }

    fn write(&self, disk: &Disk, journal: &Journal) -> Result<(), MeshError> {
        let path = journal.events().with_file_name(FILE);
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        Ok(disk.replace_unsynced(&path, &bytes, 0o600)?)
    }
}

impl Mesh {
    /// Appends events of other machines, each once and in the order of its log, and syncs them, all in one turn.
    ///
    /// Events that the log has are passed over. If events before some of these are missing, none of those are appended.
    pub fn receive(&mut self, foreign: Vec<ForeignEvents>) -> Result<Vec<Arrival>, MeshError> {
        let disk = self.disk().clone();
        self.in_turn(|turn| turn.receive(&disk, foreign))
    }

    /// Returns the last event that was received from each other log.
    pub fn received(&self) -> Result<BTreeMap<String, u64>, MeshError> {
        let mut marks = Marks::read(self.disk(), self.journal())?;
        marks.catch_up(self.journal())?;
        Ok(marks.origins)
    }

    /// Records that other machines see these tasks from now on, so that the fleet's server decides about claims.
    pub fn share(&mut self, tasks: &[String]) -> Result<(), MeshError> {
        self.note_of_fleet(SHARED, json!({ "tasks": tasks }))
    }

    /// Records that these tasks are this machine's own again; all tasks if none are named.
    pub fn unshare(&mut self, tasks: Option<&[String]>) -> Result<(), MeshError> {
        let payload = tasks.map_or_else(|| json!({}), |tasks| json!({ "tasks": tasks }));
        self.note_of_fleet(UNSHARED, payload)
    }

    fn note_of_fleet(&mut self, topic: &str, payload: Value) -> Result<(), MeshError> {
        let payload = match payload {
            Value::Object(payload) => payload,
            _ => Map::new(),
        };
        let topic = topic.parse().expect("it is a topic");
        let draft = Draft::new(topic, Author::of(AgentName::us()).agent).with_payload(payload);
        self.in_turn(|turn| turn.append_event(draft).map(drop))
    }
}

impl Transaction<'_, '_> {
    fn receive(
        &mut self,
        disk: &Disk,
        foreign: Vec<ForeignEvents>,
    ) -> Result<Vec<Arrival>, MeshError> {
        let mut marks = Marks::read(disk, self.turn.journal())?;
        marks.catch_up(self.turn.journal())?;
        let mut arrivals = Vec::with_capacity(foreign.len());
        for events in foreign {
            arrivals.push(self.receive_one(&mut marks, events)?);
        }
        // A lost part is read from the log the next time.
        drop(marks.write(disk, self.turn.journal()));
        Ok(arrivals)
    }

    fn receive_one(
        &mut self,
        marks: &mut Marks,
        foreign: ForeignEvents,
    ) -> Result<Arrival, MeshError> {
        let ForeignEvents {
            origin,
            previous,
            is_oldest,
            events,
        } = foreign;
        if origin == self.turn.origin() {
            return Ok(Arrival::Known);
        }
        let last = marks.origins.get(&origin).copied().unwrap_or(0);
        let missing: Vec<Draft> = events
            .into_iter()
            .filter(|(seq, _)| *seq > last)
            .map(|(seq, draft)| Draft {
                from: Some(Foreign {
                    origin: origin.clone(),
                    seq,
                }),
                ..draft
            })
            .collect();
        if missing.is_empty() {
            return Ok(Arrival::Known);
        }
        if previous > last && !is_oldest {
            return Ok(Arrival::Gap { last });
        }
        let missing = self.with_room(missing);
        let appended = self.turn.append(missing)?;
        for event in &appended {
            self.board.apply(event);
            marks.note(event);
        }
        let refused = appended.iter();
        let refused = refused.filter(|event| event.topic.as_str() == REFUSED);
        Ok(Arrival::Appended {
            events: appended.len(),
            refused: refused.count(),
        })
    }

    /// Returns the same events, in which those that the board has no room for change nothing.
    fn with_room(&self, drafts: Vec<Draft>) -> Vec<Draft> {
        let mut room = self.board.room_for_received();
        let drafts = drafts.into_iter().map(|draft| {
            let tagged = json!({ "type": draft.topic, "payload": draft.payload });
            let effect: Option<Effect> = serde_json::from_value(tagged).ok();
            match effect.map_or(Ok(()), |effect| room.take(&effect)) {
                Ok(()) => draft,
                Err(reason) => draft.refused(reason),
            }
        });
        drafts.collect()
    }
}
