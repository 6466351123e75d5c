//! [`Frame`]: an event as it goes out, written once for all who hear it.

use std::cell::OnceCell;

use callosum_mesh::event::Event;
use tokio_tungstenite::tungstenite::{Bytes, Utf8Bytes};

/// An event, and the forms that it goes out in, each made when the first asks for it.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) event: Event,
    /// Bytes of the event as JSON; what a queue counts.
    json: String,
    stream: OnceCell<Bytes>,
    bus: OnceCell<Utf8Bytes>,
}

impl Frame {
    pub(super) fn new(event: Event) -> Self {
        let json = serde_json::to_string(&event).expect("an event can be written as JSON");
        Self {
            event,
            json,
            stream: OnceCell::new(),
            bus: OnceCell::new(),
        }
    }

    /// Its bytes.
    pub(super) fn len(&self) -> usize {
        self.json.len()
    }

    /// As an event of a stream (SSE). One that is kept nowhere has no id to come back to.
    pub(super) fn stream(&self) -> Bytes {
        let made = self.stream.get_or_init(|| {
            let Event { seq, origin, .. } = &self.event;
            let json = &self.json;
            let text = match seq {
                0 => format!("data: {json}\n\n"),
                seq => format!("id: {origin}:{seq}\ndata: {json}\n\n"),
            };
            text.into()
        });
        made.clone()
    }

    /// As a message of the bus.
    pub(super) fn bus(&self) -> Utf8Bytes {
        let made = self.bus.get_or_init(|| {
            let Event { seq, origin, .. } = &self.event;
            let json = &self.json;
            let text = match seq {
                0 => format!("{{\"op\":\"event\",\"cursor\":null,\"event\":{json}}}"),
                seq => {
                    format!("{{\"op\":\"event\",\"cursor\":\"{origin}:{seq}\",\"event\":{json}}}")
                }
            };
            text.into()
        });
        made.clone()
    }
}
