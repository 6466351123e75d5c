//! The object that an event is, even if a client writes half a surrogate pair.
//!
//! Clients in JavaScript may cut a text within a surrogate pair and write one half escaped
//! (`\ud83d`), which is no character. The text around it is still read, with the replacement
//! character in its place.

use serde_json::{Map, Value};

use super::Unreadable;

/// Reads an event's fields.
pub(in crate::hook) fn fields(bytes: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    // A byte order mark is no JSON; the clients are written in languages that may add one.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let read = serde_json::from_slice(bytes).or_else(|error| match without_halves(bytes) {
        Some(bytes) => serde_json::from_slice(&bytes),
        None => Err(error),
    });
    match read {
        Ok(Value::Object(fields)) => Ok(fields),
        Err(error) if error.to_string().starts_with("recursion limit") => Err(Unreadable::TooDeep),
        Ok(_) | Err(_) => Err(Unreadable::NotAnObject),
    }
}

/// Returns the text with a whole character for each half of one, if there are any.
fn without_halves(bytes: &[u8]) -> Option<Vec<u8>> {
    const WHOLE: &[u8] = b"\\ufffd";
    let mut text = Vec::with_capacity(bytes.len());
    let (mut rest, mut found) = (bytes, false);
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (taken, put): (usize, &[u8]) = match (escaped(rest), rest.get(6..).and_then(escaped)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, &rest[..12]),
            (Some(0xd800..=0xdfff), _) => (6, WHOLE),
            _ => {
                let two = rest.len().min(2);
                (two, &rest[..two])
            }
        };
        found |= taken == 6;
        text.extend_from_slice(put);
        rest = &rest[taken..];
    }
    text.extend_from_slice(rest);
    found.then_some(text)
}

/// The number of a character that is written as `\uXXXX` at the beginning.
fn escaped(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}
