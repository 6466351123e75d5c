//! [`ModelRequest`]: a request of any dialect as one list of messages, and the turn that answers it.

use serde_json::Value;

use super::{
    dialect::Dialect,
    script::{self, ScriptTurn},
};

/// Author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) speaker: Speaker,
    pub(super) text: String,
}

/// A client's request, in any dialect.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelRequest {
    pub(super) dialect: Dialect,
    pub(super) model: String,
    pub(super) streamed: bool,
    pub(super) tools: Vec<String>,
    pub(super) messages: Vec<Message>,
    /// The schema that the answer has to follow.
    pub(super) schema: Option<Value>,
}

/// The answer that a request calls for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) turn: ScriptTurn,
    /// Number of the script's turn, and the message with the script.
    pub(super) played: Option<(usize, String)>,
}

impl ModelRequest {
    /// Chooses the answer: the turn of the newest script, or `fallback`, by a schema if necessary.
    ///
    /// Fails with the fault in the script.
    pub(super) fn choose(&self, fallback: &str, side_calls: bool) -> Result<Chosen, String> {
        let is_side_call = side_calls && self.tools.is_empty();
        if !is_side_call && let Some(chosen) = self.scripted()? {
            return Ok(chosen);
        }
        let text = match &self.schema {
            Some(schema) => script::smallest(schema).to_string(),
            None => fallback.to_owned(),
        };
        Ok(Chosen {
            turn: ScriptTurn::text(text),
            played: None,
        })
    }

    /// The text of all messages that are not the model's own.
    pub(super) fn text(&self) -> String {
        let messages = self.messages.iter();
        let others = messages.filter(|message| message.speaker != Speaker::Assistant);
        let texts: Vec<&str> = others.map(|message| message.text.as_str()).collect();
        texts.join("\n")
    }

    /// Counts the messages that are the model's own.
    pub(super) fn answers(&self) -> usize {
        answers(&self.messages)
    }

    fn scripted(&self) -> Result<Option<Chosen>, String> {
        for (at, message) in self.messages.iter().enumerate().rev() {
            if !matches!(message.speaker, Speaker::User | Speaker::Tool) {
                continue;
            }
            let Some(turns) = script::find(&message.text) else {
                continue;
            };
            let turns = turns.map_err(|fault| format!("the script: {fault}"))?;
            let number = answers(&self.messages[at + 1..]);
            let turn = turns.get(number).cloned();
            return Ok(Some(Chosen {
                turn: turn.unwrap_or_else(|| ScriptTurn::text("the script is over")),
                played: Some((number, message.text.clone())),
            }));
        }
        Ok(None)
    }
}

/// Counts the model's answers; one answer can be split into several messages.
fn answers(messages: &[Message]) -> usize {
    let mut count = 0;
    let mut before = None;
    for message in messages {
        if message.speaker == Speaker::Assistant && before != Some(Speaker::Assistant) {
            count += 1;
        }
        before = Some(message.speaker);
    }
    count
}

/// Returns the text of a message's content: a string, or a list of parts that may have text.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts
                .iter()
                .filter(|part| part["type"] != "tool_result")
                .filter_map(|part| part.as_str().or_else(|| part["text"].as_str()))
                .collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(messages: &[(Speaker, &str)]) -> ModelRequest {
        ModelRequest {
            dialect: Dialect::Chat,
            model: "m".into(),
            streamed: false,
            tools: Vec::new(),
            messages: messages
                .iter()
                .map(|&(speaker, text)| Message {
                    speaker,
                    text: text.to_owned(),
                })
                .collect(),
            schema: None,
        }
    }

    fn check(messages: &[(Speaker, &str)], expected: &str) {
        let chosen = asked(messages).choose("no script", false).unwrap();
        assert_eq!(chosen.turn.text, expected);
    }

    #[test]
    fn the_turn_is_the_number_of_answers_after_the_script() {
        use Speaker::{Assistant, System, Tool, User};
        let script = "x SCRIPT:[{\"text\":\"one\"},{\"text\":\"two\"}] y";
        check(&[(System, script), (User, "hello")], "no script");
        check(&[(User, script)], "one");
        check(&[(Assistant, "before"), (User, script)], "one");
        let once = [(User, script), (Assistant, "one"), (Tool, "")];
        check(&once, "two");
        // Codex stores an answer's text and its calls as two items.
        let split = [
            (User, script),
            (Assistant, "a"),
            (Assistant, ""),
            (Tool, ""),
        ];
        check(&split, "two");
        let twice = [
            (User, script),
            (Assistant, ""),
            (Tool, ""),
            (Assistant, ""),
            (User, "on"),
        ];
        check(&twice, "the script is over");
    }

    #[test]
    fn a_side_call_is_recognized_by_its_missing_tools_on_request() {
        let script = "SCRIPT:[{\"text\":\"one\"}]";
        let mut asked = asked(&[(Speaker::User, script)]);
        assert_eq!(asked.choose("ok", true).unwrap().turn.text, "ok");
        assert_eq!(asked.choose("ok", false).unwrap().turn.text, "one");
        asked.tools.push("Bash".into());
        assert_eq!(asked.choose("ok", true).unwrap().turn.text, "one");
    }

    #[test]
    fn text_is_found_in_either_form_and_results_of_tools_are_not_text() {
        assert_eq!(text_of(&json!("a")), "a");
        let parts =
            json!([{"type": "text", "text": "a"}, {"type": "tool_result", "text": "b"}, "c"]);
        assert_eq!(text_of(&parts), "a\nc");
        assert_eq!(text_of(&json!(null)), "");
    }
}
