//! [`AuditEvent`]: an event, as the caller passes it to the journal.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::task_id::TaskId;
use callosum_json::Checksum;

/// The kinds of things that the journal tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// An executor is about to be started for a task; reserves the task's id.
    Spawn,
    /// The arbiter chose how a task runs.
    Decision,
    /// A task's process went from one state to the next.
    State,
    /// An answer passed validation.
    Validated,
    /// An answer did not pass validation.
    Rejected,
    /// An entry was stored; the record carries it whole.
    Commit,
    /// An entry of a ledger that was there before the journal was taken over; carries it whole.
    Adopted,
    /// Something failed.
    Error,
    /// Something that failed is tried again.
    Retry,
    /// An earlier failure was brought to an end, good or bad.
    Recovery,
    /// The last valid state was restored.
    Rollback,
    /// A file was brought in line with the journal.
    Repair,
    /// The active ledger was archived and a new one begun.
    Rotation,
    /// A ledger was begun; the record carries the text around its entries.
    Created,
    /// A person trusted, or stopped trusting, what a project asks for.
    Trust,
    /// The executor registry was changed.
    Registry,
    /// The journal's root was signed and kept outside the project.
    Checkpoint,
    /// The guard decided on a coding agent's intended action.
    Guard,
    /// Something happened in a run of a plan.
    Plan,
    /// The graph of intents was changed.
    Intent,
    /// A record before this one is of a day that had not come: a clock was ahead.
    ClockSkew,
    /// A day file ends here; the record names the one that follows.
    DayEnd,
}

impl Event {
    /// All kinds.
    pub const ALL: [Self; 22] = [
        Self::Spawn,
        Self::Decision,
        Self::State,
        Self::Validated,
        Self::Rejected,
        Self::Commit,
        Self::Adopted,
        Self::Error,
        Self::Retry,
        Self::Recovery,
        Self::Rollback,
        Self::Repair,
        Self::Rotation,
        Self::Created,
        Self::Trust,
        Self::Registry,
        Self::Checkpoint,
        Self::Guard,
        Self::Plan,
        Self::Intent,
        Self::ClockSkew,
        Self::DayEnd,
    ];

    /// The kind as it is stored, such as `day_end`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Decision => "decision",
            Self::State => "state",
            Self::Validated => "validated",
            Self::Rejected => "rejected",
            Self::Commit => "commit",
            Self::Adopted => "adopted",
            Self::Error => "error",
            Self::Retry => "retry",
            Self::Recovery => "recovery",
            Self::Rollback => "rollback",
            Self::Repair => "repair",
            Self::Rotation => "rotation",
            Self::Created => "created",
            Self::Trust => "trust",
            Self::Registry => "registry",
            Self::Checkpoint => "checkpoint",
            Self::Guard => "guard",
            Self::Plan => "plan",
            Self::Intent => "intent",
            Self::ClockSkew => "clock_skew",
            Self::DayEnd => "day_end",
        }
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that is no kind of event.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an event (allowed: {})", names())]
pub struct UnknownEvent {
    /// The text.
    pub text: String,
}

/// Returns the names of all events.
fn names() -> String {
    let mut names = String::new();
    // `join` on an array is unrolled into checks that take LLVM four minutes to eliminate in a release build.
    for event in Event::ALL {
        if !names.is_empty() {
            names.push_str(", ");
        }
        names.push_str(event.as_str());
    }
    names
}

impl std::str::FromStr for Event {
    type Err = UnknownEvent;

    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        Self::ALL
            .into_iter()
            .find(|event| event.as_str() == text)
            .ok_or_else(|| UnknownEvent {
                text: text.to_owned(),
            })
    }
}

/// An event for the journal.
///
/// The journal adds the time, the number and the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEvent {
    /// Kind of the event.
    pub event: Event,
    /// The task that it happened to.
    pub task_id: Option<TaskId>,
    /// The executor that it happened with.
    pub executor: Option<String>,
    /// The checksum of the entry or answer that it is about.
    pub hash: Option<Checksum>,
    /// Status in a word, such as `validated` or `running`.
    pub status: Option<String>,
    /// Other details.
    pub details: Map<String, Value>,
}

impl AuditEvent {
    /// Creates an event with nothing but its kind.
    pub fn new(event: Event) -> Self {
        Self {
            event,
            task_id: None,
            executor: None,
            hash: None,
            status: None,
            details: Map::new(),
        }
    }

    /// The same, with one more detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

/// A task for which an executor is about to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// The executor.
    pub executor: String,
    /// Other details: prompt, kind, mode, command.
    pub details: Map<String, Value>,
}

/// A record of the journal, as it is read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// When it happened.
    pub timestamp: Timestamp,
    /// The task that it happened to.
    pub task_id: Option<TaskId>,
    /// The executor that it happened with.
    pub executor: Option<String>,
    /// `sha256:` and the checksum of the entry or answer that it is about.
    pub hash: Option<String>,
    /// Status in a word.
    pub status: Option<String>,
    /// The record's number; the journal's first is 1.
    pub seq: u64,
    /// Kind of the event; a later version may write kinds that [`Event`] lacks.
    pub event: String,
    /// The number of the last record that was known to be on disk when this one was written.
    pub synced: u64,
    /// Other details.
    pub details: Map<String, Value>,
    /// The entry that it stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Value>,
    /// The chain's hash of the record before.
    pub prev: Checksum,
    /// The chain's hash of this record.
    pub record: Checksum,
}
