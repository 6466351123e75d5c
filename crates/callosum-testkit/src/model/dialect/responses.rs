//! OpenAI Responses, as Codex speaks it.

use serde_json::{Value, json};

use super::{
    super::{
        asked::{Message, Speaker, text_of},
        script::Call,
    },
    Events, Reply, named_event,
};

pub(super) fn heard(body: &Value) -> Vec<Message> {
    if let Some(text) = body["input"].as_str() {
        return vec![Message {
            speaker: Speaker::User,
            text: text.to_owned(),
        }];
    }
    let items = body["input"].as_array().into_iter().flatten();
    items.filter_map(item).collect()
}

fn item(item: &Value) -> Option<Message> {
    let (speaker, text) = match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let speaker = match item["role"].as_str()? {
                "user" => Speaker::User,
                "assistant" => Speaker::Assistant,
                _ => Speaker::System,
            };
            (speaker, text_of(&item["content"]))
        }
        kind if kind.ends_with("_output") => (Speaker::Tool, String::new()),
        kind if kind.ends_with("_call") => (Speaker::Assistant, String::new()),
        _ => return None,
    };
    Some(Message { speaker, text })
}

pub(super) fn schema(body: &Value) -> Option<&Value> {
    body.pointer("/text/format/schema")
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    json!({
        "id": reply.id("resp_"), "object": "response", "created_at": 1, "status": "completed",
        "model": reply.model, "output": items(reply), "usage": {
            "input_tokens": reply.usage.input,
            "input_tokens_details": {"cached_tokens": reply.usage.cached},
            "output_tokens": reply.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.usage.input + reply.usage.output,
        },
    })
}

pub(super) fn events(reply: &Reply<'_>) -> Events {
    let response = whole(reply);
    let mut opened = response.clone();
    opened["status"] = "in_progress".into();
    opened["output"] = json!([]);
    opened["usage"] = Value::Null;
    let mut before = vec![json!({"type": "response.created", "response": opened})];
    let mut after = Vec::new();
    for (index, item) in items(reply).into_iter().enumerate() {
        if item["type"] == "message" {
            let mut empty = item.clone();
            empty["content"] = json!([]);
            empty["status"] = "in_progress".into();
            before.push(json!({
                "type": "response.output_item.added", "output_index": index, "item": empty,
            }));
        }
        after.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }));
    }
    after.push(json!({"type": "response.completed", "response": response}));
    let id = reply.id("msg_");
    let piece = |text: String| {
        named_event(&json!({
            "type": "response.output_text.delta", "item_id": id, "output_index": 0,
            "content_index": 0, "delta": text,
        }))
    };
    let named = |events: Vec<Value>| events.iter().map(named_event).collect();
    Events::around(named(before), reply.turn, piece, named(after))
}

fn items(reply: &Reply<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !reply.turn.text.is_empty() {
        items.push(json!({
            "type": "message", "id": reply.id("msg_"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": reply.turn.text, "annotations": []}],
        }));
    }
    for (index, call) in reply.turn.calls.iter().enumerate() {
        items.push(called(reply, index, call));
    }
    items
}

/// A call, in the form that the tool's own offer asks for.
fn called(reply: &Reply<'_>, index: usize, call: &Call) -> Value {
    let call_id = reply.call_id("call_", index);
    let offered = |tool: &&Value| tool["name"] == call.name.as_str();
    let offers = reply.body["tools"].as_array().into_iter().flatten();
    if let Some(tool) = offers.clone().find(offered)
        && tool["type"] == "custom"
    {
        let input = call.input.as_str().or_else(|| call.input["input"].as_str());
        return json!({
            "type": "custom_tool_call", "id": reply.call_id("ctc_", index), "call_id": call_id,
            "name": call.name, "input": input.unwrap_or_default(), "status": "completed",
        });
    }
    let mut item = json!({
        "type": "function_call", "id": reply.call_id("fc_", index), "call_id": call_id,
        "name": call.name, "arguments": call.input.to_string(), "status": "completed",
    });
    // The tools of an MCP server are offered, and called, within its namespace.
    let within = |space: &&Value| {
        let tools = space["tools"].as_array().into_iter().flatten();
        space["type"] == "namespace" && tools.into_iter().any(|tool| offered(&tool))
    };
    if let Some(space) = offers.clone().find(within) {
        item["namespace"] = space["name"].clone();
    } else if let Some(space) = &call.namespace {
        // One that its client only offers to who searches for it.
        item["namespace"] = space.as_str().into();
    }
    item
}
