//! Ollama's own chat: lines of JSON, and the size of the window with each request.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::{
    client::{Caller, complaint_in},
    finish_reason::{self, CALLS},
    lines::{Broken, Flow, read_lines},
    server::Look,
    worker::Answering,
};
use crate::{
    output_format::{CUT_OFF, ErrorText},
    transport::Event,
};

/// Asks for the version and which models there are.
pub(super) fn look(caller: &Caller) -> Result<Look, ErrorText> {
    let response = caller.get("", "/api/version")?;
    let version = response.get("version").and_then(Value::as_str);
    let listed = caller.get("", "/api/tags")?;
    let models = listed
        .get("models")
        .and_then(Value::as_array)
        .ok_or_else(|| ErrorText::unreadable("its list of models is not a list"))?;
    let names = models
        .iter()
        .filter_map(|model| model.get("name")?.as_str());
    Ok(Look {
        version: version.map(str::to_owned),
        offers: names.map(str::to_owned).collect(),
    })
}

/// Asks a model.
///
/// Sets the size of the window: Ollama silently cuts a prompt that does not fit its default window
/// at the beginning.
pub(super) fn ask(
    caller: &Caller,
    model: &str,
    prompt: &str,
    window: u64,
    answering: &mut Answering<'_>,
) -> Result<(), Broken> {
    let document = json!({
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "stream": true,
        "options": {"num_ctx": window},
    });
    let body = caller.post("", "/api/chat", &document)?;
    let mut ended = None;
    read_lines(body, &mut |line| match line {
        Some(line) => take(line, &mut ended, answering),
        None => Ok(answering.alive()),
    })?;
    end(ended.as_deref(), answering)
}

fn end(ended: Option<&str>, answering: &mut Answering<'_>) -> Result<(), Broken> {
    let reason = ended.ok_or_else(|| ErrorText::of_kind(CUT_OFF, "the stream ended early"))?;
    finish_reason::judge(reason)?;
    answering.done();
    Ok(())
}

/// Takes a line in; `ended` gets the reason once the model is done, or calls for a tool.
fn take(line: &str, ended: &mut Option<String>, answering: &mut Answering<'_>) -> Flow {
    if line.trim().is_empty() {
        return Ok(answering.alive());
    }
    let value: Value = serde_json::from_str(line)
        .map_err(|_| ErrorText::unreadable(&format!("an invalid line: {line}")))?;
    if value.get("error").is_some() {
        let complaint = complaint_in(&value);
        return Err(complaint
            .unwrap_or_else(|| ErrorText::unreadable("an error without a message"))
            .into());
    }
    let string = |way: &str| value.pointer(way).and_then(Value::as_str);
    if let Some(model) = string("/model") {
        answering.model(model);
    }
    if string("/message/thinking").is_some_and(|thoughts| !thoughts.is_empty()) {
        answering.thinking();
    }
    let flow = answering.text(string("/message/content").unwrap_or_default())?;
    let calls = value
        .pointer("/message/tool_calls")
        .and_then(Value::as_array);
    // Its own reason for the end is `stop` all the same.
    if calls.is_some_and(|calls| !calls.is_empty()) {
        *ended = Some(CALLS[0].to_owned());
    }
    if value.get("done").and_then(Value::as_bool) != Some(true) {
        return Ok(flow);
    }
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    if let Some(output) = count("eval_count") {
        let _counted = answering.tell(Event::Usage {
            // Older versions do not count tokens that are cached from an earlier request.
            input: count("prompt_eval_count").unwrap_or(0),
            cached: 0,
            output,
        });
    }
    // Older ones give none.
    let reason = string("/done_reason").filter(|reason| !reason.is_empty());
    ended.get_or_insert_with(|| reason.unwrap_or("stop").to_owned());
    Ok(ControlFlow::Break(()))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn read_body(body: &str) -> Result<String, String> {
        let mut texts = String::new();
        let mut tell = |event: Event| {
            match event {
                Event::Text { text } => texts.push_str(&text),
                Event::Usage { input, output, .. } => {
                    let _ = write!(texts, "<{input} {output}>");
                }
                Event::Done => texts.push_str("<done>"),
                _ => {}
            }
            true
        };
        let mut answering = Answering::new(&mut tell);
        let mut ended = None;
        let read = read_lines(body.as_bytes(), &mut |line| match line {
            Some(line) => take(line, &mut ended, &mut answering),
            None => Ok(answering.alive()),
        })
        .and_then(|()| end(ended.as_deref(), &mut answering));
        match read {
            Ok(()) => Ok(texts),
            Err(Broken::TooMuch) => Err("too much".to_owned()),
            Err(Broken::Because(complaint)) => Err(complaint.classify().to_string()),
        }
    }

    /// CAL-COM-1, CAL-ERR-1: lines of an answer, and what is none.
    #[test]
    fn lines_are_an_answer_or_say_why_not() {
        let line = |text: &str| {
            format!("{{\"model\":\"m\",\"message\":{{\"content\":\"{text}\"}},\"done\":false}}\n")
        };
        let last = |why: &str| {
            format!(
                "{{\"message\":{{\"content\":\"\"}},\"done\":true,\"done_reason\":\"{why}\",\
                 \"prompt_eval_count\":7,\"eval_count\":2}}\n"
            )
        };
        let body = format!("{}{}{}", line("a"), line("b"), last("stop"));
        assert_eq!(read_body(&body).unwrap(), "ab<7 2><done>");
        let body = format!("{}{}", line("a"), last("length"));
        assert!(read_body(&body).unwrap_err().contains("its output limit"));
        for (why, says) in [
            ("error", "the server ended it for `error`"),
            (
                "content_filter",
                "refused: the server's content policy withheld",
            ),
            ("load", "the server ended it for `load`"),
        ] {
            let message = read_body(&format!("{}{}", line("a"), last(why))).unwrap_err();
            assert!(message.contains(says), "{why}: {message}");
        }
        let call =
            "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]}}\n";
        let calls = read_body(&format!("{}{call}{}", line("a"), last("stop"))).unwrap_err();
        assert!(calls.contains("to call a tool"), "{calls}");
        assert!(
            read_body(&line("a"))
                .unwrap_err()
                .contains("the stream ended early")
        );
        assert_eq!(
            read_body("{\"error\":\"model 'x' not found\"}\n").unwrap_err(),
            "failed: model 'x' not found"
        );
        assert!(
            read_body("garbage\n")
                .unwrap_err()
                .contains("an invalid line: garbage")
        );
    }
}
