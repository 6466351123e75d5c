//! [`LockedSession::pull`]: takes another project's files into this project's.
//!
//! Everything is read, checked and merged before the first write. Each file is then replaced whole,
//! and the memory of the sync is written last: if the process is killed between two files, the next
//! sync does the rest.

use serde_json::json;

use super::{
    PHASE,
    offer::LeftOut,
    part::Part,
    plan::{Plan, Received, Step},
};
use crate::{
    merge::{Kind, merged},
    notes::Notes,
    sanitize::Redaction,
    timestamp::second,
    transaction::{LockedSession, Session, SessionError},
};

/// Most conflicts that a record names.
const MOST_NAMED: usize = 50;

/// Result of a sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pulled {
    /// Decisions that are new in the notes.
    pub decisions: Vec<NewDecision>,
    /// Decisions that the other side removed or changed the title of, and that this side had left as
    /// they were.
    pub removed: Vec<NewDecision>,
    /// Whether the notes changed.
    pub notes_changed: bool,
    /// Beads that are new or changed.
    pub beads: Vec<BeadChange>,
    /// Records that are new.
    pub records: Vec<NewRecords>,
    /// Values that both sides changed differently: ours stay.
    pub conflicts: Vec<Named>,
    /// Values of beads that changed here since the other side was last read: they differ there.
    pub differing: Vec<Named>,
    /// Values of theirs that gave way, and lines that were left out.
    pub notices: Vec<Named>,
    /// Files that were not taken.
    pub left: Vec<LeftOut>,
}

/// A decision of the notes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NewDecision {
    /// When it was made.
    pub ts: String,
    /// Its title.
    pub title: String,
}

/// A bead that is new or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeadChange {
    /// Its id.
    pub id: String,
    /// Whether it is new here.
    pub is_new: bool,
    /// The keys whose values changed; none of a new one.
    pub keys: Vec<String>,
}

/// Records that were added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecords {
    /// The agent that wrote them.
    pub agent: String,
    /// The day of their file.
    pub day: String,
    /// Their number.
    pub records: usize,
}

/// Something about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The file, from the root.
    pub file: String,
    /// A description.
    pub what: String,
}

impl Pulled {
    /// Whether a file changes.
    pub fn changes_anything(&self) -> bool {
        self.notes_changed || !self.beads.is_empty() || !self.records.is_empty()
    }
}

impl Session<'_> {
    /// Returns what a sync would do. Writes nothing.
    pub fn preview(&self, source: &str, received: &Received) -> Result<Pulled, SessionError> {
        Ok(self.plan(source, received)?.pulled)
    }
}

impl LockedSession<'_> {
    /// Merges another project's files into this project's. Of values that both changed differently,
    /// ours stay.
    ///
    /// `source` is the other project as the person named it: the key of what was taken before, and
    /// the origin in the record of the sync.
    pub fn pull(&self, source: &str, received: &Received) -> Result<Pulled, SessionError> {
        let Plan {
            steps,
            pulled,
            state,
            is_news,
            ..
        } = self.session.plan(source, received)?;
        for step in &steps {
            self.write_part(step)?;
        }
        if pulled.changes_anything() {
            self.record_sync(source, &pulled)?;
        }
        if is_news {
            self.remember_sync(&state)?;
        }
        Ok(pulled)
    }

    fn write_part(&self, step: &Step) -> Result<(), SessionError> {
        if step.part != Part::Notes {
            let zones = self.session.zones;
            let path = zones.root.join(step.part.file(zones));
            let path = zones.real(self.session.disk, &path)?;
            return self.write_if_changed(&path, &step.bytes);
        }
        // Others write the notes without the lock: the merge is made again on what they wrote.
        let was_complete = self.is_complete()?;
        let base = step.base.as_ref().map(String::as_bytes);
        let is_alone = self.edit_notes(|there| {
            let Some(there) = there else {
                return Notes::read(step.theirs.clone().into());
            };
            let theirs = step.theirs.as_bytes();
            match merged(Kind::Notes, base, there.bytes(), theirs) {
                Ok(made) => Notes::read(made.bytes),
                Err(_) => there,
            }
        })?;
        if was_complete && is_alone {
            self.note_complete()?;
        }
        Ok(())
    }

    /// Records the sync with its origin.
    fn record_sync(&self, source: &str, pulled: &Pulled) -> Result<(), SessionError> {
        let ts = second(self.session.clock.now());
        let agent = self.session.agent.to_string();
        let mut redaction = Redaction::default();
        let beads: Vec<&str> = pulled.beads.iter().map(|bead| bead.id.as_str()).collect();
        let conflicts = pulled.conflicts.iter().take(MOST_NAMED);
        let conflicts: Vec<String> = conflicts
            .map(|one| redaction.statement(&format!("{}: {}", one.file, one.what)))
            .collect();
        let mut record = json!({
            "ts": ts, "agent": agent, "phase": PHASE, "from": redaction.statement(source),
            "decisions": pulled.decisions.len(), "beads": beads,
            "records": pulled.records.iter().map(|new| new.records).sum::<usize>(),
        });
        if !conflicts.is_empty() {
            record["conflicts"] = conflicts.into();
        }
        self.tell(agent, &ts, vec![record])
    }
}
