//! Sessions of Claude Code: `projects/<folder>/<session>.jsonl`, and `subagents/agent-*.jsonl` of each.

use serde_json::Value;

use super::{Changes, set, text, time, tool_call};
use crate::turn::{Speaker, Turn};

/// Beginnings of a user's text that the client wrote.
const OF_CLIENT: [&str; 7] = [
    "<bash-input>",
    "<command-message>",
    "<command-name>",
    "<local-command-caveat>",
    "<local-command-stdout>",
    "<system-reminder>",
    "[Request interrupted",
];

/// Reads a line.
pub(super) fn read(line: &Value, changes: &mut Changes) {
    let facts = &mut changes.facts;
    set(&mut facts.session, line, "sessionId");
    set(&mut facts.folder, line, "cwd");
    let is_true = |key: &str| line.get(key).and_then(Value::as_bool) == Some(true);
    match text(line, "type") {
        Some("ai-title") => set(&mut facts.title, line, "aiTitle"),
        Some("custom-title") => set(&mut facts.title, line, "customTitle"),
        Some("summary") => set(&mut facts.title, line, "summary"),
        Some("user" | "assistant") if !is_true("isMeta") => {
            let Some((id, message)) = text(line, "uuid").zip(line.get("message")) else {
                return;
            };
            let at = time(line, "timestamp");
            let speaker = match text(message, "role") {
                _ if is_true("isCompactSummary") => Speaker::Summary,
                Some("assistant") => Speaker::Agent,
                _ => Speaker::User,
            };
            let message_text = |text: &str| {
                let is_of_client = OF_CLIENT.iter().any(|begin| text.starts_with(begin));
                (!is_of_client).then(|| Turn::new(speaker, at, text))?
            };
            let block = |block: &Value| match text(block, "type")? {
                "text" => message_text(text(block, "text")?),
                "tool_use" => {
                    let arguments = block.get("input").unwrap_or(&Value::Null);
                    let call = tool_call::call(text(block, "name")?, arguments);
                    Turn::new(Speaker::Call, at, &call)
                }
                "tool_result" if block.get("is_error")?.as_bool()? => {
                    let result = tool_call::result(block.get("content")?);
                    Turn::new(Speaker::Failure, at, &tool_call::failure(&result))
                }
                _ => None,
            };
            match message.get("content") {
                Some(Value::String(text)) => changes.put(id, [message_text(text)]),
                Some(Value::Array(blocks)) => changes.put(id, blocks.iter().map(block)),
                _ => {}
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, shown};
    use crate::client::Client;

    /// CALC-L5-1: messages, calls and failures are turns; what the client adds is none.
    #[test]
    fn messages_calls_and_failures_are_turns() {
        let lines = r#"{"type":"user","uuid":"u1","sessionId":"s","cwd":"/p","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Fix the retry"}}
{"type":"user","uuid":"u2","isMeta":true,"message":{"role":"user","content":"Caveat"}}
{"type":"user","uuid":"u3","message":{"role":"user","content":"<command-name>/clear</command-name>"}}
{"type":"attachment","uuid":"u4","attachment":{"type":"date"}}
{"type":"assistant","uuid":"u5","message":{"role":"assistant","id":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"tool_use","name":"Bash","input":{"command":"cargo test retry","description":"Run"}}]}}
{"type":"user","uuid":"u6","message":{"role":"user","content":[{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"error[E0308]"}]},{"type":"tool_result","is_error":false,"content":"fine"}]}}
{"type":"user","uuid":"u7","isCompactSummary":true,"message":{"role":"user","content":"Earlier: the retry was fixed."}}
{"type":"ai-title","aiTitle":"Retry of the client","sessionId":"s"}
{"type":"user","uuid":"u8","mess"#;
        let changes = read(Client::ClaudeCode, lines);
        assert_eq!(
            shown(&changes),
            [
                "user: Fix the retry",
                "agent: I look.",
                "call: Bash cargo test retry Run",
                "failure: error[E0308]",
                "summary: Earlier: the retry was fixed."
            ]
        );
        assert_eq!(changes.facts.session.as_deref(), Some("s"));
        assert_eq!(changes.facts.folder.as_deref(), Some("/p"));
        assert_eq!(changes.facts.title.as_deref(), Some("Retry of the client"));
    }
}
