//! Gemini's generateContent, as Gemini CLI speaks it.

use serde_json::{Value, json};

use super::{
    super::asked::{Message, Speaker, text_of},
    Events, Reply, event,
};

pub(super) fn heard(body: &Value) -> Vec<Message> {
    let contents = body["contents"].as_array().into_iter().flatten();
    contents
        .map(|content| {
            let parts = content["parts"].as_array().into_iter().flatten();
            let is_result = parts
                .clone()
                .any(|part| part.get("functionResponse").is_some());
            let speaker = if is_result {
                Speaker::Tool
            } else if content["role"] == "model" {
                Speaker::Assistant
            } else {
                Speaker::User
            };
            let text = text_of(&content["parts"]);
            Message { speaker, text }
        })
        .collect()
}

pub(super) fn schema(body: &Value) -> Option<&Value> {
    let settings = &body["generationConfig"];
    settings
        .get("responseJsonSchema")
        .or_else(|| settings.get("responseSchema"))
}

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut parts = Vec::new();
    if !reply.turn.text.is_empty() {
        parts.push(json!({"text": reply.turn.text}));
    }
    parts.extend(calls(reply));
    last(reply, parts)
}

pub(super) fn events(reply: &Reply<'_>) -> Events {
    let mut parts = calls(reply);
    if parts.is_empty() {
        parts.push(json!({"text": ""}));
    }
    let after = vec![event(&last(reply, parts))];
    let piece = |text: String| event(&chunk(reply, vec![json!({"text": text})]));
    Events::around(Vec::new(), reply.turn, piece, after)
}

fn chunk(reply: &Reply<'_>, parts: Vec<Value>) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": reply.model, "responseId": reply.id("resp_"),
    })
}

fn last(reply: &Reply<'_>, parts: Vec<Value>) -> Value {
    let mut chunk = chunk(reply, parts);
    chunk["candidates"][0]["finishReason"] = "STOP".into();
    chunk["usageMetadata"] = json!({
        "promptTokenCount": reply.usage.input, "candidatesTokenCount": reply.usage.output,
        "totalTokenCount": reply.usage.input + reply.usage.output,
        "cachedContentTokenCount": reply.usage.cached,
    });
    chunk
}

fn calls(reply: &Reply<'_>) -> Vec<Value> {
    let calls = reply.turn.calls.iter();
    calls
        .map(|call| json!({"functionCall": {"name": call.name, "args": call.input}}))
        .collect()
}
