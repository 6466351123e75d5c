//! OpenAI's chat completions, as llama.cpp, vLLM, LM Studio, OpenRouter and most others speak them.

use std::{ops::ControlFlow, thread, time::Duration};

use serde_json::{Map, Value, json};

use super::{
    client::{Caller, complaint_in},
    finish_reason::{self, CALLS},
    lines::{Broken, Flow, read_lines},
    server::Look,
    worker::Answering,
};
use crate::{
    output_format::{CUT_OFF, ErrorText, UNREACHABLE},
    protocol::AnswerForm,
    transport::Event,
};

/// Path of the interface on a server whose endpoint has none.
const USUAL: &str = "/v1";

/// Time between two looks at a server that loads its model.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Bytes that are kept of a model's refusal.
const LONGEST_REFUSAL: usize = 1024;

/// Asks which models there are.
pub(super) fn look(caller: &Caller) -> Result<Look, ErrorText> {
    let listed = caller.get(USUAL, "/models")?;
    let models = listed
        .get("data")
        .and_then(Value::as_array)
        .ok_or_else(|| ErrorText::unreadable("its list of models is not a list"))?;
    let ids = models.iter().filter_map(|model| model.get("id")?.as_str());
    Ok(Look {
        version: None,
        offers: ids.map(str::to_owned).collect(),
    })
}

