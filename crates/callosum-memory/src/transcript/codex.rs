//! Sessions of Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`, and those in `archived_sessions/`.
//!
//! A message is in the file as a `response_item` and again in an `event_msg`. The first is read.

use serde_json::Value;

use super::{Changes, set, text, time, tool_call};
use crate::turn::{Speaker, Turn};

/// Beginnings of a user's text that the client wrote.
const OF_CLIENT: [&str; 6] = [
    "# AGENTS.md instructions",
    "<environment_context>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
];

/// Words before the exit code in the result of a command.
const EXIT_CODES: [&str; 3] = ["exited with code ", "Exit code: ", "\"exit_code\":"];

/// Reads a line.
pub(super) fn read(line: &Value, changes: &mut Changes) {
    let Some(payload) = line.get("payload") else {
        return;
    };
    match text(line, "type") {
        Some("session_meta") => {
            let facts = &mut changes.facts;
            set(&mut facts.session, payload, "id");
            set(&mut facts.folder, payload, "cwd");
            set(&mut facts.parent, payload, "parent_thread_id");
        }
        Some("turn_context") => set(&mut changes.facts.folder, payload, "cwd"),
        Some("event_msg") if text(payload, "type") == Some("thread_name_updated") => {
            set(&mut changes.facts.title, payload, "thread_name");
        }
        Some("compacted") => {
            let summary = text(payload, "message").unwrap_or_default();
            let at = time(line, "timestamp");
            put(
                line,
                payload,
                Turn::new(Speaker::Summary, at, summary),
                changes,
            );
        }
        Some("response_item") => item(line, payload, changes),
        _ => {}
    }
}

/// Reads a file of an older version: `{session, items}`.
pub(super) fn read_whole(file: &Value, changes: &mut Changes) {
    if let Some(session) = file.get("session") {
        set(&mut changes.facts.session, session, "id");
        set(&mut changes.facts.folder, session, "cwd");
    }
    for (number, one) in file
        .get("items")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let line = serde_json::json!({ "ordinal": number });
        item(&line, one, changes);
    }
}

fn item(line: &Value, item: &Value, changes: &mut Changes) {
    let at = time(line, "timestamp");
    let turn = match text(item, "type") {
        Some("message") => {
            let speaker = match text(item, "role") {
                Some("user") => Speaker::User,
                Some("assistant") => Speaker::Agent,
                // The client's instructions to the model.
                _ => return,
            };
            let all = tool_call::result(item.get("content").unwrap_or(&Value::Null));
            if OF_CLIENT.iter().any(|begin| all.starts_with(begin)) {
                return;
            }
            Turn::new(speaker, at, &all)
        }
        Some("function_call" | "custom_tool_call") => {
            let name = text(item, "name").unwrap_or("tool");
            let given = item.get("arguments").or_else(|| item.get("input"));
            // Arguments are JSON in a string.
            let parsed = given
                .and_then(Value::as_str)
                .and_then(|text| serde_json::from_str(text).ok());
            let arguments = parsed.as_ref().or(given).unwrap_or(&Value::Null);
            Turn::new(Speaker::Call, at, &tool_call::call(name, arguments))
        }
        Some("local_shell_call") => {
            let action = item.get("action").unwrap_or(&Value::Null);
            Turn::new(Speaker::Call, at, &tool_call::call("shell", action))
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let result = tool_call::result(item.get("output").unwrap_or(&Value::Null));
            if !is_failure(&result) {
                return;
            }
            Turn::new(Speaker::Failure, at, &tool_call::failure(&result))
        }
        _ => return,
    };
    put(line, item, turn, changes);
}

/// Whether a result names an exit code that is not 0.
fn is_failure(result: &str) -> bool {
    EXIT_CODES.iter().any(|words| {
        let Some((_, after)) = result.split_once(words) else {
            return false;
        };
        let code: String = after
            .trim_start()
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '-')
            .collect();
        !code.is_empty() && code.bytes().any(|digit| (b'1'..=b'9').contains(&digit))
    })
}

/// Adds a turn under the id of its item, else of its call, else of its place in the session.
fn put(line: &Value, item: &Value, turn: Option<Turn>, changes: &mut Changes) {
    let id = text(item, "id").map(str::to_owned);
    let of_call = || {
        let kind = text(item, "type")?;
        Some(format!("{kind} {}", text(item, "call_id")?))
    };
    let of_place = || {
        let session = changes.facts.session.as_deref().unwrap_or_default();
        let ordinal = line.get("ordinal").and_then(Value::as_u64);
        let ordinal = ordinal.map(|number| number.to_string());
        let time = text(line, "timestamp").unwrap_or_default();
        let begin = turn
            .as_ref()
            .map_or("", |turn| crate::turn::prefix(&turn.text, 64));
        format!("{session} {time} {} {begin}", ordinal.unwrap_or_default())
    };
    let id = id.or_else(of_call).unwrap_or_else(of_place);
    changes.put(&id, [turn]);
}

#[cfg(test)]
mod tests {
    use super::super::{
        Changes, read_whole,
        tests::{read, shown},
    };
    use crate::client::Client;

    /// CALC-L5-1: each message is one turn, though the file has it twice.
    #[test]
    fn a_message_is_one_turn() {
        let lines = r#"{"timestamp":"2026-03-01T10:00:00Z","ordinal":0,"type":"session_meta","payload":{"id":"01a","cwd":"/p","parent_thread_id":null}}
{"timestamp":"2026-03-01T10:00:01Z","ordinal":1,"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]}}
{"timestamp":"2026-03-01T10:00:01Z","ordinal":2,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n"}]}}
{"timestamp":"2026-03-01T10:00:02Z","ordinal":3,"type":"response_item","payload":{"type":"message","id":"m1","role":"user","content":[{"type":"input_text","text":"Why does it hang?"}]}}
{"timestamp":"2026-03-01T10:00:02Z","ordinal":4,"type":"event_msg","payload":{"type":"user_message","message":"Why does it hang?"}}
{"timestamp":"2026-03-01T10:00:03Z","ordinal":5,"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make check\"}","call_id":"c1"}}
{"timestamp":"2026-03-01T10:00:04Z","ordinal":6,"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Process exited with code 2\nmake: *** [check] Error 2"}}
{"timestamp":"2026-03-01T10:00:05Z","ordinal":7,"type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"Process exited with code 0\nok"}}
{"timestamp":"2026-03-01T10:00:06Z","ordinal":8,"type":"compacted","payload":{"message":"It waited for a lock."}}"#;
        let changes = read(Client::Codex, lines);
        assert_eq!(
            shown(&changes),
            [
                "user: Why does it hang?",
                "call: exec_command make check",
                "failure: Process exited with code 2\nmake: *** [check] Error 2",
                "summary: It waited for a lock."
            ]
        );
        assert_eq!(changes.facts.session.as_deref(), Some("01a"));
        assert_eq!(changes.facts.parent, None);
    }

    #[test]
    fn the_older_form_is_one_object() {
        let file = r#"{"session":{"id":"old"},"items":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}]}"#;
        let mut changes = Changes::default();
        read_whole(Client::Codex, file.as_bytes(), &mut changes);
        assert_eq!(shown(&changes), ["user: Hello"]);
        assert_eq!(changes.facts.session.as_deref(), Some("old"));
    }
}
