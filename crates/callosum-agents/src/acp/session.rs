//! [`Session`]: what is known of an answer while an agent works on it.

use serde_json::Value;

use crate::{
    dialect::{CUT_OFF, Complaint},
    runner::LARGEST_ANSWER,
    transport::Event,
};

/// An answer that is coming. The last message is the answer: what an agent says before it calls a
/// tool is not.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// How much there is of the last message, in bytes.
    bytes: usize,
    /// The message that the text belongs to, where the agent numbers them.
    message: Option<String>,
    /// Whether a tool was called, or was to be, since the text came.
    interrupted: bool,
    usage: Option<Value>,
    cost_usd: Option<f64>,
    /// What came of all that, until it was told.
    pub(super) events: Vec<Event>,
}

impl Session {
    /// Takes an update in; `false` where that makes the answer too long.
    pub(super) fn take(&mut self, update: &Value) -> bool {
        match update["sessionUpdate"].as_str().unwrap_or_default() {
            "agent_message_chunk" => {
                let message = update["messageId"].as_str();
                let is_another = message.is_some() && self.message.as_deref() != message;
                if self.interrupted || is_another {
                    self.bytes = 0;
                    self.events.push(Event::Anew);
                    self.interrupted = false;
                }
                self.message = message.map(str::to_owned);
                if let Some(text) = update.pointer("/content/text").and_then(Value::as_str) {
                    self.bytes += text.len();
                    self.events.push(Event::Text {
                        text: text.to_owned(),
                    });
                }
                if let Some(usage) = update.pointer("/_meta/usage") {
                    self.usage = Some(usage.clone());
                }
            }
            "agent_thought_chunk" => self.doing("thinks".to_owned()),
            "tool_call" => {
                self.interrupted = true;
                let title = update["title"].as_str().unwrap_or("a tool");
                self.doing(format!("runs {title}"));
            }
            "usage_update"
                if update
                    .pointer("/cost/currency")
                    .is_some_and(|it| it == "USD") =>
            {
                self.cost_usd = update.pointer("/cost/amount").and_then(Value::as_f64);
            }
            _ => {}
        }
        self.bytes <= LARGEST_ANSWER
    }

    /// Takes note that the agent wants to use a tool: some tell of the call only where it is granted.
    pub(super) fn interrupt(&mut self) {
        self.interrupted = true;
    }

    fn doing(&mut self, what: String) {
        self.events.push(Event::Doing { what });
    }

    /// What the result of the prompt makes of it: the events that tell it, or why there is none.
    pub(super) fn end(&self, result: &Value) -> Result<Vec<Event>, Complaint> {
        let stopped = result["stopReason"].as_str().unwrap_or_default();
        let (kind, words) = match stopped {
            "end_turn" => {
                let mut events = Vec::new();
                let reported = result.get("usage").or(self.usage.as_ref());
                let quota = result.pointer("/_meta/quota/token_count");
                events.extend(
                    reported
                        .filter(|usage| usage.is_object())
                        .or(quota)
                        .map(usage),
                );
                let model = result.pointer("/_meta/quota/model_usage/0/model");
                events.extend(model.and_then(Value::as_str).map(|name| Event::Model {
                    name: name.to_owned(),
                }));
                events.extend(self.cost_usd.map(|usd| Event::Cost { usd }));
                events.push(Event::Done);
                return Ok(events);
            }
            "refusal" => ("refusal", "the agent refused to go on".to_owned()),
            "max_tokens" | "max_turn_requests" => (
                CUT_OFF,
                format!("the agent stopped at a limit of its own ({stopped})"),
            ),
            _ => (CUT_OFF, format!("the agent stopped for `{stopped}`")),
        };
        Err(Complaint::of_kind(kind, &words))
    }
}

/// Tokens, however an agent names them.
fn usage(said: &Value) -> Event {
    let count = |names: &[&str]| {
        let found = names.iter().find_map(|name| said[*name].as_u64());
        found.unwrap_or(0)
    };
    let output = count(&["outputTokens", "output_tokens"]);
    let input = count(&["inputTokens", "input_tokens"]);
    // Whether those from a cache count as input differs; the total does not.
    let total = count(&["totalTokens", "total_tokens"]);
    Event::Usage {
        input: input.max(total.saturating_sub(output)),
        cached: count(&["cachedReadTokens", "cachedInputTokens", "cached_tokens"]),
        output,
    }
}
