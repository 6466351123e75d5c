//! Secrets in the query of an address, in which any letter may be percent-encoded:
//! `?password=Gt6%40x`, and the key of a second factor: `otpauth://…?secret=…`.

use std::{ops::Range, sync::LazyLock};

use percent_encoding::percent_decode_str;
use regex::Regex;

use super::{
    entropy::{is_jumbled, is_of_words},
    kind::Kind,
    placeholder::is_placeholder,
    unquoted::is_identifier,
};

/// A name of a secret within a query, and its value: group 2. Group 1 is a name that may also be
/// that of a step or of something hidden.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:[?&](?:[a-z]{1,16}[_.-]){0,2}(?:password|passwd|passphrase|pwd|(pass|secret))=)",
        r"([A-Za-z0-9%._~+!*@$-]{6,512})",
    ))
    .expect("the expression is valid")
});

/// The key of a second factor, in base 32.
static SECOND_FACTOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u:\botpauth://[!-~]{1,512}?[?&]secret=)([A-Za-z2-7=%]{8,512})")
        .expect("the expression is valid")
});

pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let lower = text.to_ascii_lowercase();
    let is_there = |names: &[&str]| names.iter().any(|name| lower.contains(name));
    let mut found = Vec::new();
    if text.contains(['?', '&']) && is_there(&["pass", "pwd=", "secret="]) {
        let values = PARAMETER.captures_iter(text).filter_map(|all| {
            let may_be_a_word = all.get(1).is_some();
            let value = all.get(2)?;
            let is_a_word = may_be_a_word && is_identifier(value.as_str());
            (!is_a_word && is_secret(value.as_str())).then_some(value)
        });
        found.extend(values.map(|value| (value.range(), Kind::Assigned)));
    }
    if is_there(&["otpauth://"]) {
        let values = SECOND_FACTOR
            .captures_iter(text)
            .filter_map(|all| all.get(1));
        let values = values.filter(|value| !is_placeholder(value.as_str()));
        found.extend(values.map(|value| (value.range(), Kind::Assigned)));
    }
    found
}

/// Whether a value is a secret: letters and digits, or marks that are written by their numbers; or letters that are a password.
fn is_secret(value: &str) -> bool {
    const SHORTEST: usize = 6;
    let (plain, marks) = decoded(value);
    let has = |what: fn(&u8) -> bool| plain.bytes().any(|byte| what(&byte));
    let is_mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    let is_marked = marks > 0 && has(u8::is_ascii_alphabetic);
    plain.len() >= SHORTEST
        && !is_placeholder(value)
        && (is_mixed || is_marked || is_jumbled(&plain) || is_of_words(&plain))
}

/// Returns the value with each letter that is written by its number as that letter (`?` outside
/// ASCII), and how many of these there are.
fn decoded(value: &str) -> (String, usize) {
    let bytes: Vec<u8> = percent_decode_str(value).collect();
    // Each escape is three bytes of the value for one byte.
    let marks = (value.len() - bytes.len()) / 2;
    let letter = |byte: &u8| {
        if byte.is_ascii() {
            char::from(*byte)
        } else {
            '?'
        }
    };
    (bytes.iter().map(letter).collect(), marks)
}
