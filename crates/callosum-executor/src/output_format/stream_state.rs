//! [`StreamState`]: state of a client's answer while it is being written, and its conclusion.

use std::time::Duration;

use callosum_host::process::Ending;
use serde_json::Value;

use super::{
    classify_error::{ErrorText, is_only_an_error},
    claude,
    client_error::ClientError,
    codex, gemini,
    name::Dialect,
    opencode, qwen,
    reason::{named_in, plain_answer, without_answer},
    tool_result::ToolResults,
};
use crate::{
    client::Client,
    protocol::Spent,
    sanitize::{fit_shortly, shows_nothing},
    stderr_summary::{self, without_everyday},
};

/// State of the output so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StreamState {
    /// The text of the last message.
    pub(crate) text: String,
    /// The longest text of a whole earlier message after which no tool was used, for a client that
    /// may ask once more by itself.
    pub(super) earlier: String,
    /// The message that the text belongs to, if its parts come one by one and no tool was used
    /// since.
    pub(super) message: Option<String>,
    /// An answer in the requested form, if the client sends it separately.
    pub(crate) structured: Option<Value>,
    /// Whether the client reported that it is done, and done well.
    pub(crate) finished: bool,
    /// The reported reason for its failure.
    pub(crate) failure: Option<ErrorText>,
    /// Whether its exit code means no more than that an answer has not the requested form.
    pub(super) excused: bool,
    /// Its last complaint without a failure.
    pub(crate) warning: Option<String>,
    /// Number of reports in a row that it does not get through to its server.
    pub(super) stalls: u32,
    /// The reason why it stopped in the middle, unless it continues after all.
    pub(super) stopped: Option<ErrorText>,
    /// Tokens, if it counted.
    pub(crate) tokens: Option<Tokens>,
    /// The model that answered.
    pub(crate) model: Option<String>,
    /// Cost in US dollars.
    pub(crate) cost_usd: Option<f64>,
    /// Its own name for this run.
    pub(crate) session: Option<String>,
    /// Its current activity, on one line.
    pub(crate) doing: Option<String>,
    /// Results of its tools.
    pub(crate) tools: ToolResults,
    /// Bytes of a message that is being written, if its parts are reported.
    pub(super) streamed: usize,
    /// The number of events received from the client.
    pub(super) events: usize,
    /// Its standard output without events.
    pub(super) unread: String,
    /// The wait for a limit that it announced in an event, and in which words, until that is taken.
    pub(super) limit: Option<(String, Duration)>,
    /// Whether the part that is being written is the answer in the requested form.
    pub(super) in_form: bool,
}

/// Most tokens that can be real; beyond that not every whole number has a JSON of its own.
pub(crate) const MOST_TOKENS: u64 = 1 << 53;

/// Tokens as a client counts them, brought to one meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// All that the model read, what came from its cache included.
    pub(crate) input: u64,
    /// Tokens of that which came from its cache.
    pub(crate) cached: u64,
    /// All that the model wrote, its thinking included.
    pub(crate) output: u64,
}

/// A client's answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParsedOutput {
    /// The text of the answer.
    pub(crate) summary: String,
    /// The rest of the state.
    pub(crate) hearing: StreamState,
}

impl Tokens {
    /// Returns the tokens that count as used.
    pub(crate) fn used(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Whether such a number can be real.
    fn can_be(self) -> bool {
        self.used().max(self.cached) <= MOST_TOKENS
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
        }
    }
}

impl StreamState {
    /// Returns the usage so far.
    pub(crate) fn spent(&self) -> Spent {
        let tokens = self.tokens.filter(|tokens| tokens.can_be());
        Spent {
            tokens: tokens.map_or(0, Tokens::used),
            cost_usd: self.cost_usd.unwrap_or(0.0),
        }
    }

    /// Checks the answer against the client's transcript, if there is one.
    pub(crate) fn hold_against(&mut self, client: Option<&Client>, transcript: Option<Vec<u8>>) {
        let (Some(client), Some(transcript)) = (client, transcript) else {
            return;
        };
        if client.program == qwen::CLIENT {
            qwen::hold_against(self, &transcript);
        }
        // What was summed up broke off nowhere, though it looks like it.
        if client.program == opencode::CLIENT
            && self.failure.as_ref().is_none_or(ErrorText::is_cut_off)
            && let Some(complaint) = opencode::overflowed(&transcript)
        {
            self.failure = Some(complaint);
        }
        if self.failure.is_some() {
            return;
        }
        self.failure = match client.program {
            gemini::CLIENT => gemini::broke_off(&transcript),
            opencode::CLIENT => opencode::broke_off(&transcript),
            codex::CLIENT => {
                if codex::ends_in_a_tool(&transcript) {
                    self.text.clear();
                }
                None
            }
            _ => None,
        };
    }

    /// Takes an event in.
    pub(super) fn take(&mut self, dialect: Dialect, event: &Value) {
        self.events += usize::from(event.is_object());
        match dialect {
            Dialect::Claude => claude::hear(self, event),
            Dialect::Codex => codex::hear(self, event),
            Dialect::Gemini => gemini::hear(self, event),
            Dialect::Opencode => opencode::hear(self, event),
            Dialect::Qwen => qwen::hear(self, event),
            Dialect::Text => {}
        }
    }

