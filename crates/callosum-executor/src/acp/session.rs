//! [`Session`]: state of an answer while an agent works on it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    output_format::{CUT_OFF, ErrorText, MOST_TOKENS, TOOL_REFUSED, Tokens},
    runner::LARGEST_ANSWER,
    transport::Event,
};

/// Number of messages in a row, each starting where the one before broke off, that ends the turn.
const OFTEN: u32 = 3;

/// Kinds of updates that show that an agent works between two messages of one turn.
const WORK: [&str; 4] = [
    "agent_thought_chunk",
    "plan",
    "tool_call",
    "tool_call_update",
];

/// Kinds of tools that only read, as the protocol names them.
const READING: [&str; 4] = ["read", "search", "fetch", "think"];

/// An answer in progress. The last message is the answer: text before a tool call is not.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Its name, once the agent gave it one.
    pub(super) id: Option<String>,
    /// Size of the last message, in bytes.
    bytes: usize,
    /// The message that the text belongs to, if the agent numbers them.
    message: Option<String>,
    /// Whether the last message has more than blanks.
    says_something: bool,
    /// Whether a tool was called, or was to be, since the text came.
    interrupted: bool,
    /// Whether the agent did anything but write text since the text came.
    did_else: bool,
    /// Number of messages in a row that began right after another one with text. After a cut
    /// stream, an agent makes its model continue from there, in a message that has the rest alone.
    went_on: u32,
    /// Whether the agent is Codex, which asks for a whole answer again after a cut one, and may not
    /// report a tool in between.
    asks_whole: bool,
    /// Codex's message about why its turn failed. `Some`, maybe empty, as soon as it reports the
    /// failure.
    failed: Option<String>,
    /// The last thing that the agent was refused, in its own words.
    refused: Option<String>,
    /// Tokens of each call of its model, if the agent reports them with the call.
    used: Option<Tokens>,
    cost_usd: Option<f64>,
    /// The uses of tools that only read.
    reading: BTreeSet<String>,
    /// Events that were not sent yet.
    pub(super) events: Vec<Event>,
}

