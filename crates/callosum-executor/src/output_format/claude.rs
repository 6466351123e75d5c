//! Claude Code's output: `--output-format stream-json --verbose`, or `json`.
//!
//! Input tokens count without those from the cache, so these are added. The counts by model include
//! those of sub-agents, the plain ones don't.

use std::time::Duration;

use serde_json::Value;

use super::{
    classify_error::{CUT_OFF, ErrorText},
    stream_state::{StreamState, Tokens, at, busiest, count, text},
};
use crate::protocol::LONGEST_SUMMARY;

pub(super) fn hear(hearing: &mut StreamState, event: &Value) {
    match text(event, &["type"]) {
        Some("system") => system(hearing, event),
        Some("stream_event") => part(hearing, event),
        Some("assistant") => {
            keep_earlier(hearing, event);
            message(hearing, event);
        }
        Some("user") => tool_results(hearing, event),
        Some("result") => result(hearing, event),
        _ => {}
    }
}

pub(super) fn system(hearing: &mut StreamState, event: &Value) {
    match text(event, &["subtype"]) {
        Some("init") => {
            hearing.model = text(event, &["model"]).map(str::to_owned);
            hearing.session = text(event, &["session_id"]).map(str::to_owned);
        }
        Some("api_retry") => {
            let error = text(event, &["error"]).unwrap_or("an error");
            let status = count(event, &["error_status"]);
            let status = if status == 0 {
                String::new()
            } else {
                format!(" {status}")
            };
            let words = format!("retries after {error}{status}");
            if count(event, &["error_status"]) == 429 || error.contains("rate_limit") {
                let wait = Duration::from_millis(count(event, &["retry_delay_ms"]));
                hearing.limit = Some((words.clone(), wait));
            }
            hearing.doing = Some(words);
        }
        _ => {}
    }
}

/// The tool by which a model gives its answer in the requested form.
const FORM: &str = "StructuredOutput";

/// Processes a part of a message that is being written; the whole message follows later.
fn part(hearing: &mut StreamState, event: &Value) {
    if text(event, &["parent_tool_use_id"]).is_some() {
        return;
    }
    match text(event, &["event", "type"]) {
        Some("message_start") => hearing.streamed = 0,
        Some("content_block_start") => {
            hearing.in_form = text(event, &["event", "content_block", "name"]) == Some(FORM);
        }
        Some("content_block_delta") => {
            let of_the_form = text(event, &["event", "delta", "partial_json"]);
            let words = text(event, &["event", "delta", "text"])
                .or(of_the_form.filter(|_| hearing.in_form));
            hearing.streamed += words.map_or(0, str::len);
        }
        _ => {}
    }
}

/// The blocks of a message.
fn blocks(event: &Value) -> impl Iterator<Item = &Value> {
    let content = at(event, &["message", "content"]).and_then(Value::as_array);
    content.into_iter().flatten()
}

/// Collects the results of tools, those of a sub-agent included.
pub(super) fn tool_results(hearing: &mut StreamState, event: &Value) {
    for block in blocks(event) {
        if text(block, &["type"]) == Some("tool_result") {
            let id = text(block, &["tool_use_id"]);
            hearing.tools.end(id, block.get("content"));
        }
    }
}

pub(super) fn message(hearing: &mut StreamState, event: &Value) {
    for block in blocks(event) {
        hearing
            .tools
            .begin(text(block, &["id"]), text(block, &["name"]));
    }
    // A sub-agent's words are not the answer's.
    if text(event, &["parent_tool_use_id"]).is_some() {
        return;
    }
    for block in blocks(event) {
        match text(block, &["type"]) {
            Some("text") => {
                text(block, &["text"])
                    .unwrap_or_default()
                    .clone_into(&mut hearing.text);
            }
            Some("tool_use") => {
                hearing.doing = text(block, &["name"]).map(|name| format!("uses {name}"));
            }
            _ => {}
        }
    }
}

