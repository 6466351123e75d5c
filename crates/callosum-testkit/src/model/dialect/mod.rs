//! [`Dialect`]: the languages in which models are asked, each in a file of its own.
//!
//! A dialect reads a request into messages, and writes a turn as one value or as the events of a
//! stream. Both are functions of plain values; the server next door does the waiting and cutting.

mod chat;
mod gemini;
mod messages;
mod ollama;
mod responses;

use serde_json::{Value, json};

use super::{
    asked::ModelRequest,
    script::{ScriptFault, ScriptTurn, Usage},
};

/// A language in which a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages: `POST /v1/messages`.
    Messages,
    /// OpenAI Responses: `POST /v1/responses`.
    Responses,
    /// OpenAI Chat Completions: `POST /v1/chat/completions`.
    Chat,
    /// Gemini: `POST /v1beta/models/M:generateContent` and `:streamGenerateContent`.
    Gemini,
    /// Ollama: `POST /api/chat`.
    Ollama,
}

/// Input for writing a turn.
pub(super) struct Reply<'a> {
    pub(super) body: &'a Value,
    pub(super) model: &'a str,
    pub(super) turn: &'a ScriptTurn,
    pub(super) usage: Usage,
    /// The request's number, from which all ids are made.
    pub(super) number: u64,
}

/// The events of an answer, each as the bytes of its frame; the middle of the text is between.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    pub(super) head: Vec<String>,
    pub(super) tail: Vec<String>,
}

