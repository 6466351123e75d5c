//! The models that another Callosum serves: `POST /v1/infer`, one JSON document each way.
//!
//! The daemon's side is `callosum-daemon`. The answer comes whole, so until it comes there is no sign of life but the
//! connection.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::{
    client::Caller,
    lines::{Broken, read_lines},
    server::Look,
    worker::Answering,
};
use crate::{
    output_format::ErrorText,
    protocol::AnswerForm,
    transport::{Event, Job},
};

/// Most tokens that a reply is believed to have used.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Most US dollars that a reply is believed to have cost.
const MOST_USD: f64 = 10_000.0;

/// Asks which models are served.
pub(super) fn look(caller: &Caller) -> Result<Look, ErrorText> {
    let listed = caller.get("", "/v1/models")?;
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

/// Asks the model that a job names.
pub(super) fn ask(
    caller: &Caller,
    job: &Job,
    prompt: &str,
    form: &AnswerForm,
    answering: &mut Answering<'_>,
) -> Result<(), Broken> {
    let document = json!({
        "model": job.model,
        "prompt": prompt,
        "schema": form.schema,
        "grammar": form.grammar,
        "max_tokens": form.max_tokens,
        "deadline_ms": job.limits.total_ms,
    });
    let body = caller.post("", "/v1/infer", &document)?;
    let mut text = String::new();
    read_lines(body, &mut |line| {
        if let Some(line) = line {
            text.push_str(line);
            text.push('\n');
        }
        Ok(answering.alive())
    })?;
    reply(&text, answering)
}

/// Reads the reply: its text, and its usage and cost if these are plausible.
fn reply(text: &str, answering: &mut Answering<'_>) -> Result<(), Broken> {
    let value: Value = serde_json::from_str(text).map_err(|_| {
        let start: String = text.trim().chars().take(200).collect();
        ErrorText::unreadable(&format!("not the JSON of a reply: {start}"))
    })?;
    let Some(words) = value.get("text").and_then(Value::as_str) else {
        return Err(ErrorText::unreadable("a reply without `text`").into());
    };
    if let Some(model) = value.get("model").and_then(Value::as_str) {
        answering.model(model);
    }
    let tokens = value.pointer("/usage/tokens").and_then(Value::as_u64);
    if let Some(input) = tokens.filter(|tokens| (1..=MOST_TOKENS).contains(tokens)) {
        let _goes_on = answering.tell(Event::Usage {
            input,
            cached: 0,
            output: 0,
        });
    }
    let cost = value.get("cost_usd").and_then(Value::as_f64);
    if let Some(usd) = cost.filter(|usd| (0.0..=MOST_USD).contains(usd)) {
        let _goes_on = answering.tell(Event::Cost { usd });
    }
    if answering.text(words)? == ControlFlow::Continue(()) {
        answering.done();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events_of(text: &str) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        let mut tell = |event: Event| {
            events.push(event);
            true
        };
        let read = reply(text, &mut Answering::new(&mut tell));
        match read {
            Ok(()) => Ok(events),
            Err(Broken::TooMuch) => Err("too much".to_owned()),
            Err(Broken::Because(complaint)) => Err(complaint.words),
        }
    }

    /// CCOS-MOD-1: a reply has its usage and cost; numbers that cannot be true are not believed.
    #[test]
    fn a_reply_is_read_with_its_usage_and_cost() {
        let text = r#"{"text": "pong", "model": "qwen", "usage": {"tokens": 12}, "cost_usd": 0.5, "latency_ms": 3}"#;
        let events = events_of(text).unwrap();
        assert!(events.contains(&Event::Cost { usd: 0.5 }));
        assert!(
            events
                .iter()
                .any(|event| matches!(event, Event::Usage { input: 12, .. }))
        );
        assert_eq!(events.last(), Some(&Event::Done));
        let odd = r#"{"text": "", "usage": {"tokens": -1}, "cost_usd": -3}"#;
        let events = events_of(odd).unwrap();
        assert!(
            !events
                .iter()
                .any(|event| matches!(event, Event::Cost { .. } | Event::Usage { .. }))
        );
    }

    /// CCOS-MOD-1: prose, half a document and another document are no reply.
    #[test]
    fn what_is_no_reply_is_refused() {
        for text in [
            "",
            "Here you are: pong",
            "{\"text\": \"po",
            "{\"reply\": \"pong\"}",
            "[]",
        ] {
            assert!(events_of(text).is_err(), "{text}");
        }
        let long = json!({"text": "x".repeat(10 << 20)}).to_string();
        assert_eq!(events_of(&long).unwrap_err(), "too much");
    }
}
