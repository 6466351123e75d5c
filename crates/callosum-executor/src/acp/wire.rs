//! [`wire`]: filter between an agent's pipes and the library that speaks its protocol.
//!
//! The library takes JSON-RPC to the letter: it answers a line that is no message with an error,
//! and drops an answer whose envelope is not quite one. Agents write both. So the library gets only
//! messages, in the strict form.

use std::{
    borrow::Cow,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_client_protocol::Lines;
use futures_util::{Sink, Stream, sink, stream};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::mpsc::UnboundedSender,
};

use crate::transport::{Event, ReadOutput};

/// The code of an error that has none.
const INTERNAL_ERROR: i64 = -32603;

/// Whether an agent ever wrote a message of its protocol.
#[derive(Clone, Debug, Default)]
pub(super) struct Spoke(Arc<Words>);

#[derive(Debug, Default)]
struct Words {
    any: AtomicBool,
    garbled: AtomicBool,
}

impl Spoke {
    pub(super) fn ever(&self) -> bool {
        self.0.any.load(Ordering::Relaxed)
    }

    /// Whether one of its messages could not be read, since it is not UTF-8.
    pub(super) fn is_garbled(&self) -> bool {
        self.0.garbled.load(Ordering::Relaxed)
    }
}

/// The transport over an agent's output and input: a line for each message.
pub(super) fn wire<R, W>(
    from: R,
    to: W,
    spoke: Spoke,
    tell: UnboundedSender<Event>,
) -> Lines<impl Sink<String, Error = io::Error>, impl Stream<Item = io::Result<String>>>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = BufReader::new(ReadOutput::new(from, tell)).split(b'\n');
    let incoming = stream::try_unfold((lines, spoke), |(mut lines, spoke)| async move {
        while let Some(line) = lines.next_segment().await? {
            if let Some(message) = message(&line) {
                spoke.0.any.store(true, Ordering::Relaxed);
                return Ok(Some((message, (lines, spoke))));
            }
            if is_garbled(&line) {
                spoke.0.garbled.store(true, Ordering::Relaxed);
            }
        }
        Ok(None)
    });
    let outgoing = sink::unfold(to, |mut to, mut line: String| async move {
        line.push('\n');
        to.write_all(line.as_bytes()).await?;
        to.flush().await?;
        Ok(to)
    });
    Lines::new(outgoing, incoming)
}

/// Whether a line would be a message if all of it were UTF-8.
fn is_garbled(line: &[u8]) -> bool {
    match String::from_utf8_lossy(line) {
        Cow::Owned(mended) => message(mended.as_bytes()).is_some(),
        Cow::Borrowed(_) => false,
    }
}

/// Returns the message in a line, in strict JSON-RPC; `None` if it is none.
fn message(line: &[u8]) -> Option<String> {
    let mut envelope: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let is_null =
        |envelope: &Map<String, Value>, key| envelope.get(key).is_some_and(Value::is_null);
    envelope.entry("jsonrpc").or_insert("2.0".into());
    if envelope.contains_key("method") {
        // A message with the id `null` cannot be answered.
        if is_null(&envelope, "id") {
            envelope.shift_remove("id");
        }
        return Some(Value::Object(envelope).to_string());
    }
    envelope.get("id")?;
    if is_null(&envelope, "error") {
        envelope.shift_remove("error");
    }
    match envelope.get_mut("error") {
        Some(error) => {
            if !(error["code"].is_i64() && error["message"].is_string()) {
                let words = error["message"].as_str().or(error.as_str());
                let code = error["code"].as_i64().unwrap_or(INTERNAL_ERROR);
                *error = json!({"code": code, "message": words.unwrap_or_default()});
            }
            envelope.shift_remove("result");
        }
        None => {
            envelope.entry("result").or_insert(Value::Null);
        }
    }
    Some(Value::Object(envelope).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-COM-1: what an agent means is read, though it does not keep to the letter; what is no
    /// message is not.
    #[test]
    fn messages_are_brought_to_the_letter() {
        for (line, read) in [
            (r#"{"method":"m","id":null}"#, Some(json!({"method": "m"}))),
            (
                r#"{"id":"a","result":{},"error":null}"#,
                Some(json!({"id": "a", "result": {}})),
            ),
            (
                r#"{"id":1,"result":null,"error":{"code":-1,"message":"no"}}"#,
                Some(json!({"id": 1, "error": {"code": -1, "message": "no"}})),
            ),
            (
                r#"{"id":1,"error":"no"}"#,
                Some(json!({"id": 1, "error": {"code": INTERNAL_ERROR, "message": "no"}})),
            ),
            (r#"{"id":1}"#, Some(json!({"id": 1, "result": null}))),
            (r#"{"level":"info","message":"starts"}"#, None),
            ("[1]", None),
            ("Welcome!", None),
            ("", None),
        ] {
            let expected = read.map(|mut read| {
                read["jsonrpc"] = "2.0".into();
                read
            });
            let message = message(line.as_bytes());
            let message = message.map(|text| serde_json::from_str::<Value>(&text).unwrap());
            assert_eq!(message, expected, "{line}");
        }
    }

    /// CAL-COM-1: a message that is not UTF-8 is not a message, and it is known that there was one.
    #[test]
    fn a_message_in_another_encoding_is_garbled() {
        let in_latin1 = b"{\"method\": \"m\", \"params\": \"caf\xe9\"}";
        assert_eq!(message(in_latin1), None);
        assert!(is_garbled(in_latin1));
        assert!(!is_garbled(b"caf\xe9"));
        assert!(!is_garbled(br#"{"method": "m"}"#));
    }
}
