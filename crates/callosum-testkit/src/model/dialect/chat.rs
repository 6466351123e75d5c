//! OpenAI Chat Completions, as Qwen Code, OpenCode and most local servers speak it.

use serde_json::{Value, json};

use super::{
    super::asked::{Message, Speaker, text_of},
    Events, Reply, event,
};

pub(super) fn heard(body: &Value) -> Vec<Message> {
    let messages = body["messages"].as_array().into_iter().flatten();
    messages
        .map(|message| Message {
            speaker: match message["role"].as_str() {
                Some("user") => Speaker::User,
                Some("assistant") => Speaker::Assistant,
                Some("tool") => Speaker::Tool,
                _ => Speaker::System,
            },
            text: text_of(&message["content"]),
        })
        .collect()
}

pub(super) fn schema(body: &Value) -> Option<&Value> {
    body.pointer("/response_format/json_schema/schema")
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let text = &reply.turn.text;
    let mut message = json!({"role": "assistant", "content": (!text.is_empty()).then_some(text)});
    let calls = calls(reply);
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(reply)});
    let mut answer = opening(reply, "chat.completion");
    answer["choices"] = json!([choice]);
    answer["usage"] = usage(reply);
    answer
}

pub(super) fn events(reply: &Reply<'_>) -> Events {
    let chunk = |delta: Value, finish: Option<&str>| {
        let mut chunk = opening(reply, "chat.completion.chunk");
        chunk["choices"] = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        event(&chunk)
    };
    let before = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    let mut after = Vec::new();
    let calls = calls(reply);
    if !calls.is_empty() {
        after.push(chunk(json!({"tool_calls": calls}), None));
    }
    after.push(chunk(json!({}), Some(finish_reason(reply))));
    let mut last = opening(reply, "chat.completion.chunk");
    last["choices"] = json!([]);
    last["usage"] = usage(reply);
    after.push(event(&last));
    after.push("data: [DONE]\n\n".to_owned());
    let piece = |text: String| chunk(json!({"content": text}), None);
    Events::around(before, reply.turn, piece, after)
}

fn opening(reply: &Reply<'_>, object: &str) -> Value {
    json!({"id": reply.id("chatcmpl-"), "object": object, "created": 1, "model": reply.model})
}

fn calls(reply: &Reply<'_>) -> Vec<Value> {
    let calls = reply.turn.calls.iter().enumerate();
    calls
        .map(|(index, call)| {
            json!({
                "index": index, "id": reply.call_id("call_", index), "type": "function",
                "function": {"name": call.name, "arguments": call.input.to_string()},
            })
        })
        .collect()
}

fn finish_reason(reply: &Reply<'_>) -> &'static str {
    if reply.turn.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    }
}

fn usage(reply: &Reply<'_>) -> Value {
    json!({
        "prompt_tokens": reply.usage.input, "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.input + reply.usage.output,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
    })
}
