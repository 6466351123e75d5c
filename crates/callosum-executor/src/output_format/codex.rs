//! Codex's output: `exec --json`.
//!
//! An item of type `error` is a warning in a run that may still be good. Input tokens count with
//! those from the cache. Text before it uses a tool is no answer: it writes no item for a last
//! message that is empty.

use std::time::Duration;

use serde_json::Value;

use super::{
    classify_error::ErrorText,
    client_error::ClientError,
    stall_detection::OFTEN,
    stream_state::{StreamState, Tokens, at, count, text},
};

/// The client's program.
pub(super) const CLIENT: &str = "codex";

pub(super) fn hear(hearing: &mut StreamState, event: &Value) {
    let field = |way: &[&str]| text(event, way).map(str::to_owned);
    match text(event, &["type"]) {
        Some("thread.started") => hearing.session = field(&["thread_id"]),
        Some("item.started") => {
            // It continued despite its warning.
            hearing.warning = None;
            hearing.stalls = 0;
            if uses_a_tool(event) {
                hearing.text.clear();
                let id = text(event, &["item", "id"]);
                hearing.tools.begin(id, text(event, &["item", "type"]));
            }
            hearing.doing = match text(event, &["item", "type"]) {
                Some("command_execution") => {
                    text(event, &["item", "command"]).map(|command| format!("runs {command}"))
                }
                Some("mcp_tool_call") => {
                    text(event, &["item", "tool"]).map(|tool| format!("uses {tool}"))
                }
                _ => None,
            };
        }
        Some("item.completed") => match text(event, &["item", "type"]) {
            Some("agent_message") => {
                hearing.stalls = 0;
                hearing.text = field(&["item", "text"]).unwrap_or_default();
            }
            Some("error") => hearing.warning = field(&["item", "message"]),
            // Some tools are reported only once they are done.
            _ if uses_a_tool(event) => {
                hearing.text.clear();
                let output = at(event, &["item", "aggregated_output"]);
                hearing.tools.end(text(event, &["item", "id"]), output);
            }
            _ => {}
        },
        Some("error") => {
            hearing.warning = field(&["message"]);
            hearing.doing.clone_from(&hearing.warning);
            let fault = ErrorText::words(hearing.warning.as_deref().unwrap_or_default()).classify();
            hearing.stalls = match fault {
                ClientError::NotLoggedIn { .. } => OFTEN,
                ClientError::Unreachable { .. } => hearing.stalls.saturating_add(1),
                ClientError::RateLimited { words, .. } => {
                    hearing.limit = Some((words, Duration::ZERO));
                    hearing.stalls
                }
                _ => hearing.stalls,
            };
        }
        Some("turn.completed") => {
            hearing.finished = true;
            hearing.tokens = event.get("usage").map(|usage| Tokens {
                input: count(usage, &["input_tokens"]),
                cached: count(usage, &["cached_input_tokens"]),
                output: count(usage, &["output_tokens"]),
            });
        }
        Some("turn.failed") => {
            let words = field(&["error", "message"]).or_else(|| hearing.warning.clone());
            hearing.failure = Some(ErrorText::words(&words.unwrap_or_default()));
        }
        _ => {}
    }
}

/// Whether the last record of the model in a transcript is a tool call, so that no text followed. A
/// command that could not be started has no event.
pub(super) fn ends_in_a_tool(transcript: &[u8]) -> bool {
    let lines = transcript.rsplit(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut items = lines.filter(|line| text(line, &["type"]) == Some("response_item"));
    let last = items.find_map(|item| match text(&item, &["payload", "type"])? {
        "message" if text(&item, &["payload", "role"]) == Some("assistant") => {
            has_words(&item).then_some(false)
        }
        // Its list of things to do may be the last that it brings up to date.
        kind if kind.ends_with("_call") => {
            (text(&item, &["payload", "name"]) != Some("update_plan")).then_some(true)
        }
        _ => None,
    });
    last.unwrap_or_default()
}

fn has_words(message: &Value) -> bool {
    let parts = at(message, &["payload", "content"]).and_then(Value::as_array);
    let mut parts = parts.into_iter().flatten();
    parts.any(|part| text(part, &["text"]).is_some_and(|words| !words.trim().is_empty()))
}

/// Whether an event is of a tool that looks at something or changes it; the model's list of things to do is none.
fn uses_a_tool(event: &Value) -> bool {
    matches!(
        text(event, &["item", "type"]),
        Some("command_execution" | "mcp_tool_call" | "file_change" | "web_search")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the answer that is left after a message and these events.
    fn answer(then: &[Value]) -> String {
        let mut hearing = StreamState::default();
        let message =
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": "I look."}});
        for event in std::iter::once(&message).chain(then) {
            hear(&mut hearing, event);
        }
        hearing.text
    }

    /// CAL-ERR-1: what a transcript has of a tool counts where no event tells of it.
    #[test]
    fn a_transcript_shows_that_no_text_followed_a_tool() {
        let item =
            |payload: Value| json!({"type": "response_item", "payload": payload}).to_string();
        let message = |words: &str| {
            item(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}),
            )
        };
        let call = |name: &str| item(json!({"type": "function_call", "name": name}));
        let output = item(json!({"type": "function_call_output", "output": "no"}));
        let ends = |lines: &[&str]| ends_in_a_tool(lines.join("\n").as_bytes());
        assert!(ends(&[&message("I look."), &call("exec_command"), &output]));
        assert!(ends(&[
            &message("I look."),
            &call("exec_command"),
            &output,
            &message("")
        ]));
        assert!(!ends(&[
            &call("exec_command"),
            &output,
            &message("It adds.")
        ]));
        assert!(!ends(&[
            &message("It adds."),
            &call("update_plan"),
            &output
        ]));
        assert!(!ends(&["", "{}"]));
    }

    /// CAL-ERR-1: text before a tool call is no answer, even if no text follows.
    #[test]
    fn text_before_a_tool_is_no_answer() {
        let item = |when: &str, kind: &str| json!({"type": format!("item.{when}"), "item": {"type": kind, "command": "ls"}});
        let last = json!({"type": "item.completed", "item": {"type": "agent_message", "text": "It adds."}});
        let run = [
            item("started", "command_execution"),
            item("completed", "command_execution"),
        ];
        assert_eq!(answer(&run), "");
        assert_eq!(answer(&[item("completed", "web_search")]), "");
        assert_eq!(answer(&[&run[..], &[last]].concat()), "It adds.");
        assert_eq!(answer(&[item("completed", "reasoning")]), "I look.");
        assert_eq!(answer(&[item("completed", "todo_list")]), "I look.");
    }
}
