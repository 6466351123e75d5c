//! Gemini CLI's output: `--output-format stream-json`, or the one document of `json`, whose error
//! goes to standard error.
//!
//! Input tokens count with those from the cache; the total includes thoughts and tools.

use serde_json::Value;

use super::{
    classify_error::{CUT_OFF, ErrorText},
    client_error::ClientError,
    stream_state::{StreamState, Tokens, at, busiest, count, text},
};

/// The client's program.
pub(super) const CLIENT: &str = "gemini";

pub(super) fn hear(hearing: &mut StreamState, event: &Value) {
    match text(event, &["type"]) {
        Some("init") => {
            hearing.model = text(event, &["model"]).map(str::to_owned);
            hearing.session = text(event, &["session_id"]).map(str::to_owned);
        }
        Some("message") if text(event, &["role"]) == Some("assistant") => {
            hearing.stopped = None;
            let words = text(event, &["content"]).unwrap_or_default();
            if at(event, &["delta"]).and_then(Value::as_bool) != Some(true) {
                hearing.text.clear();
            }
            hearing.text.push_str(words);
        }
        Some("tool_use") => {
            // Text before a tool call is not the answer.
            hearing.text.clear();
            hearing.stopped = None;
            hearing.doing = text(event, &["tool_name"]).map(|name| format!("uses {name}"));
            hearing
                .tools
                .begin(text(event, &["tool_id"]), text(event, &["tool_name"]));
        }
        Some("tool_result") => {
            let complaint = at(event, &["error", "message"]);
            let result = event.get("output").or(complaint);
            hearing.tools.end(text(event, &["tool_id"]), result);
        }
        Some("error") => {
            let words = text(event, &["message"]).unwrap_or_default();
            hearing.warning = Some(words.to_owned());
            if text(event, &["severity"]) == Some("error") || stops(words) {
                hearing.stopped = Some(in_the_middle(words));
            }
        }
        Some("result") => result(hearing, event),
        None if event.get("response").is_some() || event.get("error").is_some() => {
            document(hearing, event);
        }
        _ => {}
    }
}

fn result(hearing: &mut StreamState, event: &Value) {
    if text(event, &["status"]) == Some("success") {
        hearing.finished = true;
        hearing.failure = hearing.stopped.take();
    } else {
        let warning = hearing.warning.clone();
        let words = text(event, &["error", "message"])
            .map(str::to_owned)
            .or(warning);
        hearing.failure = Some(complaint(event, words.unwrap_or_default()));
    }
    let Some(stats) = event.get("stats") else {
        return;
    };
    let input = count(stats, &["input_tokens"]);
    hearing.tokens = Some(Tokens {
        input,
        cached: count(stats, &["cached"]),
        output: count(stats, &["total_tokens"]).saturating_sub(input),
    });
    let model = busiest(stats.get("models"), &["output_tokens"]);
    hearing.model = model.or(hearing.model.take());
}

fn document(hearing: &mut StreamState, event: &Value) {
    hearing.session = text(event, &["session_id"]).map(str::to_owned);
    if let Some(words) = text(event, &["error", "message"]) {
        hearing.failure = Some(complaint(event, words.to_owned()));
        return;
    }
    hearing.finished = true;
    text(event, &["response"])
        .unwrap_or_default()
        .clone_into(&mut hearing.text);
    let warnings = at(event, &["warnings"]).and_then(Value::as_array);
    let mut warnings = warnings.into_iter().flatten().filter_map(Value::as_str);
    hearing.failure = warnings
        .clone()
        .find(|words| stops(words))
        .map(in_the_middle);
    hearing.warning = warnings
        .next_back()
        .map(str::to_owned)
        .or_else(|| failed_requests(event).filter(|_| hearing.text.trim().is_empty()));
    let models = at(event, &["stats", "models"]);
    let counted = models.and_then(Value::as_object).into_iter().flatten();
    hearing.tokens = counted
        .map(|(_, of)| {
            let input = count(of, &["tokens", "prompt"]);
            Tokens {
                input,
                cached: count(of, &["tokens", "cached"]),
                output: count(of, &["tokens", "total"]).saturating_sub(input),
            }
        })
        .reduce(Tokens::and);
    hearing.model = busiest(models, &["tokens", "candidates"]);
}

