//! opencode's output: `run --format json`.
//!
//! Each step counts its own tokens, without those from the cache. A step that is cut off ends for
//! an unknown reason. The client then lets the model continue from there, in a step whose text is
//! the rest alone, and ends well. If each step is cut off it asks its model forever, so it is ended
//! at the first.

use serde_json::Value;

use super::{
    classify_error::{CUT_OFF, ErrorText, PROMPT_TOO_LONG},
    stall_detection::OFTEN,
    stream_state::{StreamState, Tokens, at, count, text},
};

/// The client's program.
pub(super) const CLIENT: &str = "opencode";

pub(super) fn hear(hearing: &mut StreamState, event: &Value) {
    if let Some(session) = text(event, &["sessionID"]) {
        hearing.session = Some(session.to_owned());
    }
    match text(event, &["type"]) {
        Some("step_start") => {
            hearing.text.clear();
            hearing.tools.may_begin();
        }
        Some("text") => {
            hearing.tools.may_begin();
            let words = text(event, &["part", "text"]).unwrap_or_default();
            hearing.text.push_str(words);
        }
        Some("tool_use") => {
            hearing.tools.may_begin();
            let tool = text(event, &["part", "tool"]);
            hearing.doing = tool.map(|tool| format!("uses {tool}"));
            for result in ["output", "error"] {
                let result = at(event, &["part", "state", result]);
                hearing.tools.of_tool(tool, result);
            }
        }
        Some("step_finish") => step_finish(hearing, event),
        Some("error") => {
            let words = text(event, &["error", "data", "message"])
                .or_else(|| text(event, &["error", "message"]))
                .or_else(|| text(event, &["error", "name"]));
            hearing.failure = Some(ErrorText {
                words: words.unwrap_or_default().to_owned(),
                status: at(event, &["error", "data", "statusCode"]).and_then(Value::as_u64),
                kind: text(event, &["error", "name"]).map(str::to_owned),
                resets: None,
            });
        }
        _ => {}
    }
}

/// Returns the evidence in opencode's database that the answer broke off: the reason for which each
/// message ended, as JSON. Text of a model has its quotes escaped there. Over ACP it reports no
/// reason.
pub(super) fn broke_off(database: &[u8]) -> Option<ErrorText> {
    let ended_for = |reason: &str| {
        let noted = format!("\"finish\":\"{reason}\"");
        holds(database, noted.as_bytes())
    };
    let (reason, kind) = [("length", CUT_OFF), ("content-filter", "refusal")]
        .into_iter()
        .find(|(reason, _)| ended_for(reason))?;
    let words = format!("its database gives `{reason}` as the reason for the end of a message");
    Some(ErrorText::of_kind(kind, &words))
}

/// Returns the evidence in opencode's database that a prompt did not fit the model. Over ACP it
/// silently summarizes the prompt by itself then and continues with that, in messages one right
/// after the other.
pub(super) fn overflowed(database: &[u8]) -> Option<ErrorText> {
    let words = "its database shows that the model's server rejected a prompt as too long, and \
                 that it continued with a summary of it";
    holds(database, b"\"overflow\":true").then(|| ErrorText::of_kind(PROMPT_TOO_LONG, words))
}

fn holds(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len()).any(|window| window == sought)
}

fn step_finish(hearing: &mut StreamState, event: &Value) {
    hearing.tools.none_is_used();
    let reason = text(event, &["part", "reason"]);
    hearing.finished = reason == Some("stop");
    if !matches!(reason, Some("stop" | "tool-calls")) {
        let reason = reason.unwrap_or("none");
        let kind = match reason {
            "content-filter" => "refusal",
            _ => CUT_OFF,
        };
        let words = format!("a step ended with the reason `{reason}`");
        hearing.failure = Some(ErrorText::of_kind(kind, &words));
        // Any further text is no answer, and each further step is paid for.
        hearing.stalls = OFTEN;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::ClientError;

    /// CAL-ERR-3: only opencode's own reason for an end counts, anywhere in its database.
    #[test]
    fn the_reason_for_an_end_is_found_in_a_database() {
        let database = |text: &str| [&[0, 255, 13][..], text.as_bytes(), &[0; 40]].concat();
        let code = |text: &str| broke_off(&database(text)).map(|it| it.classify().code());
        let cut = callosum_ledger::ErrorCode::MalformedAnswer;
        assert_eq!(code(r#"{"role":"assistant","finish":"length"}"#), Some(cut));
        assert_eq!(code(r#"{"finish":"content-filter"}"#), Some(cut));
        assert_eq!(code(r#"{"role":"assistant","finish":"stop"}"#), None);
        assert_eq!(code(r#"{"text":"\"finish\":\"length\""}"#), None);
        let refused = |text: &str| overflowed(&database(text)).map(|it| it.classify());
        let part = r#"{"type":"compaction","auto":true,"overflow":true}"#;
        assert!(matches!(
            refused(part),
            Some(ClientError::PromptTooLong { .. })
        ));
        assert_eq!(refused(r#"{"type":"compaction","auto":true}"#), None);
        assert_eq!(refused(r#"{"text":"\"overflow\":true"}"#), None);
    }
}
