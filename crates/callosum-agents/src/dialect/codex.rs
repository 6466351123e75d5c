//! What Codex writes: `exec --json`.
//!
//! An item of type `error` is a warning in a run that may still be good. Input tokens count with
//! what came from the cache. What it says before it uses a tool is no answer: it writes no item for a last message
//! that is empty.

use serde_json::Value;

use super::{
    complaint::Complaint,
    hearing::{Hearing, Tokens, count, text},
};

pub(super) fn hear(hearing: &mut Hearing, event: &Value) {
    let said = |way: &[&str]| text(event, way).map(str::to_owned);
    match text(event, &["type"]) {
        Some("thread.started") => hearing.session = said(&["thread_id"]),
        Some("item.started") => {
            // It went on after whatever it had warned of.
            hearing.warning = None;
            if uses_a_tool(event) {
                hearing.text.clear();
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
            Some("agent_message") => hearing.text = said(&["item", "text"]).unwrap_or_default(),
            Some("error") => hearing.warning = said(&["item", "message"]),
            // Some tools are told of only once they are done.
            _ if uses_a_tool(event) => hearing.text.clear(),
            _ => {}
        },
        Some("error") => {
            hearing.warning = said(&["message"]);
            hearing.doing.clone_from(&hearing.warning);
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
            let words = said(&["error", "message"]).or_else(|| hearing.warning.clone());
            hearing.failure = Some(Complaint::words(&words.unwrap_or_default()));
        }
        _ => {}
    }
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

    /// What is left as the answer after a message and what came then.
    fn answer(then: &[Value]) -> String {
        let mut hearing = Hearing::default();
        let said =
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": "I look."}});
        for event in std::iter::once(&said).chain(then) {
            hear(&mut hearing, event);
        }
        hearing.text
    }

    /// CAL-ERR-1: what is said before a tool is used is no answer, though nothing is said after it.
    #[test]
    fn what_is_said_before_a_tool_is_no_answer() {
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
