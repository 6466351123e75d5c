//! Secrets in text that is itself a string of JSON or of a program, in which quotes are escaped:
//! `{\"password\":\"…\"}`, however often it was put into another string.

use std::ops::Range;

use super::{find_as_written, kind::Kind};

/// Returns true if a text has a quote or a line break that is escaped.
pub(super) fn may_be_in(text: &str) -> bool {
    text.contains('\\')
        && text
            .as_bytes()
            .windows(2)
            .any(|pair| is_escape(pair[1]) && pair[0] == b'\\')
}

/// Finds secrets in the text as it reads without its escapes. Linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut plain = String::with_capacity(text.len());
    // For each byte of `plain`, where it is in `text`.
    let mut places = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let at = text.len() - rest.len();
        let behind = rest.trim_start_matches('\\');
        let slashes = rest.len() - behind.len();
        let next = behind
            .bytes()
            .next()
            .filter(|byte| slashes > 0 && is_escape(*byte));
        match next {
            Some(quote @ (b'"' | b'\'')) => {
                plain.push(char::from(quote));
                places.push(at + slashes);
                rest = &behind[1..];
            }
            // An escaped line break, of as many bytes, so that a secret that spans it goes whole.
            Some(_) => {
                plain.push('\n');
                places.push(at + slashes);
                rest = &behind[1..];
            }
            None if slashes > 0 => {
                plain.push_str(&rest[..slashes]);
                places.extend(at..at + slashes);
                rest = behind;
            }
            None => {
                plain.push(character);
                places.extend(at..at + character.len_utf8());
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    let found = find_as_written(&plain).into_iter();
    let found = found.filter(|(at, _)| !at.is_empty());
    let found = found.map(|(at, kind)| (places[at.start]..places[at.end - 1] + 1, kind));
    found.collect()
}

/// Returns true for what follows a backslash in an escaped quote or line break.
fn is_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'n' | b'r' | b't')
}
