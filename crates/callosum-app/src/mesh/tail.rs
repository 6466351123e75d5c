//! `callosum mesh tail`: prints past events, and new ones as they come.

use std::time::Duration;

use callosum_mesh::journal::Cursor;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::time_arg::TimeArg;
use crate::{CommandError, Exit};

/// Events that are read at once.
pub const BATCH: usize = 512;

/// The pause between two looks at the log.
pub const PAUSE: Duration = Duration::from_millis(50);

/// Most characters of a payload on a line.
pub const MOST_SHOWN: usize = 160;

/// The first event to show.
#[derive(Clone, Debug)]
pub enum Since {
    /// By its position in the log.
    Cursor(Cursor),
    /// By its time.
    Time(TimeArg),
}

/// Parses a cursor or a time.
pub fn since(text: &str) -> Result<Since, String> {
    if let Ok(cursor) = text.parse::<Cursor>() {
        return Ok(Since::Cursor(cursor));
    }
    let moment = TimeArg::read(text).map(Since::Time);
    moment.map_err(|error| format!("expected a cursor, such as 17; or {error}"))
}

/// A line of `callosum mesh tail --json`: an event, or a notice.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum EventsOutput {
    /// An event, as it is in the log.
    Event(Value),
    /// Events that are missing before the ones that follow.
    Notice(NoticeOutput),
}

/// Events that are missing before the ones that follow.
#[derive(Debug, JsonSchema, Serialize)]
pub struct NoticeOutput {
    /// `reset`, `dropped` or `damaged`.
    pub notice: String,
    /// In words.
    pub message: String,
}

/// Explains why the log cannot be read.
pub fn unreadable(error: callosum_mesh::journal::JournalError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot read the log", &error)
}
