//! Sessions of Gemini CLI: `tmp/<project>/chats/session-*.jsonl`, of sub-agents in a folder of the session's id.
//!
//! The file is a log of changes: a record with a known id replaces the one before, `$set` replaces metadata or all
//! messages, and `$rewindTo` removes a record and all after it.

use serde_json::Value;

use super::{Change, Changes, set, text, time, tool_call};
use crate::turn::{Speaker, Turn};

/// Beginning of a user's text that the client wrote.
const OF_CLIENT: &str = "<session_context>";

/// Reads a line.
pub(super) fn read(line: &Value, changes: &mut Changes) {
    if let Some(set_to) = line.get("$set") {
        facts(set_to, changes);
        if let Some(messages) = set_to.get("messages").and_then(Value::as_array) {
            changes.changes.push(Change::Clear);
            for message in messages {
                record(message, changes);
            }
        }
    } else if let Some(id) = text(line, "$rewindTo") {
        changes.changes.push(Change::RewindTo(id.to_owned()));
    } else if line.get("id").is_some() {
        record(line, changes);
    } else {
        facts(line, changes);
    }
}

/// Reads a file of an older version: one object with all messages.
pub(super) fn read_whole(file: &Value, changes: &mut Changes) {
    facts(file, changes);
    let messages = file.get("messages").and_then(Value::as_array);
    for message in messages.into_iter().flatten() {
        record(message, changes);
    }
}

fn facts(value: &Value, changes: &mut Changes) {
    let facts = &mut changes.facts;
    set(&mut facts.session, value, "sessionId");
    set(&mut facts.title, value, "summary");
    if let Some(first) = value
        .get("directories")
        .and_then(|all| all.get(0)?.as_str())
    {
        facts.folder = Some(first.to_owned());
    }
}

fn record(record: &Value, changes: &mut Changes) {
    let Some(id) = text(record, "id") else {
        return;
    };
    let at = time(record, "timestamp");
    let speaker = match text(record, "type") {
        Some("user") => Speaker::User,
        Some("gemini") => Speaker::Agent,
        Some("error") => Speaker::Failure,
        _ => return,
    };
    let content = tool_call::result(record.get("content").unwrap_or(&Value::Null));
    let content = if content.starts_with(OF_CLIENT) {
        ""
    } else {
        &content
    };
    let mut turns = vec![Turn::new(speaker, at, content)];
    let calls = record.get("toolCalls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        let arguments = call.get("args").unwrap_or(&Value::Null);
        let name = text(call, "name").unwrap_or("tool");
        turns.push(Turn::new(
            Speaker::Call,
            at,
            &tool_call::call(name, arguments),
        ));
        if text(call, "status") == Some("error")
            && let Some(result) = text(call, "resultDisplay")
        {
            turns.push(Turn::new(Speaker::Failure, at, &tool_call::failure(result)));
        }
    }
    changes.put(id, turns);
}

#[cfg(test)]
mod tests {
    use super::super::{
        Change,
        tests::{read, shown},
    };
    use crate::client::Client;

    /// CALC-L5-1: `$set` and `$rewindTo` change what was read before.
    #[test]
    fn a_file_is_a_log_of_changes() {
        let lines = r#"{"sessionId":"s","projectHash":"h","kind":"main","directories":["/p"]}
{"$set":{"messages":[{"id":"a","type":"user","content":[{"text":"<session_context>\nx"}]}],"lastUpdated":"x"}}
{"id":"b","timestamp":"2026-03-01T10:00:00Z","type":"user","content":[{"text":"List files"}]}
{"id":"c","type":"gemini","content":"Sure","toolCalls":[{"id":"t","name":"run_shell_command","args":{"command":"ls"},"status":"error","resultDisplay":"denied"}]}
{"$rewindTo":"b"}
{"id":"d","type":"info","content":"Switched"}"#;
        let changes = read(Client::Gemini, lines);
        assert_eq!(
            shown(&changes),
            [
                "clear",
                "user: List files",
                "agent: Sure",
                "call: run_shell_command ls",
                "failure: denied",
                "rewind to b"
            ]
        );
        assert_eq!(changes.facts.session.as_deref(), Some("s"));
        assert_eq!(changes.facts.folder.as_deref(), Some("/p"));
        assert!(matches!(changes.changes[0], Change::Clear));
    }
}
