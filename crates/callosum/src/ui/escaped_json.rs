//! [`Writer`]: JSON on its way out, with what a terminal would obey in it escaped.

use std::io::{self, Write};

use callosum_redact::terminal_escape::in_json;

/// Passes on the output of `serde_json`, which writes whole characters.
#[derive(Debug)]
pub(super) struct Writer<W>(pub(super) W);

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(in_json(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-SEC-1: text of others is data to a program that reads it, and inert in a terminal that
    /// shows it.
    #[test]
    fn what_a_terminal_would_obey_is_escaped_as_it_is_written() {
        let mut written = Vec::new();
        let value = serde_json::json!({"a\u{9b}": ["\u{9b}31m", "\u{202e}", "é"]});
        serde_json::to_writer(Writer(&mut written), &value).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!(text, r#"{"a\u009b":["\u009b31m","\u202e","é"]}"#);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
