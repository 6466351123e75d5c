//! [`EncodedEvent`]: an event as it goes out, written once for all who hear it.

use callosum_mesh::event::Event;
use callosum_redact::terminal_escape::in_json;
use hyper::body::Bytes;
use tokio_tungstenite::tungstenite::Utf8Bytes;

/// Text after the event in a message of the bus.
const END: &str = "}";

/// Text after it in a stream.
pub(super) const STREAM_END: &str = "\n\n";

/// An event, and its text.
#[derive(Debug)]
pub(super) struct EncodedEvent {
    pub(super) event: Event,
    /// A message of the bus.
    bus: Utf8Bytes,
    /// Start of the event's own JSON in it.
    json: usize,
}

impl EncodedEvent {
    pub(super) fn new(event: Event) -> Self {
        let Event { seq, origin, .. } = &event;
        let mut bus = match seq {
            0 => "{\"op\":\"event\",\"cursor\":null,\"event\":".to_owned(),
            seq => format!("{{\"op\":\"event\",\"cursor\":\"{origin}:{seq}\",\"event\":"),
        };
        let json = bus.len();
        let text = serde_json::to_string(&event).expect("an event can be written as JSON");
        bus.push_str(&in_json(&text));
        bus.push_str(END);
        bus.shrink_to_fit();
        Self {
            event,
            bus: bus.into(),
            json,
        }
    }

    /// The event as JSON.
    fn json(&self) -> &str {
        let text = self.bus.as_str();
        &text[self.json..text.len() - END.len()]
    }

    /// The bytes of that; what a queue counts.
    pub(super) fn len(&self) -> usize {
        self.json().len()
    }

    /// Writes it as an event of a stream (SSE).
    pub(super) fn write_stream(&self, to: &mut String) {
        self.begin_stream(to);
        to.push_str(self.json());
        to.push_str(STREAM_END);
    }

    /// Writes what comes before its JSON there. One that is kept nowhere has no id to come back to.
    pub(super) fn begin_stream(&self, to: &mut String) {
        let Event { seq, origin, .. } = &self.event;
        if *seq > 0 {
            to.push_str("id: ");
            to.push_str(origin);
            to.push(':');
            to.push_str(&seq.to_string());
            to.push('\n');
        }
        to.push_str("data: ");
    }

    /// Its JSON; all who hear it share the bytes.
    pub(super) fn shared_json(&self) -> Bytes {
        let text = Bytes::from(self.bus.clone());
        text.slice(self.json..text.len() - END.len())
    }

    /// As a message of the bus; all who hear it share the text.
    pub(super) fn bus(&self) -> Utf8Bytes {
        self.bus.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// CALC-L2-1: the forms of an event hold the same event, whose text is in memory once.
    #[test]
    fn both_forms_of_an_event_are_of_one_text() {
        for (seq, cursor) in [(7, json!("o:7")), (0, Value::Null)] {
            let value = json!({
                "seq": seq, "origin": "o", "id": "i", "type": "a.b", "event": "a.b", "source": "codex",
                "machine": "m", "timestamp": "2026-01-02T03:04:05Z", "ts": 1.0, "session_id": null,
                "pane_id": null, "cwd": null, "payload": {"text": "a \"quoted\" } one"},
            });
            let event: Event = serde_json::from_value(value).unwrap();
            let text = serde_json::to_string(&event).unwrap();
            let frame = EncodedEvent::new(event);
            assert_eq!(frame.len(), text.len());
            let mut stream = String::new();
            frame.write_stream(&mut stream);
            let id = if seq == 0 { "" } else { "id: o:7\n" };
            assert_eq!(stream, format!("{id}data: {text}\n\n"));
            assert_eq!(frame.shared_json(), text.as_bytes());
            assert!(frame.shared_json().as_ptr() == frame.json().as_ptr());
            let bus: Value = serde_json::from_str(frame.bus().as_str()).unwrap();
            let event: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                bus,
                json!({"op": "event", "cursor": cursor, "event": event})
            );
        }
    }
}
