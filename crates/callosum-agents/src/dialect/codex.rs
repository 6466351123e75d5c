//! What Codex writes: `exec --json`.
//!
//! An item of type `error` is a warning in a run that may still be good. Input tokens count with
//! what came from the cache.

use serde_json::Value;

use super::{
    complaint::Complaint,
    hearing::{Hearing, Tokens, count, text},
};

pub(super) fn hear(hearing: &mut Hearing, event: &Value) {
    let said = |way: &[&str]| text(event, way).map(str::to_owned);
    match text(event, &["type"]) {
        Some("thread.started") => hearing.session = said(&["thread_id"]),
        Some("item.started") => {
            // It went on after whatever it had warned of.
            hearing.warning = None;
            hearing.doing = match text(event, &["item", "type"]) {
                Some("command_execution") => {
                    text(event, &["item", "command"]).map(|command| format!("runs {command}"))
                }
                Some("mcp_tool_call") => {
                    text(event, &["item", "tool"]).map(|tool| format!("uses {tool}"))
                }
                _ => None,
            };
        }
        Some("item.completed") => match text(event, &["item", "type"]) {
            Some("agent_message") => hearing.text = said(&["item", "text"]).unwrap_or_default(),
            Some("error") => hearing.warning = said(&["item", "message"]),
            _ => {}
        },
        Some("error") => {
            hearing.warning = said(&["message"]);
            hearing.doing.clone_from(&hearing.warning);
        }
        Some("turn.completed") => {
            hearing.finished = true;
            hearing.tokens = event.get("usage").map(|usage| Tokens {
                input: count(usage, &["input_tokens"]),
                cached: count(usage, &["cached_input_tokens"]),
                output: count(usage, &["output_tokens"]),
            });
        }
        Some("turn.failed") => {
            let words = said(&["error", "message"]).or_else(|| hearing.warning.clone());
            hearing.failure = Some(Complaint::words(&words.unwrap_or_default()));
        }
        _ => {}
    }
}