    /// Takes plain text for the answer of a client that wrote no event at all, although events were
    /// requested.
    ///
    /// Gemini CLI does so now and then (pal-mcp-server#290). Text that only reports an error is no
    /// answer.
    pub(super) fn take_plain_answer(&mut self) {
        if self.events > 0 || self.finished || self.failure.is_some() {
            return;
        }
        if let Some(answer) = plain_answer(&self.unread) {
            self.text = answer;
            self.finished = true;
        }
    }

    /// Returns the result of the whole output, for a program that ended like this.
    pub(crate) fn conclude(
        mut self,
        ending: Ending,
        last_words: &str,
    ) -> Result<ParsedOutput, ClientError> {
        self.tokens = self.tokens.filter(|tokens| tokens.can_be());
        if let Some(complaint) = &self.failure {
            return Err(complaint.classify());
        }
        let is_excused = self.excused && matches!(ending, Ending::Exited(_));
        if ending != Ending::Exited(0) && !is_excused {
            let words = match &self.warning {
                Some(warning) => warning.clone(),
                None => without_everyday(last_words),
            };
            let explains = || match &self.warning {
                Some(warning) => stderr_summary::last_line(warning).map(str::to_owned),
                None => stderr_summary::telling(&words),
            };
            // Of a client whose warning names nothing, the reason may be on its other streams.
            let elsewhere = || match &self.warning {
                Some(_) => named_in(last_words).or_else(|| named_in(&self.unread)),
                None => named_in(&self.unread),
            };
            return Err(match ErrorText::words(&words).classify() {
                ClientError::Other { .. } => elsewhere().unwrap_or_else(|| ClientError::Ended {
                    ending,
                    words: explains()
                        .or_else(|| stderr_summary::telling(&self.unread))
                        .map(|line| fit_shortly(&line)),
                }),
                named => named,
            });
        }
        let answer = self.answer()?;
        match answer {
            Some(summary) if is_only_an_error(&summary) => {
                Err(ErrorText::words(&summary).classify())
            }
            Some(summary) if self.finished => Ok(ParsedOutput {
                summary,
                hearing: self,
            }),
            Some(_) => Err(ClientError::CutStream {
                words: self.warning.as_deref().map(fit_shortly).unwrap_or_default(),
            }),
            None => Err(without_answer(
                self.warning.as_deref(),
                last_words,
                &self.unread,
            )),
        }
    }

    /// The summary: in the form that was asked for, or else the text as it is.
    fn answer(&self) -> Result<Option<String>, ClientError> {
        match self.structured.as_ref().map(summary_in) {
            Some(Form::Summary(summary)) => return Ok(Some(summary)),
            Some(Form::Empty) => return Ok(None),
            Some(Form::Other) | None => {}
        }
        let text = self.text.trim();
        let bare = text
            .strip_prefix("```json")
            .and_then(|rest| rest.strip_suffix("```"))
            .unwrap_or(text);
        if bare.trim_start().starts_with('{')
            && let Ok(object) = serde_json::from_str::<Value>(bare)
        {
            if object.get("status").and_then(Value::as_str) == Some("error") {
                let words = object.get("error").and_then(Value::as_str).unwrap_or(text);
                return Err(ClientError::Declined {
                    words: fit_shortly(words),
                });
            }
            match summary_in(&object) {
                Form::Summary(summary) => return Ok(Some(summary)),
                Form::Empty => return Ok(None),
                Form::Other => {}
            }
        }
        Ok((!shows_nothing(text)).then(|| text.to_owned()))
    }
}

/// Result of matching an object with the requested form.
enum Form {
    /// It has the form, and a text.
    Summary(String),
    /// It has the form, and no text.
    Empty,
    /// It has not.
    Other,
}

fn summary_in(object: &Value) -> Form {
    match object.get("summary") {
        Some(Value::String(summary)) if !shows_nothing(summary) => {
            Form::Summary(summary.trim().to_owned())
        }
        Some(Value::String(_) | Value::Null) => Form::Empty,
        _ => Form::Other,
    }
}

/// A string in an event, by the names on the way to it.
pub(super) fn text<'v>(value: &'v Value, way: &[&str]) -> Option<&'v str> {
    at(value, way)?.as_str()
}

/// Returns a whole number in an event, 0 if there is none; an impossible count becomes more than
/// [`MOST_TOKENS`].
pub(super) fn count(value: &Value, way: &[&str]) -> u64 {
    match at(value, way) {
        Some(Value::Number(number)) => number.as_u64().unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// A value in an event, by the names on the way to it.
pub(super) fn at<'v>(value: &'v Value, way: &[&str]) -> Option<&'v Value> {
    way.iter().try_fold(value, |value, name| value.get(name))
}

/// The name of the entry in a map by model that counted most.
pub(super) fn busiest(models: Option<&Value>, way: &[&str]) -> Option<String> {
    let models = models?.as_object()?;
    let most = models.iter().max_by_key(|(_, of)| count(of, way))?;
    Some(most.0.clone())
}
