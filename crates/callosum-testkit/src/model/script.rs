//! [`ScriptTurn`]: one answer of the model, and where in a prompt the answers stand.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Mark before a script in a prompt.
pub const MARK: &str = "SCRIPT:";

/// One answer of the model. Every field may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptTurn {
    /// Text of the answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The tools that it calls after saying so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Tokens to report; by default a quarter of the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Answers with an error instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ScriptFault>,
    /// The error's status, if it is not the dialect's own for the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The `retry-after` header of an error, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Number of repetitions of the text; 1 by default. For answers that are too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<usize>,
    /// Answers with this as a page of its own instead, in every dialect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// Ends the connection in the middle of the text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Milliseconds of silence before the first byte.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// Milliseconds of silence in the middle of the text.
    #[serde(skip_serializing_if = "is_zero")]
    pub stall_ms: u64,
    /// Milliseconds of silence between any two events of a stream.
    #[serde(skip_serializing_if = "is_zero")]
    pub drip_ms: u64,
    /// Number of pieces into which a stream breaks the text; 2 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<usize>,
    /// Number of attempts that fail; later ones succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

/// One call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Call {
    /// The tool's name, as the client offers it.
    pub name: String,
    /// Its namespace, if the dialect has some and the request does not offer the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its arguments.
    pub input: Value,
}

/// Tokens that an answer reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Read, those from a cache included.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Of those read, the ones that came from a cache.
    pub cached: u64,
}

/// Reason for which a model's service refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptFault {
    /// The key is not known: 401.
    Unauthorized,
    /// Asked too often: 429.
    RateLimit,
    /// The service has too much to do: 529 from Anthropic, 503 from others.
    Overloaded,
    /// The service failed: 500.
    ServerError,
    /// The prompt does not fit the model: 400.
    PromptTooLong,
}

impl ScriptTurn {
    /// Returns a turn with text only.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A script of these turns, to be put into a prompt.
    pub fn script(turns: &[ScriptTurn]) -> String {
        let turns = serde_json::to_string(turns).expect("turns have no keys but text");
        format!("{MARK}{turns}")
    }

    /// The turn at an attempt, the first being 1: without its faults once they were served.
    pub(super) fn at_attempt(&self, attempt: u32) -> ScriptTurn {
        let mut turn = self.clone();
        if turn.times.is_some_and(|times| attempt > times) {
            (turn.fault, turn.status, turn.cut) = (None, None, false);
            (turn.delay_ms, turn.stall_ms) = (0, 0);
        }
        turn
    }

    /// Splits the text into the requested number of pieces; none if there is no text.
    pub(super) fn pieces(&self) -> Vec<String> {
        let letters: Vec<char> = self.text.chars().collect();
        let each = letters.len().div_ceil(self.pieces.unwrap_or(2).max(1));
        letters
            .chunks(each.max(1))
            .map(|piece| piece.iter().collect())
            .collect()
    }

    pub(super) fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }

    pub(super) fn stall(&self) -> Duration {
        Duration::from_millis(self.stall_ms)
    }

    pub(super) fn drip(&self) -> Duration {
        Duration::from_millis(self.drip_ms)
    }
}

/// Reads the script in a message; `None` if it has none.
///
/// Some clients quote the prompt, so a script whose quotes are escaped once is read as well. Fails
/// with the fault in one that cannot be read.
pub(super) fn find(message: &str) -> Option<Result<Vec<ScriptTurn>, String>> {
    let at = message.find(MARK)? + MARK.len();
    let script = &message[at..];
    if !script.starts_with('[') {
        return None;
    }
    let plain = read(script);
    if plain.is_err()
        && let Ok(turns) = read(&script.replace("\\\"", "\"").replace("\\\\", "\\"))
    {
        return Some(Ok(turns));
    }
    Some(plain)
}

fn read(script: &str) -> Result<Vec<ScriptTurn>, String> {
    let mut values = serde_json::Deserializer::from_str(script).into_iter();
    match values.next() {
        Some(Ok(turns)) => Ok(turns),
        Some(Err(error)) => Err(error.to_string()),
        None => Err("the script is empty".to_owned()),
    }
}

/// The smallest value that a JSON schema takes, as far as clients' own schemas go.
pub(super) fn smallest(schema: &Value) -> Value {
    if let Some(choices) = schema["enum"].as_array()
        && let Some(first) = choices.first()
    {
        return first.clone();
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(first) = schema[choice].get(0) {
            return smallest(first);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
        Value::String(kind) => kind,
        _ => "object",
    };
    match kind.to_lowercase().as_str() {
        "object" => {
            let fields: BTreeMap<String, Value> = schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, field)| (name.clone(), smallest(field)))
                .collect();
            serde_json::json!(fields)
        }
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            Value::Array(vec![smallest(&schema["items"]); least])
        }
        "string" => "x".into(),
        "integer" | "number" => schema["minimum"].as_i64().unwrap_or(1).into(),
        "boolean" => false.into(),
        _ => Value::Null,
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field by reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_is_read_at_its_mark_and_words_may_follow() {
        let turns = [ScriptTurn::text("a \"b\"\n"), ScriptTurn::default()];
        let script = ScriptTurn::script(&turns);
        for message in [
            script.clone(),
            format!("Look at x. {script}\n\nAnswer in 2,000 bytes [not more]."),
            format!("\"{}\"", script.replace('\\', "\\\\").replace('"', "\\\"")),
        ] {
            assert_eq!(find(&message), Some(Ok(turns.to_vec())), "{message}");
        }
    }

    #[test]
    fn a_script_that_cannot_be_read_says_why() {
        assert_eq!(find("no script"), None);
        assert_eq!(find("the word SCRIPT: alone"), None);
        for wrong in ["SCRIPT:[{\"txt\":\"\"}]", "SCRIPT:[{]", "SCRIPT:[1]"] {
            assert!(matches!(find(wrong), Some(Err(_))), "{wrong}");
        }
    }

    #[test]
    fn what_goes_wrong_ends_after_the_times_that_were_asked_for() {
        let turn = ScriptTurn {
            text: "x".into(),
            fault: Some(ScriptFault::RateLimit),
            times: Some(2),
            ..ScriptTurn::default()
        };
        assert_eq!(turn.at_attempt(2).fault, Some(ScriptFault::RateLimit));
        assert_eq!(turn.at_attempt(3).fault, None);
        let always = ScriptTurn {
            times: None,
            ..turn
        };
        assert_eq!(always.at_attempt(99).fault, Some(ScriptFault::RateLimit));
    }

    #[test]
    fn pieces_are_the_text() {
        for (text, pieces) in [("", 2), ("é", 2), ("abcde", 2), ("abc", 9), ("abc", 0)] {
            let turn = ScriptTurn {
                pieces: Some(pieces),
                ..ScriptTurn::text(text)
            };
            assert_eq!(turn.pieces().concat(), text);
            assert!(turn.pieces().len() <= pieces.max(1), "{text} {pieces}");
        }
    }

    #[test]
    fn the_smallest_value_has_what_the_schema_names() {
        let schema = json!({"type": "OBJECT", "properties": {
            "score": {"type": "integer", "minimum": 3}, "why": {"type": ["string", "null"]},
            "kind": {"enum": ["a", "b"]}, "list": {"type": "array", "minItems": 1, "items": {"type": "boolean"}},
        }});
        assert_eq!(
            smallest(&schema),
            json!({"score": 3, "why": "x", "kind": "a", "list": [false]})
        );
    }
}
