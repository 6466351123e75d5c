//! Secrets in text that is itself a string of JSON, of a program, of HTML or of an address, in which quotes are escaped:
//! `{\"password\":\"…\"}`, however often it was put into another string, `\u0022`, `&quot;` and `%22`.

use std::ops::Range;

use super::{find_as_written, kind::Kind};

/// Names and numbers of characters in HTML and XML, in any case.
const ENTITIES: [(&str, char); 8] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#x22;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#039;", '\''),
    ("&#x27;", '\''),
    ("&amp;", '&'),
];

/// Returns true if a text has a quote or a line break that is escaped.
pub(super) fn may_be_in(text: &str) -> bool {
    has_backslash(text) || has_entity(text) || has_number(text)
}

/// Finds secrets in the text as it reads without its escapes. Linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    // Each kind separately: in an address `\` is a letter, in a string of a program `%` is one.
    if has_backslash(text) {
        found.extend(find_with(text, behind_backslashes));
    }
    if has_entity(text) {
        found.extend(find_with(text, entity));
    }
    if has_number(text) {
        found.extend(find_with(text, number));
    }
    found
}

fn has_backslash(text: &str) -> bool {
    let is_one = |pair: &[u8]| pair[0] == b'\\' && (is_escape(pair[1]) || b"ux".contains(&pair[1]));
    text.contains('\\') && text.as_bytes().windows(2).any(is_one)
}

fn has_entity(text: &str) -> bool {
    text.contains("&quot;") || text.contains("&#") || text.contains("&apos;")
}

fn has_number(text: &str) -> bool {
    ["%22", "%27", "%3A", "%3a"]
        .iter()
        .any(|number| text.contains(number))
}

/// Finds secrets in the text without its escapes. `unescape` reads an escape at the beginning of
/// its input, and returns the character, the start of the escape itself, and its end.
fn find_with(
    text: &str,
    unescape: fn(&str) -> Option<(char, usize, usize)>,
) -> Vec<(Range<usize>, Kind)> {
    let mut plain = String::with_capacity(text.len());
    // The position in `text` of each byte of `plain`.
    let mut places: Vec<Range<usize>> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let at = text.len() - rest.len();
        if let Some((unescaped, start, end)) = unescape(rest) {
            plain.push(unescaped);
            places.push(at + start..at + end);
            rest = &rest[end..];
            continue;
        }
        // Backslashes that escape nothing go together, so that each is looked at once.
        let slashes = rest.len() - rest.trim_start_matches('\\').len();
        let length = slashes.max(character.len_utf8());
        plain.push_str(&rest[..length]);
        places.extend((at..at + length).map(|place| place..place + 1));
        rest = &rest[length..];
    }
    let found = find_as_written(&plain).into_iter();
    let found = found.filter(|(at, _)| !at.is_empty());
    let found = found.map(|(at, kind)| (places[at.start].start..places[at.end - 1].end, kind));
    found.collect()
}

/// Reads a quote or a line break after any number of backslashes, or a quote by its number.
fn behind_backslashes(text: &str) -> Option<(char, usize, usize)> {
    let behind = text.trim_start_matches('\\');
    let slashes = text.len() - behind.len();
    if slashes == 0 {
        return None;
    }
    let quote = |length: usize, start: usize| {
        let digits = behind.get(1..length)?;
        let code = u8::from_str_radix(digits, 16).ok()?;
        matches!(code, b'"' | b'\'').then_some((char::from(code), start, slashes + length))
    };
    match *behind.as_bytes().first()? {
        b'u' => quote(5, slashes - 1),
        b'x' => quote(3, slashes - 1),
        byte @ (b'"' | b'\'') => Some((char::from(byte), slashes, slashes + 1)),
        // An escaped line break, of as many bytes, so that a secret that spans it goes whole.
        byte if is_escape(byte) => Some(('\n', slashes, slashes + 1)),
        _ => None,
    }
}

/// Reads the name or the number of a character in HTML.
fn entity(text: &str) -> Option<(char, usize, usize)> {
    let rest = text.starts_with('&').then_some(text)?;
    let is_it = |name: &str| {
        let start = rest.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let found = ENTITIES.iter().find(|(name, _)| is_it(name));
    found.map(|(name, character)| (*character, 0, name.len()))
}

/// Reads a character that an address has by its number.
fn number(text: &str) -> Option<(char, usize, usize)> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let code = u8::from_str_radix(digits, 16).ok()?;
    let is_text = (b' '..=b'~').contains(&code) || matches!(code, b'\t' | b'\n' | b'\r');
    is_text.then_some((char::from(code), 0, 3))
}

/// Returns true for a byte after a backslash in an escaped quote or line break.
fn is_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'n' | b'r' | b't')
}