impl Session {
    /// Processes a session update; returns `false` if it makes the answer too long.
    ///
    /// Updates of another session, such as that of a subagent, are ignored.
    pub(super) fn take(&mut self, notification: &Value) -> bool {
        let session = notification["sessionId"].as_str();
        if session.is_some() && session != self.id.as_deref() {
            return true;
        }
        let update = &notification["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        self.did_else |= WORK.contains(&kind);
        match kind {
            "session_info_update" => self.codex(&update["_meta"]["codex"]),
            // Notices of the adapter, such as `We're changing auto mode` of claude-agent-acp 0.101.0.
            "agent_message_chunk" if is_informational(notification) => {}
            "agent_message_chunk" => {
                let message = update["messageId"].as_str();
                if let (Some(words), None) = (&mut self.failed, message) {
                    let text = update.pointer("/content/text").and_then(Value::as_str);
                    words.push_str(text.unwrap_or_default());
                    return words.len() <= LARGEST_ANSWER;
                }
                let is_another = message.is_some() && self.message.as_deref() != message;
                let may_go_on = !self.did_else && !self.asks_whole;
                if is_another && may_go_on && self.says_something {
                    self.went_on = self.went_on.saturating_add(1);
                }
                if self.interrupted || is_another {
                    self.discard_text();
                }
                self.did_else = false;
                self.message = message.map(str::to_owned);
                if let Some(text) = update.pointer("/content/text").and_then(Value::as_str) {
                    self.bytes += text.len();
                    self.says_something |= !text.trim().is_empty();
                    self.events.push(Event::Text {
                        text: text.to_owned(),
                    });
                }
                if let Some(used) = update.pointer("/_meta/usage").and_then(usage) {
                    self.used = Some(self.used.unwrap_or_default().and(used));
                }
            }
            "agent_thought_chunk" => self.doing("thinks".to_owned()),
            "tool_call" => {
                self.interrupted = true;
                let title = update["title"].as_str().unwrap_or("a tool");
                self.doing(format!("runs {title}"));
                self.tool(update);
            }
            "tool_call_update" => self.tool(update),
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

    /// Processes Codex's report about its own state.
    fn codex(&mut self, state: &Value) {
        self.asks_whole |= state.is_object();
        match state.pointer("/threadStatus/type").and_then(Value::as_str) {
            Some("systemError") => self.failed = Some(String::new()),
            Some("active") => self.failed = None,
            _ => {}
        }
    }

    /// Processes an update about a tool call, whose result counts once it is complete.
    fn tool(&mut self, update: &Value) {
        let id = update["toolCallId"].as_str().unwrap_or_default();
        let kind = update["kind"].as_str().unwrap_or_default();
        if READING.contains(&kind) {
            self.reading.insert(id.to_owned());
        }
        let status = update["status"].as_str().unwrap_or_default();
        if !matches!(status, "completed" | "failed") || self.reading.contains(id) {
            return;
        }
        let parts = update["content"].as_array().into_iter().flatten();
        let texts = parts.filter_map(|part| part.pointer("/content/text")?.as_str());
        let raw = &update["rawOutput"];
        let raw = [raw, &raw["output"], &raw["error"]].into_iter();
        for text in texts.chain(raw.filter_map(Value::as_str)) {
            self.events.push(Event::Used {
                text: text.to_owned(),
            });
        }
    }

    /// Whether its model's answers break off one after the other, so that it would ask for ever, each time at full price.
    pub(super) fn is_stalled(&self) -> bool {
        self.went_on >= OFTEN
    }

    /// Records that the agent wants to use a tool: some agents report the call only if it is
    /// granted.
    pub(super) fn interrupt(&mut self) {
        self.interrupted = true;
        self.did_else = true;
    }

    /// Records what the agent may not do, in its own words.
    pub(super) fn refuse(&mut self, what: &str) {
        self.refused = Some(what.to_owned());
    }

    /// Discards the text so far: it is not the answer.
    fn discard_text(&mut self) {
        self.bytes = 0;
        self.says_something = false;
        if self.interrupted {
            self.went_on = 0;
        }
        self.interrupted = false;
        self.events.push(Event::Anew);
    }

    fn doing(&mut self, what: String) {
        self.events.push(Event::Doing { what });
    }

    /// Turns the result of the prompt into the final events, or into the reason why there is no
    /// answer.
    pub(super) fn end(&mut self, result: &Value) -> Result<Vec<Event>, ErrorText> {
        if self.interrupted {
            self.discard_text();
        }
        let stopped = result["stopReason"].as_str().unwrap_or_default();
        if let Some(words) = &self.failed {
            let words = match words.trim() {
                "" => "the agent reports that its turn failed, without a reason",
                words => words,
            };
            return Err(ErrorText::words(words));
        }
        if let Some(what) = &self.refused
            && !self.says_something
            && matches!(stopped, "end_turn" | "cancelled")
        {
            return Err(ErrorText::of_kind(TOOL_REFUSED, what));
        }
        let (kind, words) = match stopped {
            "end_turn" if self.says_something && counts_nothing(result) => (
                CUT_OFF,
                "the agent reports that it is done, but counts no output tokens".to_owned(),
            ),
            "end_turn" if self.went_on > 0 => (
                CUT_OFF,
                "the agent started a message before the previous one had ended".to_owned(),
            ),
            "end_turn" => return Ok(self.whole(result)),
            "refusal" => ("refusal", "the agent refused to continue".to_owned()),
            "max_tokens" | "max_turn_requests" => (
                CUT_OFF,
                format!("the agent stopped at one of its own limits ({stopped})"),
            ),
            _ => (CUT_OFF, format!("the agent stopped for `{stopped}`")),
        };
        Err(ErrorText::of_kind(kind, &words))
    }

    fn whole(&mut self, result: &Value) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        events.extend(self.counted(result));
        events.push(Event::Done);
        events
    }

    /// Returns the usage that the result of the prompt reports, with or without an answer.
    pub(super) fn counted(&self, result: &Value) -> Vec<Event> {
        let mut events = Vec::new();
        let quota = result.pointer("/_meta/quota/token_count");
        let reported = result.get("usage").filter(|usage| usage.is_object());
        let used = match reported.or(quota) {
            Some(reported) => usage(reported),
            None => self.used,
        };
        events.extend(used.map(|used| Event::Usage {
            input: used.input,
            cached: used.cached,
            output: used.output,
        }));
        let model = result.pointer("/_meta/quota/model_usage/0/model");
        events.extend(model.and_then(Value::as_str).map(|name| Event::Model {
            name: name.to_owned(),
        }));
        events.extend(self.cost_usd.map(|usd| Event::Cost { usd }));
        events
    }
}

/// Whether a chunk is marked as a notice to a person, which is no part of the answer.
fn is_informational(notification: &Value) -> bool {
    let update = &notification["update"];
    if !update["messageId"].is_null() {
        return false;
    }
    let places = [
        &update["_meta"],
        &update["content"]["_meta"],
        &notification["_meta"],
    ];
    let of_agents = places.into_iter().filter_map(Value::as_object).flatten();
    let mut marks = of_agents.map(|(_, of_agent)| &of_agent["kind"]);
    marks.any(|kind| kind == "informational")
}

/// Whether an agent that counts its models' work reports none: Gemini CLI counts at the end of a
/// model's stream, and ends its turn as usual even if the stream broke off before.
fn counts_nothing(result: &Value) -> bool {
    let Some(quota) = result.pointer("/_meta/quota") else {
        return false;
    };
    let counts = quota["token_count"].as_object();
    let no_model = quota["model_usage"].as_array().is_some_and(Vec::is_empty);
    no_model && counts.is_some_and(|counts| counts.values().all(|count| *count == 0))
}

/// Returns the tokens, under any agent's names for them; `None` if a number is impossible.
fn usage(report: &Value) -> Option<Tokens> {
    let count = |names: &[&str]| {
        let mut found = names.iter().map(|name| &report[*name]);
        match found.find(|count| !count.is_null()) {
            None => Some(0),
            Some(count) => count.as_u64().filter(|count| *count <= MOST_TOKENS),
        }
    };
    let output = count(&["outputTokens", "output_tokens"])?;
    let input = count(&["inputTokens", "input_tokens"])?;
    // Whether those from a cache count as input differs; the total does not.
    let total = count(&["totalTokens", "total_tokens"])?;
    Some(Tokens {
        input: input.max(total.saturating_sub(output)),
        cached: count(&["cachedReadTokens", "cachedInputTokens", "cached_tokens"])?,
        output,
    })
}
