//! [`Request`]: something that a thread wants written, and how that went.

use jiff::Timestamp;

use crate::{
    entry::Entry,
    error_code::ErrorCode,
    event::{AuditEvent, Event, Spawn},
    repair::Repair,
    rotation::Rotated,
    task_id::TaskId,
    write_error::WriteError,
};

/// Something that a thread wants written.
pub(crate) enum Request {
    Record {
        event: AuditEvent,
        at: Timestamp,
    },
    Reserve {
        ticket: u64,
        spawn: Spawn,
        at: Timestamp,
    },
    Commit {
        ticket: u64,
        entry: Box<Entry>,
        at: Timestamp,
    },
    Flush {
        ticket: u64,
        at: Timestamp,
    },
    /// Archive the ledger, however small it is.
    Rotate {
        ticket: u64,
        at: Timestamp,
    },
}

impl Request {
    /// The ticket of the thread that waits for it.
    pub(crate) fn ticket(&self) -> Option<u64> {
        match self {
            Self::Record { .. } => None,
            Self::Reserve { ticket, .. }
            | Self::Commit { ticket, .. }
            | Self::Flush { ticket, .. }
            | Self::Rotate { ticket, .. } => Some(*ticket),
        }
    }

    pub(super) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Commit { entry, .. } => Some(entry),
            Self::Record { .. }
            | Self::Reserve { .. }
            | Self::Flush { .. }
            | Self::Rotate { .. } => None,
        }
    }

    /// Returns the event, if the request is one that no thread waits for.
    pub(crate) fn event(&self) -> Option<(&AuditEvent, Timestamp)> {
        match self {
            Self::Record { event, at } => Some((event, *at)),
            Self::Reserve { .. }
            | Self::Commit { .. }
            | Self::Flush { .. }
            | Self::Rotate { .. } => None,
        }
    }

    /// Returns the event to record for a spawn that the journal did not take.
    pub(super) fn refused(&self) -> Option<(AuditEvent, Timestamp)> {
        let Self::Reserve { spawn, at, .. } = self else {
            return None;
        };
        let event = AuditEvent {
            executor: Some(spawn.executor.clone()),
            status: Some("refused".to_owned()),
            details: spawn.details.clone(),
            ..AuditEvent::new(Event::Error)
        };
        Some((event.with("code", ErrorCode::AuditFailure.to_string()), *at))
    }

    pub(super) fn at(&self) -> Timestamp {
        match self {
            Self::Record { at, .. }
            | Self::Reserve { at, .. }
            | Self::Commit { at, .. }
            | Self::Flush { at, .. }
            | Self::Rotate { at, .. } => *at,
        }
    }
}

/// Result of a successful request.
pub(crate) enum Done {
    Flushed,
    Reserved(TaskId),
    Stored(Box<Entry>),
    /// The archived ledger; `None` if the ledger had no entries.
    Rotated(Option<Rotated>),
}

/// Outcome of a group.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) outcomes: Vec<(u64, Result<Done, WriteError>)>,
    pub(crate) repairs: Vec<Repair>,
    /// Ledger archived before the group was written.
    pub(crate) rotated: Option<Rotated>,
    /// Error that prevented a rotation that was due.
    pub(crate) not_rotated: Option<WriteError>,
}
