//! Sessions of Qwen Code: `projects/<folder>/chats/<session>.jsonl`.

use serde_json::Value;

use super::{Changes, gemini, set, text, time, tool_call};
use crate::turn::{Speaker, Turn};

/// Reads a line.
pub(super) fn read(line: &Value, changes: &mut Changes) {
    let Some(id) = text(line, "uuid") else {
        // Its older versions wrote the files of Gemini CLI, from which it was made.
        return gemini::read(line, changes);
    };
    set(&mut changes.facts.session, line, "sessionId");
    set(&mut changes.facts.folder, line, "cwd");
    let speaker = match text(line, "type") {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Agent,
        Some("tool_result") => Speaker::Failure,
        _ => return,
    };
    let at = time(line, "timestamp");
    let parts = line
        .get("message")
        .and_then(|message| message.get("parts")?.as_array());
    let turns = parts.into_iter().flatten().map(|part| {
        if let Some(call) = part.get("functionCall") {
            let arguments = call.get("args").unwrap_or(&Value::Null);
            return Turn::new(
                Speaker::Call,
                at,
                &tool_call::call(text(call, "name")?, arguments),
            );
        }
        if let Some(result) = part.get("functionResponse") {
            let error = text(result.get("response")?, "error")?;
            return Turn::new(Speaker::Failure, at, &tool_call::failure(error));
        }
        let is_thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        (!is_thought && speaker != Speaker::Failure)
            .then(|| Turn::new(speaker, at, text(part, "text")?))?
    });
    let turns: Vec<_> = turns.collect();
    changes.put(id, turns);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, shown};
    use crate::client::Client;

    /// CALC-L5-1: messages, calls and failures are turns.
    #[test]
    fn messages_calls_and_failures_are_turns() {
        let lines = r#"{"uuid":"1","sessionId":"s","cwd":"/p","type":"user","message":{"role":"user","parts":[{"text":"Build it"}]}}
{"uuid":"2","sessionId":"s","type":"system","subtype":"ui_telemetry","systemPayload":{}}
{"uuid":"3","sessionId":"s","type":"assistant","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Yes"},{"functionCall":{"name":"run_shell_command","args":{"command":"make"}}}]}}
{"uuid":"4","sessionId":"s","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"name":"x","response":{"error":"no make"}}}]}}"#;
        let changes = read(Client::Qwen, lines);
        let expected = [
            "user: Build it",
            "agent: Yes",
            "call: run_shell_command make",
            "failure: no make",
        ];
        assert_eq!(shown(&changes), expected);
        assert_eq!(changes.facts.folder.as_deref(), Some("/p"));
    }
}
