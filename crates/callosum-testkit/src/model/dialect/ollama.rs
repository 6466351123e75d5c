//! Ollama's own chat: lines of JSON. Its messages are those of [`super::chat`].

use serde_json::{Value, json};

use super::{Events, Reply};

pub(super) fn schema(body: &Value) -> Option<&Value> {
    body.get("format").filter(|format| format.is_object())
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.turn.text});
    if !reply.turn.calls.is_empty() {
        message["tool_calls"] = calls(reply);
    }
    last(reply, message)
}

pub(super) fn events(reply: &Reply<'_>) -> Events {
    let line = |message: Value| {
        let line = json!({
            "model": reply.model, "created_at": CREATED, "message": message, "done": false,
        });
        format!("{line}\n")
    };
    let mut after = Vec::new();
    if !reply.turn.calls.is_empty() {
        let message = json!({"role": "assistant", "content": "", "tool_calls": calls(reply)});
        after.push(line(message));
    }
    let end = last(reply, json!({"role": "assistant", "content": ""}));
    after.push(format!("{end}\n"));
    let piece = |text: String| line(json!({"role": "assistant", "content": text}));
    Events::around(Vec::new(), reply.turn, piece, after)
}

const CREATED: &str = "2026-01-02T03:04:05Z";

fn calls(reply: &Reply<'_>) -> Value {
    let calls = reply.turn.calls.iter();
    calls
        .map(|call| json!({"function": {"name": call.name, "arguments": call.input}}))
        .collect()
}

fn last(reply: &Reply<'_>, message: Value) -> Value {
    json!({
        "model": reply.model, "created_at": CREATED, "message": message,
        "done": true, "done_reason": "stop", "total_duration": 1, "eval_duration": 1,
        "prompt_eval_count": reply.usage.input, "eval_count": reply.usage.output,
    })
}
