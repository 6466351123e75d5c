//! Sessions of opencode: the tables `session`, `message` and `part` of `opencode.db`.
//!
//! The database is opened for reading only. It may be in use: its client writes to a log next to it, which SQLite reads
//! along.

use std::{collections::HashSet, time::Duration};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, params};
use serde_json::Value;

use super::{Record, text, tool_call};
use crate::{
    client::Client,
    session_files::SessionFile,
    store::Store,
    turn::{Speaker, Turn},
    update::LeavesOut,
};

/// Longest wait for the client, which may be writing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Parts that are new or changed since a time. A part whose session is a sub-agent's counts for the session that started
/// it.
const PARTS: &str = "
SELECT part.id, part.time_updated, part.data, message.data, coalesce(session.parent_id, session.id),
  session.directory, session.title, part.time_created
FROM part JOIN message ON message.id = part.message_id JOIN session ON session.id = part.session_id
WHERE part.time_updated >= ?1 ORDER BY part.time_created, part.id";

/// A row of [`PARTS`].
struct Part {
    id: String,
    updated: i64,
    data: String,
    message: String,
    session: String,
    folder: Option<String>,
    title: Option<String>,
    created: i64,
}

/// Reads what changed since `since`, in milliseconds since 1970, and removes the turns of sessions that are gone. Returns the
/// time of the newest change; `None` if the database cannot be read.
pub(crate) fn read(
    file: &SessionFile,
    id: i64,
    since: u64,
    leaves_out: &LeavesOut<'_>,
    store: &mut Store<'_>,
) -> rusqlite::Result<Option<u64>> {
    let Ok((parts, sessions)) = changed(file, since.cast_signed()) else {
        return Ok(None);
    };
    let mut newest = since;
    for part in parts {
        newest = newest.max(part.updated.unsigned_abs());
        let folder = part.folder.as_deref();
        if folder.is_some_and(|folder| leaves_out.folder(folder))
            || leaves_out.session(Client::Opencode.into(), &part.session)
        {
            continue;
        }
        let turns: Vec<Turn> = turns(&part).into_iter().flatten().collect();
        if turns.is_empty() {
            continue;
        }
        store.begin_session(
            Client::Opencode.into(),
            (&part.session, ""),
            part.folder.as_deref(),
            part.title.as_deref(),
        )?;
        let record = Record { id: part.id, turns };
        store.put(id, Client::Opencode.into(), &record)?;
    }
    store.end_session();
    store.keep_sessions(id, &sessions)?;
    Ok(Some(newest))
}

/// Returns the parts that changed since a time, and the ids of all sessions.
fn changed(file: &SessionFile, since: i64) -> rusqlite::Result<(Vec<Part>, HashSet<String>)> {
    let connection = Connection::open_with_flags(
        &file.path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(PATIENCE)?;
    let mut statement = connection.prepare("SELECT id FROM session WHERE parent_id IS NULL")?;
    let sessions = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut statement = connection.prepare(PARTS)?;
    let rows = statement.query_map(params![since], |row| {
        Ok(Part {
            id: row.get(0)?,
            updated: row.get(1)?,
            data: row.get(2)?,
            message: row.get(3)?,
            session: row.get(4)?,
            folder: row.get(5)?,
            title: row.get(6)?,
            created: row.get(7)?,
        })
    })?;
    Ok((rows.collect::<rusqlite::Result<_>>()?, sessions))
}

fn turns(part: &Part) -> Vec<Option<Turn>> {
    let (Ok(data), Ok(message)) = (
        serde_json::from_str::<Value>(&part.data),
        serde_json::from_str::<Value>(&part.message),
    ) else {
        return Vec::new();
    };
    let at = Timestamp::from_millisecond(part.created).ok();
    let is_of_client = data.get("synthetic").and_then(Value::as_bool) == Some(true);
    match text(&data, "type") {
        Some("text") if !is_of_client => {
            let speaker = match text(&message, "role") {
                Some("assistant") => Speaker::Agent,
                _ => Speaker::User,
            };
            vec![Turn::new(
                speaker,
                at,
                text(&data, "text").unwrap_or_default(),
            )]
        }
        Some("tool") => {
            let state = data.get("state").unwrap_or(&Value::Null);
            let arguments = state.get("input").unwrap_or(&Value::Null);
            let call = tool_call::call(text(&data, "tool").unwrap_or("tool"), arguments);
            let failure = (text(state, "status") == Some("error")).then(|| {
                let error = text(state, "error").or_else(|| text(state, "output"));
                Turn::new(
                    Speaker::Failure,
                    at,
                    &tool_call::failure(error.unwrap_or_default()),
                )
            });
            vec![Turn::new(Speaker::Call, at, &call), failure.flatten()]
        }
        _ => Vec::new(),
    }
}
