//! [`judge`]: decides whether a model that stopped for a reason has answered.
//!
//! Text that ends for an unknown reason is no answer: servers that fail in the middle of one report
//! so here, in words of their own, after text that looks like any other.

use crate::output_format::{CUT_OFF, ErrorText};

/// Reasons of servers for an answer that the model ended itself.
const WHOLE: [&str; 7] = [
    "stop",
    "stop_sequence",
    "eos",
    "eos_token",
    "end_turn",
    "complete",
    "completed",
];

/// Reasons for an answer that was cut for its length.
const LONGEST: [&str; 4] = ["length", "max_tokens", "model_length", "incomplete"];

/// Reasons for a request to call a tool.
pub(super) const CALLS: [&str; 3] = ["tool_calls", "function_call", "tool_use"];

/// Judges the reason that a server gives for the end, in its words.
pub(super) fn judge(reason: &str) -> Result<(), ErrorText> {
    let lower = reason.to_ascii_lowercase();
    let is_one_of = |names: &[&str]| names.contains(&lower.as_str());
    let (kind, words) = if is_one_of(&WHOLE) {
        return Ok(());
    } else if is_one_of(&LONGEST) {
        (CUT_OFF, "the model reached its output limit".to_owned())
    } else if is_one_of(&CALLS) {
        (
            CUT_OFF,
            "the model stopped to call a tool, but none was offered".to_owned(),
        )
    } else if is_one_of(&["content_filter", "refusal", "safety"]) {
        (
            "refusal",
            "the server's content policy withheld the answer".to_owned(),
        )
    } else {
        (CUT_OFF, format!("the server ended it for `{reason}`"))
    };
    Err(ErrorText::of_kind(kind, &words))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-ERR-1: text is an answer where the model ended it, and for no other reason.
    #[test]
    fn only_a_model_that_ended_has_answered() {
        for reason in ["stop", "STOP", "eos_token", "end_turn"] {
            assert_eq!(judge(reason), Ok(()), "{reason}");
        }
        for (reason, says) in [
            ("length", "its output limit"),
            ("MAX_TOKENS", "its output limit"),
            ("tool_calls", "to call a tool, but none was offered"),
            (
                "content_filter",
                "refused: the server's content policy withheld",
            ),
            (
                "error",
                "was cut off in the middle of its answer: the server ended it for `error`",
            ),
            ("abort", "ended it for `abort`"),
            ("load", "ended it for `load`"),
        ] {
            let message = judge(reason).unwrap_err().classify().to_string();
            assert!(message.contains(says), "{reason}: {message}");
        }
    }
}
