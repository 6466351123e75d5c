//! Anthropic Messages, as Claude Code speaks it.

use serde_json::{Value, json};

use super::{
    super::asked::{Message, Speaker, text_of},
    Events, Reply, named_event,
};

pub(super) fn heard(body: &Value) -> Vec<Message> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages
        .map(|message| {
            let parts = message["content"].as_array().into_iter().flatten();
            let speaker = if parts.clone().any(|part| part["type"] == "tool_result") {
                Speaker::Tool
            } else if message["role"] == "assistant" {
                Speaker::Assistant
            } else {
                Speaker::User
            };
            let text = text_of(&message["content"]);
            Message { speaker, text }
        })
        .collect()
}

pub(super) fn schema(body: &Value) -> Option<&Value> {
    body.pointer("/output_config/format/schema")
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut message = opening(reply);
    message["content"] = content(reply).into();
    message["stop_reason"] = stop_reason(reply).into();
    message["usage"] = usage(reply);
    message
}

pub(super) fn events(reply: &Reply<'_>) -> Events {
    let mut before = vec![json!({"type": "message_start", "message": opening(reply)})];
    let mut after = Vec::new();
    let has_text = !reply.turn.text.is_empty();
    if has_text {
        before.push(json!({
            "type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""},
        }));
        after.push(json!({"type": "content_block_stop", "index": 0}));
    }
    let blocks = content(reply);
    for (index, block) in blocks.iter().enumerate().skip(usize::from(has_text)) {
        let mut empty = block.clone();
        let arguments = std::mem::replace(&mut empty["input"], json!({})).to_string();
        after.extend([
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({
                "type": "content_block_delta", "index": index,
                "delta": {"type": "input_json_delta", "partial_json": arguments},
            }),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    after.push(json!({
        "type": "message_delta", "usage": usage(reply),
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
    }));
    after.push(json!({"type": "message_stop"}));
    let piece = |text: String| {
        named_event(&json!({
            "type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text},
        }))
    };
    let named = |events: Vec<Value>| events.iter().map(named_event).collect();
    Events::around(named(before), reply.turn, piece, named(after))
}

fn opening(reply: &Reply<'_>) -> Value {
    let mut usage = usage(reply);
    usage["output_tokens"] = 1.into();
    json!({
        "id": reply.id("msg_"), "type": "message", "role": "assistant", "model": reply.model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    })
}

fn content(reply: &Reply<'_>) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !reply.turn.text.is_empty() {
        blocks.push(json!({"type": "text", "text": reply.turn.text}));
    }
    for (index, call) in reply.turn.calls.iter().enumerate() {
        let id = reply.call_id("toolu_", index);
        blocks.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": call.input}));
    }
    blocks
}

fn stop_reason(reply: &Reply<'_>) -> &'static str {
    if reply.turn.calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    }
}

/// Here tokens from a cache are counted next to the newly read ones, not among them.
fn usage(reply: &Reply<'_>) -> Value {
    json!({
        "input_tokens": reply.usage.input.saturating_sub(reply.usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.usage.cached,
        "output_tokens": reply.usage.output,
    })
}