impl Dialect {
    /// The dialect that is spoken at a path, if any is.
    pub(super) fn at(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
            return Some(Self::Gemini);
        }
        [
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            ("/api/chat", Self::Ollama),
        ]
        .into_iter()
        .find_map(|(end, dialect)| path.ends_with(end).then_some(dialect))
    }

    /// Reads a request.
    pub(super) fn read(self, path: &str, body: &Value) -> ModelRequest {
        let streamed = match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            // Ollama streams unless the request forbids it.
            Self::Ollama => body["stream"] != Value::Bool(false),
            _ => body["stream"] == Value::Bool(true),
        };
        let model = match self {
            Self::Gemini => path
                .rsplit('/')
                .next()
                .and_then(|end| end.split(':').next())
                .unwrap_or_default(),
            _ => body["model"].as_str().unwrap_or_default(),
        };
        let (messages, schema) = match self {
            Self::Messages => (messages::heard(body), messages::schema(body)),
            Self::Responses => (responses::heard(body), responses::schema(body)),
            Self::Chat => (chat::heard(body), chat::schema(body)),
            Self::Gemini => (gemini::heard(body), gemini::schema(body)),
            Self::Ollama => (chat::heard(body), ollama::schema(body)),
        };
        ModelRequest {
            dialect: self,
            model: model.to_owned(),
            streamed,
            tools: tools(body),
            messages,
            schema: schema.filter(|schema| !schema.is_null()).cloned(),
        }
    }

    /// The answer as one value.
    pub(super) fn whole(self, reply: &Reply<'_>) -> Value {
        match self {
            Self::Messages => messages::whole(reply),
            Self::Responses => responses::whole(reply),
            Self::Chat => chat::whole(reply),
            Self::Gemini => gemini::whole(reply),
            Self::Ollama => ollama::whole(reply),
        }
    }

    /// The answer as a stream.
    pub(super) fn events(self, reply: &Reply<'_>) -> Events {
        match self {
            Self::Messages => messages::events(reply),
            Self::Responses => responses::events(reply),
            Self::Chat => chat::events(reply),
            Self::Gemini => gemini::events(reply),
            Self::Ollama => ollama::events(reply),
        }
    }

    /// The type of a stream's content.
    pub(super) fn stream_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            _ => "text/event-stream",
        }
    }

    /// Returns the status and body of a refusal, as the service of this dialect sends them.
    pub(super) fn refusal(
        self,
        fault: ScriptFault,
        status: Option<u16>,
        words: &str,
    ) -> (u16, Value) {
        let (usual, kind, message) = self.usual_refusal(fault);
        let status = status.unwrap_or(usual);
        let message = if words.is_empty() { message } else { words };
        let body = match self {
            Self::Messages => {
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Self::Responses | Self::Chat => {
                let code = (fault != ScriptFault::ServerError).then_some(kind);
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
            Self::Gemini => json!({"error": {"code": status, "message": message, "status": kind}}),
            Self::Ollama => json!({"error": message}),
        };
        (status, body)
    }

    fn usual_refusal(self, fault: ScriptFault) -> (u16, &'static str, &'static str) {
        match (self, fault) {
            (Self::Messages, ScriptFault::Unauthorized) => {
                (401, "authentication_error", "invalid x-api-key")
            }
            (Self::Messages, ScriptFault::RateLimit) => (
                429,
                "rate_limit_error",
                "This request would exceed your rate limit.",
            ),
            (Self::Messages, ScriptFault::Overloaded) => (529, "overloaded_error", "Overloaded"),
            (Self::Messages, ScriptFault::ServerError) => {
                (500, "api_error", "Internal server error")
            }
            (Self::Messages, ScriptFault::PromptTooLong) => (
                400,
                "invalid_request_error",
                "prompt is too long: 1200000 tokens > 1000000 maximum",
            ),
            (Self::Gemini, ScriptFault::Unauthorized) => (
                401,
                "UNAUTHENTICATED",
                "API key not valid. Please pass a valid API key.",
            ),
            (Self::Gemini, ScriptFault::RateLimit) => (
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota.",
            ),
            (Self::Gemini, ScriptFault::Overloaded) => (
                503,
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.",
            ),
            (Self::Gemini, ScriptFault::ServerError) => {
                (500, "INTERNAL", "An internal error has occurred.")
            }
            (Self::Gemini, ScriptFault::PromptTooLong) => (
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens allowed \
                 (1048576).",
            ),
            (_, ScriptFault::Unauthorized) => {
                (401, "invalid_api_key", "Incorrect API key provided.")
            }
            (_, ScriptFault::RateLimit) => (429, "rate_limit_exceeded", "Rate limit reached."),
            (_, ScriptFault::Overloaded) => (
                503,
                "server_is_overloaded",
                "The server is overloaded. Please try again later.",
            ),
            (_, ScriptFault::ServerError) => (500, "server_error", "The server had an error."),
            (_, ScriptFault::PromptTooLong) => (
                400,
                "context_length_exceeded",
                "Your input exceeds the context window of this model.",
            ),
        }
    }
}

impl Reply<'_> {
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}{:08}", self.number)
    }

    fn call_id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}{:08}{index:02}", self.number)
    }
}

impl Events {
    /// Events around a text: `piece` makes one of each piece of it.
    fn around(
        before: Vec<String>,
        turn: &ScriptTurn,
        piece: impl FnMut(String) -> String,
        after: Vec<String>,
    ) -> Self {
        let mut head = before;
        let mut pieces: Vec<String> = turn.pieces().into_iter().map(piece).collect();
        let mut tail = pieces.split_off(pieces.len().div_ceil(2));
        head.extend(pieces);
        tail.extend(after);
        Self { head, tail }
    }
}

/// The names of the tools that a request offers, in any of the dialects.
fn tools(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let several = [&tool["functionDeclarations"], &tool["tools"]];
        let inner: Vec<&Value> = several
            .into_iter()
            .filter_map(Value::as_array)
            .flatten()
            .collect();
        if inner.is_empty() {
            let name = [&tool["name"], &tool["function"]["name"], &tool["type"]]
                .into_iter()
                .find_map(Value::as_str);
            names.push(name.unwrap_or("?").to_owned());
        } else {
            let inner = inner.into_iter().filter_map(|tool| tool["name"].as_str());
            names.extend(inner.map(str::to_owned));
        }
    }
    names
}

/// A server-sent event of this data; its name is the data's `type`.
fn named_event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or("message");
    format!("event: {name}\ndata: {data}\n\n")
}

/// A server-sent event without a name.
fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