/// Returns an error if each request to a model failed, by the statistics of the document.
fn failed_requests(event: &Value) -> Option<String> {
    let models = at(event, &["stats", "models"])?.as_object()?;
    let counted = |name: &str| -> u64 {
        let each = models.values().map(|of| count(of, &["api", name]));
        each.fold(0, u64::saturating_add)
    };
    let (all, failed) = (counted("totalRequests"), counted("totalErrors"));
    (all > 0 && failed >= all).then(|| format!("each of its {all} requests to a model failed"))
}

/// Messages with which it stops its model, before it reports success: as a warning, or as an error
/// of a turn that is none of the run.
const STOPS: [&str; 2] = ["Loop detected", "Maximum session turns exceeded"];

fn stops(words: &str) -> bool {
    STOPS.iter().any(|stop| words.starts_with(stop))
}

/// Returns the error for an answer that it ended in the middle.
fn in_the_middle(words: &str) -> ErrorText {
    match ErrorText::words(words).classify() {
        ClientError::Other { .. } => ErrorText::of_kind(CUT_OFF, words),
        _ => ErrorText::words(words),
    }
}

/// Returns the evidence in Gemini CLI's records that the answer broke off. A transcript counts
/// tokens at the end of a model's stream, but the turn ends as usual even if the stream broke off
/// before. Only telemetry has the reasons for which its models' answers ended.
pub(super) fn broke_off(records: &[u8]) -> Option<ErrorText> {
    ended_early(records)
        .or_else(|| ended_otherwise(records))
        .or_else(|| uncounted(records))
}

/// Start of the reasons for which answers ended, in telemetry.
const REASONS: &str = "\"gen_ai.response.finish_reasons\": [";

/// Whether the records have telemetry with the reasons for which answers ended.
pub(super) fn tells_reasons(records: &[u8]) -> bool {
    String::from_utf8_lossy(records).contains(REASONS)
}

/// Returns the evidence in telemetry that an answer ended early.
pub(super) fn ended_early(records: &[u8]) -> Option<ErrorText> {
    let text = String::from_utf8_lossy(records);
    let lists = text.split(REASONS).skip(1);
    let mut reasons = lists.flat_map(|list| {
        let list = list.split(']').next().unwrap_or_default();
        list.split(',')
            .map(|reason| reason.trim().trim_matches('"'))
    });
    let reason = reasons.find(|reason| matches!(*reason, "length" | "content_filter"))?;
    let kind = if reason == "length" {
        CUT_OFF
    } else {
        "refusal"
    };
    let words = format!("its telemetry gives `{reason}` as the reason for the end of an answer");
    Some(ErrorText::of_kind(kind, &words))
}

/// Starts of two lines of telemetry: the role of a call, and what the server sent of the answer.
const ROLE: &str = "\"role\": ";
const SENT: &str = "\"response_text\": ";

/// Returns the error if the last answer of the run's own model is none, by its server's reason. The
/// reasons of telemetry are made of these, and there `OTHER`, like each that the client does not
/// know, becomes `stop`.
fn ended_otherwise(records: &[u8]) -> Option<ErrorText> {
    let log = String::from_utf8_lossy(records);
    let mut is_main = true;
    let mut last = None;
    for line in log.lines().map(str::trim_start) {
        if let Some(role) = line.strip_prefix(ROLE) {
            is_main = role.starts_with("\"main\"");
        } else if let Some(sent) = line.strip_prefix(SENT)
            && is_main
        {
            last = Some(sent);
        }
    }
    let sent: String = serde_json::from_str(last?.trim_end_matches(',')).ok()?;
    let sent: Value = serde_json::from_str(&sent).ok()?;
    let pieces = sent
        .as_array()
        .map_or(std::slice::from_ref(&sent), Vec::as_slice);
    let candidates = pieces
        .iter()
        .filter_map(|piece| piece.pointer("/candidates/0"));
    let reason = candidates
        .filter_map(|candidate| text(candidate, &["finishReason"]))
        .next_back();
    let words = match reason {
        Some("STOP") => return None,
        Some(reason) => format!("its server ended its answer for the reason `{reason}`"),
        None => "its server gave no reason for the end of its answer".to_owned(),
    };
    Some(ErrorText::of_kind(CUT_OFF, &words))
}

