//! What opencode writes: `run --format json`.
//!
//! Each step counts its own tokens, without what came from the cache. A step that is cut off ends for
//! an unknown reason; the client then lets the model go on from there, in a step whose text is the
//! rest alone, and ends well.

use serde_json::Value;

use super::{
    complaint::{CUT_OFF, Complaint},
    hearing::{Hearing, Tokens, at, count, text},
};

pub(super) fn hear(hearing: &mut Hearing, event: &Value) {
    if let Some(session) = text(event, &["sessionID"]) {
        hearing.session = Some(session.to_owned());
    }
    match text(event, &["type"]) {
        Some("step_start") => hearing.text.clear(),
        Some("text") => {
            let words = text(event, &["part", "text"]).unwrap_or_default();
            hearing.text.push_str(words);
        }
        Some("tool_use") => {
            hearing.doing = text(event, &["part", "tool"]).map(|tool| format!("uses {tool}"));
        }
        Some("step_finish") => step_finish(hearing, event),
        Some("error") => {
            let words = text(event, &["error", "data", "message"])
                .or_else(|| text(event, &["error", "message"]))
                .or_else(|| text(event, &["error", "name"]));
            hearing.failure = Some(Complaint {
                words: words.unwrap_or_default().to_owned(),
                status: at(event, &["error", "data", "statusCode"]).and_then(Value::as_u64),
                kind: text(event, &["error", "name"]).map(str::to_owned),
                resets: None,
            });
        }
        _ => {}
    }
}

fn step_finish(hearing: &mut Hearing, event: &Value) {
    let reason = text(event, &["part", "reason"]);
    hearing.finished = reason == Some("stop");
    if !matches!(reason, Some("stop" | "tool-calls")) {
        let reason = reason.unwrap_or("none");
        let kind = match reason {
            "content-filter" => "refusal",
            _ => CUT_OFF,
        };
        let words = format!("a step ended for the reason `{reason}`");
        hearing.failure = Some(Complaint::of_kind(kind, &words));
    }
    if let Some(counts) = at(event, &["part", "tokens"]) {
        let cached = count(counts, &["cache", "read"]);
        let written = count(counts, &["cache", "write"]);
        let step = Tokens {
            input: count(counts, &["input"])
                .saturating_add(cached)
                .saturating_add(written),
            cached,
            output: count(counts, &["output"]).saturating_add(count(counts, &["reasoning"])),
        };
        hearing.tokens = Some(hearing.tokens.unwrap_or_default().and(step));
    }
    if let Some(cost) = at(event, &["part", "cost"]).and_then(Value::as_f64) {
        hearing.cost_usd = Some(hearing.cost_usd.unwrap_or(0.0) + cost);
    }
}
