//! Passwords with a blank in them, in quotes: `"password": "hunter two Xkq9"`.
//!
//! Most quoted texts after such a name are messages. So one part of the value must not be a word,
//! and none may be a word of a sentence.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{assignments::may_name_one, kind::Kind, placeholder::is_placeholder};

/// The name of a password, a mark, and a value in quotes: group 1 or 2.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:password|passwd|passphrase|pwd|passwort|kennwort)",
        r#"["']?[ \t]{0,8}(?::=|=>|:|=)[ \t]{0,8}"#,
        r#"(?:"([^"\r\n\\]{8,128})"|'([^'\r\n\\]{8,128})')"#,
    ))
    .expect("the expression is valid")
});

/// More words are a sentence.
const MOST_WORDS: usize = 6;

/// Words of messages and of descriptions.
const OF_SENTENCES: [&str; 40] = [
    "a",
    "an",
    "and",
    "are",
    "at",
    "be",
    "by",
    "can",
    "cannot",
    "change",
    "characters",
    "check",
    "confirm",
    "do",
    "does",
    "enter",
    "for",
    "forgot",
    "from",
    "has",
    "in",
    "invalid",
    "is",
    "least",
    "must",
    "need",
    "new",
    "no",
    "not",
    "of",
    "or",
    "please",
    "should",
    "the",
    "this",
    "to",
    "use",
    "with",
    "wrong",
    "your",
];

/// Parts of words that describe a value.
const ABOUT: [&str; 12] = [
    "pass", "pwd", "secret", "hash", "encod", "encrypt", "base64", "field", "input", "argon",
    "kdf", "word",
];

/// Finds passwords. Linear in the length of the text.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    if !may_name_one(text) {
        return Vec::new();
    }
    let values = ASSIGNMENT
        .captures_iter(text)
        .filter_map(|all| all.get(1).or_else(|| all.get(2)));
    let values = values.filter(|value| is_password(value.as_str()));
    values
        .map(|value| (value.range(), Kind::Assigned))
        .collect()
}

fn is_password(value: &str) -> bool {
    let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
    let lower = value.to_ascii_lowercase();
    let is_sentence = |word: &&str| OF_SENTENCES.contains(&word.to_ascii_lowercase().as_str());
    (2..=MOST_WORDS).contains(&words.len())
        && words.iter().any(|word| is_mixed(word))
        && !words.iter().any(is_sentence)
        && !ABOUT.iter().any(|about| lower.contains(about))
        && !value.contains(['{', '$', '<', '%', '(', '/'])
        && !is_placeholder(value)
}

/// Whether a word has small letters, capitals and digits, and is not a name with a number after it,
/// such as `Version2`.
fn is_mixed(word: &str) -> bool {
    let has = |what: fn(&u8) -> bool| word.bytes().any(|byte| what(&byte));
    let is_mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_numbered = name.len() > 3 && name.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    word.len() >= 4 && is_mixed && !is_numbered
}