/// Keeps the text of a message after which no tool was used. If it has not the requested form, the
/// client demands that by itself, and the next message may be no more than `done`.
fn keep_earlier(hearing: &mut StreamState, event: &Value) {
    if text(event, &["parent_tool_use_id"]).is_some() {
        return;
    }
    let uses_a_tool = blocks(event).any(|block| {
        text(block, &["type"]) == Some("tool_use") && text(block, &["name"]) != Some(FORM)
    });
    let id = text(event, &["message", "id"]);
    if uses_a_tool {
        hearing.earlier.clear();
        hearing.message = None;
    } else if hearing.message.is_some()
        && hearing.message.as_deref() != id
        && hearing.text.len() > hearing.earlier.len()
    {
        hearing.earlier.clone_from(&hearing.text);
    }
    if blocks(event).any(|block| text(block, &["type"]) == Some("text")) {
        hearing.message = id.map(str::to_owned);
    }
}

fn result(hearing: &mut StreamState, event: &Value) {
    end(hearing, event);
    let is_better =
        hearing.earlier.len() > hearing.text.len() && hearing.earlier.len() <= LONGEST_SUMMARY;
    if hearing.structured.is_none() && is_better {
        hearing.text = std::mem::take(&mut hearing.earlier);
    }
    hearing.cost_usd = at(event, &["total_cost_usd"]).and_then(Value::as_f64);
    let models = at(event, &["modelUsage"]).and_then(Value::as_object);
    let by_model: Option<Tokens> = models
        .into_iter()
        .flatten()
        .map(|(_, of)| {
            tokens(
                of,
                [
                    "inputTokens",
                    "cacheReadInputTokens",
                    "cacheCreationInputTokens",
                    "outputTokens",
                ],
            )
        })
        .reduce(Tokens::and);
    hearing.tokens = by_model.or_else(|| {
        let usage = event.get("usage")?;
        Some(tokens(
            usage,
            [
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens",
            ],
        ))
    });
    if let Some(model) = busiest(event.get("modelUsage"), &["outputTokens"]) {
        hearing.model = Some(model);
    }
    // A prompt that a hook refused reached no model, and the refusal takes the place of the answer.
    if by_model.is_none() && hearing.text.contains("operation blocked by hook") {
        hearing.failure = Some(ErrorText::words(&hearing.text));
    }
}

/// Processes the end of a run, from `result`.
pub(super) fn end(hearing: &mut StreamState, event: &Value) {
    hearing.finished = true;
    let structured = event
        .get("structured_output")
        .or_else(|| event.get("structured_result"));
    hearing.structured = structured.filter(|value| value.is_object()).cloned();
    let reason = text(event, &["terminal_reason"]).filter(|reason| *reason != "completed");
    let is_error = at(event, &["is_error"])
        .and_then(Value::as_bool)
        .unwrap_or(false);
    let refuses = text(event, &["stop_reason"]) == Some("refusal");
    let is_cut = is_cut(event, is_error);
    if is_error || reason.is_some() || refuses || is_cut {
        let words = text(event, &["error", "message"])
            .or_else(|| text(event, &["result"]))
            .filter(|words| !words.trim().is_empty())
            .or_else(|| text(event, &["subtype"]).filter(|subtype| *subtype != "success"))
            .or(reason)
            .unwrap_or("it reports a failure without a reason");
        hearing.failure = Some(ErrorText {
            words: words.to_owned(),
            status: at(event, &["api_error_status"]).and_then(Value::as_u64),
            kind: text(event, &["api_error_type"])
                .or(refuses.then_some("refusal"))
                .or(is_cut.then_some(CUT_OFF))
                .or(reason)
                .map(str::to_owned),
            resets: None,
        });
    } else if let Some(result) = text(event, &["result"]) {
        result.clone_into(&mut hearing.text);
    }
}

/// Whether a run ended before its answer did: at a limit of turns, at the model's own, or while it
/// worked, which older versions report without calling it an error.
fn is_cut(event: &Value, is_error: bool) -> bool {
    let stop = text(event, &["stop_reason"]);
    let subtype = text(event, &["subtype"]).unwrap_or_default();
    matches!(
        stop,
        Some("max_tokens" | "model_context_window_exceeded" | "pause_turn")
    ) || subtype == "error_max_turns"
        || (!is_error && subtype.starts_with("error"))
}

fn tokens(usage: &Value, [input, read, written, output]: [&str; 4]) -> Tokens {
    let cached = count(usage, &[read]);
    Tokens {
        input: count(usage, &[input])
            .saturating_add(cached)
            .saturating_add(count(usage, &[written])),
        cached,
        output: count(usage, &[output]),
    }
}