/// Waits until `/health` of a llama.cpp server is well: until then it refuses connections, or
/// reports that it loads.
pub(super) fn wait_until_ready(
    caller: &Caller,
    alive: &mut dyn FnMut() -> bool,
) -> Result<(), ErrorText> {
    loop {
        let Err(complaint) = caller.get("", "/health") else {
            return Ok(());
        };
        let is_loading = complaint.status == Some(503);
        let is_away = complaint.kind.as_deref() == Some(UNREACHABLE);
        if !(is_loading || is_away) || !alive() {
            return Err(complaint);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Asks a model.
///
/// Streams if the server does, with counts if it supports that option: one that refuses either is
/// asked once more for the whole answer.
pub(super) fn ask(
    caller: &Caller,
    model: &str,
    prompt: &str,
    form: &AnswerForm,
    answering: &mut Answering<'_>,
) -> Result<(), Broken> {
    let mut document = json!({
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    let formed = formed(form);
    if let Some(document) = document.as_object_mut() {
        document.extend(formed.clone());
    }
    let mut left = 2;
    let body = loop {
        let complaint = match caller.post(USUAL, "/chat/completions", &document) {
            Ok(body) => break body,
            Err(complaint) => complaint,
        };
        let document = document.as_object_mut().expect("it was made as an object");
        let is_formed = formed.keys().any(|key| document.contains_key(key));
        if left == 0 {
            return Err(complaint.into());
        }
        left -= 1;
        if refuses_streams(&complaint) {
            document.shift_remove("stream_options");
            document.insert("stream".to_owned(), false.into());
        } else if is_formed && refuses_form(&complaint) {
            document.retain(|key, _| !formed.contains_key(key));
        } else {
            return Err(complaint.into());
        }
    };
    let mut stream = Stream::default();
    read_lines(body, &mut |line| match line {
        Some(line) => stream.line(line, answering),
        None => Ok(answering.alive()),
    })?;
    stream.end(answering)
}

/// Returns what a request has beyond the prompt: the schema, the grammar and the length of the answer.
fn formed(form: &AnswerForm) -> Map<String, Value> {
    let mut keys = Map::new();
    if let Some(schema) = &form.schema {
        let schema = json!({"name": "answer", "schema": schema, "strict": false});
        let format = json!({"type": "json_schema", "json_schema": schema});
        keys.insert("response_format".to_owned(), format);
    }
    if let Some(grammar) = &form.grammar {
        keys.insert("grammar".to_owned(), grammar.as_str().into());
    }
    if let Some(tokens) = form.max_tokens {
        keys.insert("max_tokens".to_owned(), tokens.into());
    }
    keys
}

/// Whether a server does not take the form of an answer. It is then asked without; the answer is checked all the same.
fn refuses_form(complaint: &ErrorText) -> bool {
    let words = complaint.words.to_ascii_lowercase();
    let named = [
        "response_format",
        "json_schema",
        "grammar",
        "schema",
        "max_tokens",
    ];
    matches!(complaint.status, Some(400 | 422)) && named.iter().any(|name| words.contains(name))
}

fn refuses_streams(complaint: &ErrorText) -> bool {
    matches!(complaint.status, Some(400 | 422)) && complaint.words.contains("stream")
}

/// State of an answer that is being read.
#[derive(Default)]
struct Stream {
    /// A body that is one document, until it is whole.
    document: String,
    /// The model's reason for stopping.
    finish: Option<String>,
    /// Whether it called a tool, regardless of its reason for stopping.
    called: bool,
    /// Its refusal in place of an answer.
    refusal: String,
    /// Whether the server announced the end.
    done: bool,
}

impl Stream {
    fn line(&mut self, line: &str, answering: &mut Answering<'_>) -> Flow {
        if let Some(data) = line.strip_prefix("data:") {
            let data = data.trim();
            if data == "[DONE]" {
                self.done = true;
                return Ok(ControlFlow::Break(()));
            }
            let value: Value = serde_json::from_str(data)
                .map_err(|_| ErrorText::unreadable(&format!("an invalid event: {data}")))?;
            return self.take(&value, answering);
        }
        let is_of_a_stream = line.is_empty()
            || line.starts_with(':')
            || ["event:", "id:", "retry:"]
                .iter()
                .any(|field| line.starts_with(field));
        if !self.document.is_empty() || !is_of_a_stream {
            self.document.push_str(line);
            self.document.push('\n');
        }
        Ok(answering.alive())
    }

    /// Concludes the answer, or returns why there is none.
    fn end(mut self, answering: &mut Answering<'_>) -> Result<(), Broken> {
        if !self.document.is_empty() {
            let value: Value = serde_json::from_str(&self.document).map_err(|_| {
                ErrorText::unreadable(&format!(
                    "neither events nor JSON: {}",
                    self.document.trim()
                ))
            })?;
            let _one = self.take(&value, answering)?;
            // One document is all there is, also where it gives no reason for its end.
            if value.get("choices").is_some() {
                self.finish.get_or_insert_with(|| "stop".to_owned());
            }
        }
        if !self.refusal.trim().is_empty() {
            return Err(ErrorText::of_kind("refusal", self.refusal.trim()).into());
        }
        let finish = self.finish.filter(|_| !self.called);
        match finish.as_deref().or(self.called.then_some(CALLS[0])) {
            Some(reason) => finish_reason::judge(reason)?,
            None if self.done => {
                return Err(cut("the server did not say why the model stopped").into());
            }
            None => return Err(cut("the stream ended early").into()),
        }
        answering.done();
        Ok(())
    }

    fn take(&mut self, value: &Value, answering: &mut Answering<'_>) -> Flow {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            let complaint = complaint_in(value);
            return Err(complaint
                .unwrap_or_else(|| ErrorText::unreadable("an error without a message"))
                .into());
        }
        if let Some(model) = value.get("model").and_then(Value::as_str) {
            answering.model(model);
        }
        if let Some(usage) = value.get("usage").and_then(counted) {
            let _counted = answering.tell(usage);
        }
        let Some(choice) = value.pointer("/choices/0") else {
            return Ok(answering.alive());
        };
        if choice.get("error").is_some_and(|error| !error.is_null()) {
            let complaint = complaint_in(choice);
            return Err(complaint
                .unwrap_or_else(|| ErrorText::unreadable("an error without a message"))
                .into());
        }
        let finish = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(finish) = finish.filter(|finish| !finish.is_empty()) {
            self.finish = Some(finish.to_owned());
        }
        let message = choice.get("delta").or_else(|| choice.get("message"));
        match message {
            Some(message) => {
                let thinks = ["reasoning_content", "reasoning"].iter().any(|key| {
                    message
                        .get(key)
                        .and_then(Value::as_str)
                        .is_some_and(|t| !t.is_empty())
                });
                if thinks {
                    answering.thinking();
                }
                let calls = message.get("tool_calls").and_then(Value::as_array);
                self.called |= calls.is_some_and(|calls| !calls.is_empty());
                let room = LONGEST_REFUSAL.saturating_sub(self.refusal.len());
                if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
                    self.refusal
                        .push_str(&refusal[..refusal.floor_char_boundary(room)]);
                }
                answering.text(&text_of(message.get("content")))
            }
            None => Ok(answering.alive()),
        }
    }
}

/// Returns the tokens as a server counts them; `None` if a number is impossible, or nothing was
/// counted.
fn counted(usage: &Value) -> Option<Event> {
    let count = |way: &str| match usage.pointer(way) {
        None | Some(Value::Null) => Some(0),
        Some(count) => count.as_u64(),
    };
    let (input, output) = (count("/prompt_tokens")?, count("/completion_tokens")?);
    let cached = count("/prompt_tokens_details/cached_tokens")?;
    let is_counted = input.max(output) > 0;
    is_counted.then_some(Event::Usage {
        input,
        cached,
        output,
    })
}

/// A text, or the texts of a list of parts.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}

fn cut(words: &str) -> ErrorText {
    ErrorText::of_kind(CUT_OFF, words)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// Returns the events of a body, one word each, or the complaint.
    fn read_body(body: &str) -> Result<String, String> {
        let mut texts = String::new();
        let mut tell = |event: Event| {
            match event {
                Event::Text { text } => texts.push_str(&text),
                Event::Usage {
                    input,
                    cached,
                    output,
                } => {
                    let _ = write!(texts, "<{input} {cached} {output}>");
                }
                Event::Done => texts.push_str("<done>"),
                _ => {}
            }
            true
        };
        let mut answering = Answering::new(&mut tell);
        let mut stream = Stream::default();
        let read = read_lines(body.as_bytes(), &mut |line| match line {
            Some(line) => stream.line(line, &mut answering),
            None => Ok(answering.alive()),
        })
        .and_then(|()| stream.end(&mut answering));
        match read {
            Ok(()) => Ok(texts),
            Err(Broken::TooMuch) => Err("too much".to_owned()),
            Err(Broken::Because(complaint)) => Err(complaint.classify().to_string()),
        }
    }

    /// CAL-COM-1: streams and whole answers, as servers write them.
    #[test]
    fn answers_are_read_streamed_or_whole() {
        let streamed = ": OPENROUTER PROCESSING\n\n\
            data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
            event: x\r\ndata:{\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\r\n\r\n\
            data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":null}\n\n\
            data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"b\"}]},\"finish_reason\":\"stop\"}]}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n\
            data: [DONE]\n\nnever read\n";
        assert_eq!(read_body(streamed).unwrap(), "ab<7 3 2><done>");
        let whole =
            "{\n \"choices\": [{\"message\": {\"content\": \"ab\"},\n \"finish_reason\": null}]\n}";
        assert_eq!(read_body(whole).unwrap(), "ab<done>");
    }

    /// CAL-COM-1: an impossible count is not reported, and then estimated.
    #[test]
    fn counts_that_cannot_be_are_not_believed() {
        for usage in [
            r#"{"prompt_tokens":-5,"total_tokens":0}"#,
            r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}"#,
            r#"{"prompt_tokens":7,"completion_tokens":1.5}"#,
        ] {
            let choice = r#"{"message":{"content":"ab"},"finish_reason":"stop"}"#;
            let body = format!("{{\"choices\":[{choice}],\"usage\":{usage}}}\n");
            assert_eq!(read_body(&body).unwrap(), "ab<done>", "{usage}");
        }
    }

    /// CAL-ERR-1, CAL-ERR-2: each kind of body without an answer is reported as what it is.
    #[test]
    fn a_body_without_an_answer_is_reported() {
        for (body, expected) in [
            (
                "",
                "was cut off in the middle of its answer: the stream ended early",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
                "was cut off in the middle of its answer: the stream ended early",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\n",
                "was cut off in the middle of its answer: the model reached its output limit",
            ),
            (
                "data: {\"choices\":[{\"finish_reason\":\"content_filter\"}]}\n\n",
                "refused: the server's content policy withheld the answer",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\
                 data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n",
                "was cut off in the middle of its answer: the server ended it for `error`",
            ),
            (
                "data: {\"choices\":[{\"error\":{\"message\":\"overloaded\",\"code\":529},\
                 \"finish_reason\":\"error\"}]}\n\n",
                "reached an overloaded server: overloaded",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"tool_calls\"}]}\n\n",
                "was cut off in the middle of its answer: the model stopped to call a tool, but none was offered",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0}]},\
                 \"finish_reason\":\"stop\"}]}\n\n",
                "was cut off in the middle of its answer: the model stopped to call a tool, but none was offered",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}]}\n\ndata: [DONE]\n\n",
                "was cut off in the middle of its answer: the server did not say why the model stopped",
            ),
            (
                "data: {\"choices\":[{\"delta\":{\"refusal\":\"I cannot go over the \"}}]}\n\n\
                 data: {\"choices\":[{\"delta\":{\"refusal\":\"rate limit.\"},\"finish_reason\":\"stop\"}]}\n\n",
                "refused: I cannot go over the rate limit.",
            ),
            (
                "data: {\"error\":{\"message\":\"Provider overloaded\",\"code\":502}}\n\n",
                "reached an overloaded server: Provider overloaded",
            ),
            (
                "<html><body>Welcome</body></html>",
                "received an invalid answer from its server: neither events nor JSON: \
                 <html><body>Welcome</body></html>",
            ),
            (
                "data: {\"choices\n\n",
                "received an invalid answer from its server: an invalid event: {\"choices",
            ),
            (
                "{\"ok\":true}",
                "was cut off in the middle of its answer: the stream ended early",
            ),
        ] {
            assert_eq!(read_body(body).unwrap_err(), expected, "{body}");
        }
    }
}
