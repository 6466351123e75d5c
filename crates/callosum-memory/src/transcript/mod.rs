//! [`read_line`] and [`read_whole`]: the turns in a client's session file.
//!
//! One file per client. Each reader takes a line of JSON, and adds what it did to the session to [`Changes`]. What a reader
//! does not know is skipped, and so is a line that is no JSON: clients add kinds of lines with every version.
//!
//! Deliberately not here: finding the files, and what was read of them before.

mod claude;
mod codex;
mod gemini;
pub(crate) mod opencode;
mod qwen;
mod tool_call;

use jiff::Timestamp;
use serde_json::Value;

use super::{client::Client, turn::Turn};

/// Facts about a session as a whole, from lines of a file. A later line overrides an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The session's id, as its client takes it to resume the session.
    pub session: Option<String>,
    /// The session that started this one as a sub-agent. Its turns count as turns of that session.
    pub parent: Option<String>,
    /// The folder that the session ran in.
    pub folder: Option<String>,
    /// The title that the client or the person gave it.
    pub title: Option<String>,
}

/// A record of a file: what the client keeps under one id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its id, so that a copy in another file is recognized, and a newer version in the same file replaces it.
    pub id: String,
    /// Its turns.
    pub turns: Vec<Turn>,
}

/// A change of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// A new record, or a newer version of one.
    Put(Record),
    /// The person went back: the record and all after it are no part of the session. An unknown id clears it.
    RewindTo(String),
    /// All records so far are no part of the session.
    Clear,
}

/// The changes that lines made, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub facts: Facts,
    pub changes: Vec<Change>,
}

impl Changes {
    fn put(&mut self, id: &str, turns: impl IntoIterator<Item = Option<Turn>>) {
        let turns: Vec<Turn> = turns.into_iter().flatten().collect();
        if !turns.is_empty() {
            let id = id.to_owned();
            self.changes.push(Change::Put(Record { id, turns }));
        }
    }
}

/// Reads a line of a file that its client appends to.
pub(crate) fn read_line(client: Client, line: &[u8], changes: &mut Changes) {
    let Ok(line) = serde_json::from_slice::<Value>(line) else {
        return;
    };
    match client {
        Client::ClaudeCode => claude::read(&line, changes),
        Client::Codex => codex::read(&line, changes),
        Client::Gemini => gemini::read(&line, changes),
        Client::Qwen => qwen::read(&line, changes),
        // Its sessions are in a database.
        Client::Opencode => {}
    }
}

/// Reads a file that is one JSON object, as older versions of Codex and Gemini CLI write it.
pub(crate) fn read_whole(client: Client, bytes: &[u8], changes: &mut Changes) {
    let Ok(file) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    match client {
        Client::Codex => codex::read_whole(&file, changes),
        Client::Gemini | Client::Qwen => gemini::read_whole(&file, changes),
        Client::ClaudeCode | Client::Opencode => {}
    }
}

/// Returns the string at a key.
fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

/// Returns the time at a key.
fn time(value: &Value, key: &str) -> Option<Timestamp> {
    text(value, key)?.parse().ok()
}

/// Sets a fact to the string at a key, if there is one.
fn set(fact: &mut Option<String>, value: &Value, key: &str) {
    if let Some(text) = text(value, key)
        && !text.is_empty()
        && fact.as_deref() != Some(text)
    {
        *fact = Some(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(super) fn read(client: Client, lines: &str) -> Changes {
        let mut changes = Changes::default();
        for line in lines.lines() {
            read_line(client, line.as_bytes(), &mut changes);
        }
        changes
    }

    /// Returns each turn as `speaker: text`, a rewind as `rewind to ID`.
    pub(super) fn shown(changes: &Changes) -> Vec<String> {
        let mut all = Vec::new();
        for change in &changes.changes {
            match change {
                Change::Put(record) => all.extend(
                    record
                        .turns
                        .iter()
                        .map(|turn| format!("{}: {}", turn.speaker.name(), turn.text)),
                ),
                Change::RewindTo(id) => all.push(format!("rewind to {id}")),
                Change::Clear => all.push("clear".to_owned()),
            }
        }
        all
    }

    proptest! {
        /// CALC-L5-1: no content of a file ends a reader.
        #[test]
        fn a_reader_survives_any_line(line in ".{0,200}", key in "type|message|payload|content|parts|\\$set") {
            let object = serde_json::json!({ key: line, "type": "user", "payload": { "type": line } }).to_string();
            for client in Client::ALL {
                for bytes in [line.as_bytes(), object.as_bytes()] {
                    let mut changes = Changes::default();
                    read_line(client, bytes, &mut changes);
                    read_whole(client, bytes, &mut changes);
                }
            }
        }
    }
}