fn uncounted(records: &[u8]) -> Option<ErrorText> {
    let lines = records.rsplit(|byte| *byte == b'\n');
    let mut entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let last = entries.find(|entry| text(entry, &["type"]) == Some("gemini"))?;
    let words = "its transcript has no token count for the end of its answer";
    let is_uncounted = last.get("tokens").is_some_and(Value::is_null);
    is_uncounted.then(|| ErrorText::of_kind(CUT_OFF, words))
}

fn complaint(event: &Value, words: String) -> ErrorText {
    ErrorText {
        words,
        status: at(event, &["error", "code"]).and_then(Value::as_u64),
        ..ErrorText::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// CAL-ERR-3: the reasons stand in telemetry by their name, and in what is quoted there escaped.
    #[test]
    fn the_reason_for_an_end_is_found_in_telemetry() {
        let fault = |reason: &str| {
            let log = format!(
                "{{\n  \"gen_ai.response.finish_reasons\": [\n      \"stop\",\n      \"{reason}\"\n    ],\n}}\n\
                 {{\n  \"gen_ai.response.finish_reasons\": [\n      \"stop\"\n    ],\n}}\n"
            );
            broke_off(log.as_bytes()).map(|it| it.classify())
        };
        assert!(matches!(
            fault("length"),
            Some(ClientError::CutStream { .. })
        ));
        assert!(matches!(
            fault("content_filter"),
            Some(ClientError::Refused { .. })
        ));
        assert_eq!(fault("stop"), None);
        let quoted = br#"{"text": "\"gen_ai.response.finish_reasons\": [\"length\"]"}"#;
        assert_eq!(broke_off(quoted), None);
    }

    /// CAL-ERR-3: telemetry calls an end for a reason that it has no name for a good one, and has what the server sent.
    #[test]
    fn an_end_for_an_unknown_reason_is_found_in_what_the_server_sent() {
        let call = |role: &str, pieces: &str| {
            format!(
                "  {{\n    \"prompt\": \"\\\"response_text\\\": \\\"[]\\\"\",\n    \"role\": \"{role}\",\n    \"response_text\": {},\n    \
                 \"http.status_code\": 200\n  }}\n  \"gen_ai.response.finish_reasons\": [\n    \"stop\"\n  ],\n",
                json!(pieces)
            )
        };
        let words =
            r#"{"candidates":[{"content":{"parts":[{"text":"\"finishReason\":\"OTHER\""}]}}]}"#;
        let ended = |reason: &str| {
            format!(r#"[{words},{{"candidates":[{{"content":{{}},"finishReason":"{reason}"}}]}}]"#)
        };
        let fault = |log: &str| broke_off(log.as_bytes()).map(|it| it.classify().to_string());
        let whole = call("main", &ended("STOP"));
        assert_eq!(fault(&whole), None);
        assert_eq!(fault(""), None);
        for reason in ["OTHER", "FINISH_REASON_UNSPECIFIED", "NOT_KNOWN_YET"] {
            let other = call("main", &ended(reason));
            let message = fault(&other).unwrap_or_default();
            assert!(message.contains(&format!("`{reason}`")), "{message}");
            assert_eq!(
                fault(&format!("{other}{whole}")),
                None,
                "it was asked again"
            );
            let beside = call("utility_router", &ended(reason));
            assert_eq!(fault(&format!("{whole}{beside}")), None, "not the answer's");
        }
        let cut = call("main", &format!("[{words}]"));
        assert!(fault(&cut).unwrap_or_default().contains("no reason"));
    }
}
