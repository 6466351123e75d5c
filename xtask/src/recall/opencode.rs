//! [`Database`]: generated sessions in the database of opencode, with the tables and shapes of a real one.

use std::{fs, path::Path};

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::generate::{Random, command, message};

/// The tables, as far as sessions are in them.
const TABLES: &str = "
PRAGMA journal_mode=WAL;
CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT NOT NULL, title TEXT NOT NULL, parent_id TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER, data TEXT NOT NULL);
CREATE INDEX part_message_idx ON part (message_id);
CREATE INDEX part_session_idx ON part (session_id);
BEGIN;";

/// The first moment of the sessions: 2026-03-01, in milliseconds since 1970.
const BEGIN: i64 = 1_772_323_200_000;

/// A database that is being written.
pub(super) struct Database {
    connection: Connection,
    bytes: u64,
}

impl Database {
    /// Makes the database in a home.
    pub(super) fn create(home: &Path) -> Result<Self, String> {
        let folder = home.join(".local/share/opencode");
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let made = Connection::open(folder.join("opencode.db")).and_then(|connection| {
            connection.execute_batch(TABLES)?;
            Ok(connection)
        });
        let connection = made.map_err(|error| error.to_string())?;
        Ok(Self {
            connection,
            bytes: 0,
        })
    }

    /// Writes a session with so many turns.
    pub(super) fn add(
        &mut self,
        random: &mut Random,
        (session, project): (usize, &str),
        turns: usize,
    ) -> Result<(), String> {
        self.write(random, (session, project), turns)
            .map_err(|error| error.to_string())
    }

    fn write(
        &mut self,
        random: &mut Random,
        (session, project): (usize, &str),
        turns: usize,
    ) -> rusqlite::Result<()> {
        let id = format!("ses_{session:012x}");
        let begun = BEGIN + i64::try_from(session).unwrap_or(0) * 3_600_000;
        let at = |turn: usize| begun + i64::try_from(turn).unwrap_or(0) * 60_000;
        let sql = "INSERT INTO session(id, directory, title, parent_id, time_created, time_updated) VALUES(?1, ?2, ?3, NULL, ?4, ?5)";
        self.connection.execute(
            sql,
            params![id, project, message(random, 4), begun, at(turns)],
        )?;
        for turn in 0..turns {
            let is_user = turn.is_multiple_of(4);
            let key = format!("{session:08x}{turn:06x}");
            let data = if is_user {
                json!({ "role": "user", "time": { "created": at(turn) }, "agent": "build", "model": { "providerID": "p", "modelID": "m" } })
            } else {
                json!({
                    "role": "assistant", "time": { "created": at(turn) }, "agent": "build", "providerID": "p", "modelID": "m", "mode": "build",
                    "path": { "cwd": project, "root": project }, "cost": 0.01,
                    "tokens": { "input": 4000, "output": 200, "reasoning": 0, "cache": { "read": 9000, "write": 0 } },
                })
            };
            let data = data.to_string();
            self.bytes += data.len() as u64;
            let sql = "INSERT INTO message(id, session_id, time_created, time_updated, data) VALUES(?1, ?2, ?3, ?3, ?4)";
            self.connection.prepare_cached(sql)?.execute(params![
                format!("msg_{key}"),
                id,
                at(turn),
                data
            ])?;
            for (place, part) in parts(random, turn, at(turn)).into_iter().enumerate() {
                let part = part.to_string();
                self.bytes += part.len() as u64;
                let sql = "INSERT INTO part(id, message_id, session_id, time_created, time_updated, data) VALUES(?1, ?2, ?3, ?4, ?4, ?5)";
                self.connection.prepare_cached(sql)?.execute(params![
                    format!("prt_{key}{place}"),
                    format!("msg_{key}"),
                    id,
                    at(turn),
                    part
                ])?;
            }
        }
        Ok(())
    }

    /// Ends writing. Returns the number of bytes of all messages and parts.
    pub(super) fn end(self) -> Result<u64, String> {
        let ended = self.connection.execute_batch("COMMIT;");
        ended.map_err(|error| error.to_string())?;
        Ok(self.bytes)
    }
}

/// Returns the parts of a turn: a message or a tool call, with those around it that are no turns.
fn parts(random: &mut Random, turn: usize, at: i64) -> Vec<Value> {
    let is_call = turn % 4 == 2;
    if turn.is_multiple_of(4) {
        let words = 8 + random.below(40);
        return vec![json!({ "type": "text", "text": message(random, words) })];
    }
    let words = if is_call {
        100 + random.below(700)
    } else {
        20 + random.below(120)
    };
    let text = message(random, words);
    let own = if is_call {
        json!({
            "type": "tool", "callID": format!("call_{turn}"), "tool": "bash",
            "state": {
                "status": "completed", "input": { "command": command(random), "description": "Search" }, "output": text, "title": "Search",
                "metadata": { "exit": 0 }, "time": { "start": at, "end": at },
            },
        })
    } else {
        json!({ "type": "text", "text": text, "time": { "start": at, "end": at } })
    };
    vec![
        json!({ "type": "step-start" }),
        own,
        json!({ "type": "step-finish", "reason": "stop", "cost": 0.01, "tokens": { "input": 4000, "output": 200, "reasoning": 0 } }),
    ]
}

#[cfg(test)]
mod tests {
    use callosum_host::Disk;
    use callosum_memory::{Client, Memory};

    use crate::recall::{generate::generate, scope};

    /// CALC-L5-1: the generated files of all five clients have the shapes that the readers know: each turn is one of the index.
    #[test]
    fn each_generated_turn_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let (made, bytes) = generate(&home, 2_000).unwrap();
        assert!(bytes > 1_000_000, "{bytes}");
        let disk = Disk::real();
        let mut memory = Memory::open(&disk, &folder.path().join("turns.db")).unwrap();
        let report = memory.update(&disk, &scope(&home), &mut |_| true).unwrap();
        assert_eq!((report.added, report.unreadable), (made as u64, 0));
        let by_origin = memory.by_origin().unwrap();
        for client in Client::ALL {
            assert!(by_origin.contains_key(&client.into()), "{client}");
        }
    }
}
