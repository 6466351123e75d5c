//! What Qwen Code writes: `--output-format stream-json`, or `json`, which is the same in one array.
//!
//! The events are Claude Code's; input tokens count with what came from the cache.

use serde_json::Value;

use super::{
    claude,
    complaint::{CUT_OFF, Complaint},
    hearing::{Hearing, Tokens, at, count, text},
};

/// The client's program.
pub(super) const CLIENT: &str = "qwen";

pub(super) fn hear(hearing: &mut Hearing, event: &Value) {
    match text(event, &["type"]) {
        Some("system") => claude::system(hearing, event),
        Some("assistant") => claude::message(hearing, event),
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

/// Why a transcript of Qwen Code shows that the answer is none: where its model reaches its limit of length,
/// it has the model begin anew or go on from there, and by way of ACP tells the text of each attempt, one
/// behind the other, as one answer.
pub(super) fn broke_off(transcript: &[u8]) -> Option<Complaint> {
    let lines = transcript.split(|byte| *byte == b'\n');
    let mut attempts = 0;
    for said in lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()) {
        match text(&said, &["type"]) {
            Some("system") => {}
            Some("assistant") => attempts = if uses_a_tool(&said) { 0 } else { attempts + 1 },
            _ => attempts = 0,
        }
    }
    let words = "its transcript has several attempts at its answer, one behind the other";
    (attempts > 1).then(|| Complaint::of_kind(CUT_OFF, words))
}

fn uses_a_tool(said: &Value) -> bool {
    let parts = at(said, &["message", "parts"]).and_then(Value::as_array);
    let mut parts = parts.into_iter().flatten();
    parts.any(|part| part.get("functionCall").is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CAL-ERR-3: what was written before a tool was used, and what the client notes between, is no attempt.
    #[test]
    fn attempts_one_behind_the_other_are_seen() {
        let asked = json!({"type": "user", "message": {"parts": [{"text": "x"}]}});
        let noted = json!({"type": "system", "subtype": "ui_telemetry"});
        let said = json!({"type": "assistant", "message": {"parts": [{"text": "It is"}]}});
        let called = json!({"type": "assistant", "message": {"parts": [{"text": "I look."}, {"functionCall": {}}]}});
        let found = json!({"type": "tool_result", "message": {"parts": []}});
        let told = |lines: &[&Value]| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            broke_off(lines.join("\n").as_bytes()).is_some()
        };
        assert!(told(&[&asked, &noted, &said, &noted, &said, &noted]));
        assert!(told(&[&asked, &called, &found, &said, &said]));
        assert!(!told(&[
            &asked, &noted, &called, &found, &noted, &said, &noted
        ]));
        assert!(!told(&[&asked, &said, &called, &found, &said]));
        assert!(!told(&[&asked]));
    }
}
