//! Messages for Discord's webhooks: events as lines of one message, as many as fit.

use callosum_mesh::event::Event;
use callosum_redact::terminal_escape::on_one_line;
use serde_json::{Value, json};

/// Most of a message's content, in units of UTF-16: what Discord allows, counted in the way that gives the larger number.
const LONGEST: usize = 2000;

/// Most characters of a line.
const LONGEST_LINE: usize = 300;

/// Discord shows no preview of what a message links to.
const WITHOUT_PREVIEWS: u64 = 1 << 2;

/// A message that is being made.
#[derive(Debug, Default)]
pub(super) struct Content {
    text: String,
    units: usize,
}

impl Content {
    /// Adds an event as a line; whether there was room. The first always finds some.
    pub(super) fn add(&mut self, event: &Event) -> bool {
        self.add_line(&line(event))
    }

    /// Adds a line with other information. Returns whether it fits.
    pub(super) fn add_line(&mut self, line: &str) -> bool {
        let units = line.encode_utf16().count() + 1;
        if self.units + units > LONGEST {
            return false;
        }
        self.units += units;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the document to post. It mentions no one, no matter what the events contain.
    pub(super) fn document(&self) -> Value {
        json!({
            "content": self.text.trim_end(),
            "allowed_mentions": { "parse": [] },
            "flags": WITHOUT_PREVIEWS,
        })
    }
}

/// Returns an event on one line, with all markup escaped.
fn line(event: &Event) -> String {
    let Event {
        timestamp,
        source,
        topic,
        payload,
        ..
    } = event;
    let payload = Value::Object(payload.clone()).to_string();
    let mut shown: String = on_one_line(&payload).chars().take(LONGEST_LINE).collect();
    if shown.len() < payload.len() {
        shown.push('…');
    }
    let plain = plain(&format!("{timestamp:.0} {source} {topic} {shown}"));
    let mut line: String = plain.chars().take(LONGEST_LINE * 2).collect();
    if line.len() < plain.len() {
        line.push('…');
    }
    line
}

/// The same text, where Discord would read marks.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(
            sign,
            '\\' | '*' | '_' | '~' | '`' | '|' | '>' | '<' | '#' | '[' | ']' | '(' | ')' | '@'
        ) {
            plain.push('\\');
        }
        plain.push(sign);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Event {
        serde_json::from_value(json!({
            "seq": 1, "origin": "o", "id": "i", "type": "a.b", "event": "a.b", "source": "codex",
            "machine": "m", "timestamp": "2026-01-02T03:04:05Z", "ts": 1.0, "session_id": null,
            "pane_id": null, "cwd": null, "payload": {"text": text},
        }))
        .unwrap()
    }

    /// CALC-L1-1: a message has at most 2,000 characters, mentions no one and obeys nothing that an
    /// event says.
    #[test]
    fn a_message_is_bounded_and_mentions_no_one() {
        let mut content = Content::default();
        let hostile = event("@everyone <@1> **x** \u{1b}[2J\n[a](https://evil.example) \u{1f600}");
        let mut lines = 0;
        while content.add(&hostile) {
            lines += 1;
        }
        assert!(lines > 5, "{lines}");
        let document = content.document();
        let text = document["content"].as_str().unwrap();
        assert!(text.encode_utf16().count() <= LONGEST);
        assert_eq!(text.lines().count(), lines);
        assert!(
            !text.contains(" @everyone") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(text.contains("\\@everyone \\<\\@1\\> \\*\\*x"), "{text}");
        assert_eq!(document["allowed_mentions"], json!({"parse": []}));
        let mut long = Content::default();
        assert!(
            long.add(&event(&"\u{1f600}*".repeat(60_000))),
            "the first finds room"
        );
    }
}
