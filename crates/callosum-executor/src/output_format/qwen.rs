//! Qwen Code's output: `--output-format stream-json`, or `json`, which is the same in one array.
//!
//! The events are Claude Code's; input tokens count with those from the cache. Its telemetry is
//! Gemini CLI's.

use serde_json::Value;

use super::{
    classify_error::{CUT_OFF, ErrorText},
    claude,
    client_error::ClientError,
    gemini,
    stream_state::{StreamState, Tokens, at, count, text},
};

/// The client's program.
pub(super) const CLIENT: &str = "qwen";

pub(super) fn hear(hearing: &mut StreamState, event: &Value) {
    match text(event, &["type"]) {
        Some("system") => claude::system(hearing, event),
        Some("assistant") => {
            claude::message(hearing, event);
            let content = at(event, &["message", "content"]).and_then(Value::as_array);
            let mut blocks = content.into_iter().flatten();
            let is_own = text(event, &["parent_tool_use_id"]).is_none();
            if is_own && blocks.any(|block| text(block, &["type"]) == Some("tool_use")) {
                // Text before a tool call is not the answer.
                hearing.text.clear();
            }
        }
        Some("user") => claude::tool_results(hearing, event),
        Some("result") => {
            claude::end(hearing, event);
            hearing.tokens = event.get("usage").map(|usage| Tokens {
                input: count(usage, &["input_tokens"]),
                cached: count(usage, &["cache_read_input_tokens"]),
                output: count(usage, &["output_tokens"]),
            });
        }
        _ => {}
    }
}

/// Checks an answer without the structured form against the records of Qwen Code.
///
/// The run fails if its model answers in plain text rather than in the requested form, and the text
/// may be a part or a refusal. If its telemetry shows that it is neither, it is the answer.
pub(super) fn hold_against(hearing: &mut StreamState, records: &[u8]) {
    let is_plain = hearing
        .failure
        .as_ref()
        .is_some_and(|failure| matches!(failure.classify(), ClientError::NotInForm { .. }));
    if hearing.structured.is_some() || (hearing.failure.is_some() && !is_plain) {
        return;
    }
    let broke_off = broke_off(records);
    if broke_off.is_some() {
        hearing.failure = broke_off;
    } else if is_plain && gemini::tells_reasons(records) {
        hearing.failure = None;
        hearing.excused = true;
    }
}

fn broke_off(records: &[u8]) -> Option<ErrorText> {
    gemini::ended_early(records).or_else(|| several_attempts(records))
}

/// Returns the error if a transcript of Qwen Code has several attempts. When its model reaches its
/// limit of length, the client has the model start again or continue from there. Over ACP it sends
/// the texts of all attempts, one after the other, as one answer.
fn several_attempts(transcript: &[u8]) -> Option<ErrorText> {
    let lines = transcript.split(|byte| *byte == b'\n');
    let mut attempts = 0;
    for entry in lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()) {
        match text(&entry, &["type"]) {
            // A line of telemetry may be JSON by itself.
            Some("system") | None => {}
            Some("assistant") => attempts = if uses_a_tool(&entry) { 0 } else { attempts + 1 },
            _ => attempts = 0,
        }
    }
    let words = "its transcript contains several attempts at its answer, one after the other";
    (attempts > 1).then(|| ErrorText::of_kind(CUT_OFF, words))
}

fn uses_a_tool(entry: &Value) -> bool {
    let parts = at(entry, &["message", "parts"]).and_then(Value::as_array);
    let mut parts = parts.into_iter().flatten();
    parts.any(|part| part.get("functionCall").is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CAL-ERR-3: an answer in plain text is one where telemetry shows that it is whole, and is named for what it is
    /// where that shows why not.
    #[test]
    fn plain_text_is_an_answer_where_telemetry_shows_that_it_is_whole() {
        let ending = callosum_host::process::Ending::Exited(1);
        let concluded = |reasons: &[&str]| {
            let mut hearing = StreamState::default();
            let words = "Model produced plain text instead of calling the structured_output tool";
            let result = json!({"type": "result", "is_error": true, "error": {"message": words}});
            let message =
                |block: Value| json!({"type": "assistant", "message": {"content": [block]}});
            for event in [
                message(json!({"type": "text", "text": "I look."})),
                message(json!({"type": "tool_use", "id": "1", "name": "read_file"})),
                message(json!({"type": "text", "text": "It adds."})),
                result,
            ] {
                hear(&mut hearing, &event);
            }
            let entry = "{\"type\": \"assistant\", \"message\": {}}\n".to_owned();
            let telemetry = reasons.iter().map(|reason| {
                format!(
                    "{{\n  \"gen_ai.response.finish_reasons\": [\n    \"{reason}\"\n  ],\n  0\n}}\n"
                )
            });
            let records: Vec<String> = std::iter::once(entry).chain(telemetry).collect();
            let records = records.concat();
            hold_against(&mut hearing, records.as_bytes());
            hearing.conclude(ending, "").map(|heard| heard.summary)
        };
        assert_eq!(concluded(&["tool_calls", "stop"]).unwrap(), "It adds.");
        assert!(matches!(
            concluded(&["stop", "content_filter"]),
            Err(ClientError::Refused { .. })
        ));
        assert!(matches!(
            concluded(&["length"]),
            Err(ClientError::CutStream { .. })
        ));
        assert!(matches!(concluded(&[]), Err(ClientError::NotInForm { .. })));
    }

    /// CAL-ERR-3: what was written before a tool was used, and what the client notes between, is no attempt.
    #[test]
    fn attempts_one_behind_the_other_are_seen() {
        let asked = json!({"type": "user", "message": {"parts": [{"text": "x"}]}});
        let noted = json!({"type": "system", "subtype": "ui_telemetry"});
        let entry = json!({"type": "assistant", "message": {"parts": [{"text": "It is"}]}});
        let called = json!({"type": "assistant", "message": {"parts": [{"text": "I look."}, {"functionCall": {}}]}});
        let found = json!({"type": "tool_result", "message": {"parts": []}});
        let breaks_off = |lines: &[&Value]| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            broke_off(lines.join("\n").as_bytes()).is_some()
        };
        assert!(breaks_off(&[
            &asked, &noted, &entry, &noted, &entry, &noted
        ]));
        assert!(breaks_off(&[&asked, &called, &found, &entry, &entry]));
        assert!(!breaks_off(&[
            &asked, &noted, &called, &found, &noted, &entry, &noted
        ]));
        assert!(!breaks_off(&[&asked, &entry, &called, &found, &entry]));
        assert!(!breaks_off(&[&asked]));
    }
}
