//! Passwords with blanks in them, which only quotes hold together, and values between two tags.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    assignments::{BARE_BITS, QUOTED_BITS, is_name, is_place, is_secret, may_name_one},
    entropy::{is_jumbled, is_of_words},
    kind::Kind,
};

/// A name of a password, a mark, and a text in quotes.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:password|passwd|passphrase|pwd|passwort|kennwort)[\x22']?[ \t]{0,8}[:=][ \t]{0,8}",
        r"(?:\x22([^\x22\r\n]{12,128})\x22|'([^'\r\n]{12,128})')",
    ))
    .expect("the expression is valid")
});

/// A tag with the name of a secret, and the text up to the next one.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:<[a-z0-9_.:-]{0,32}(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key)",
        r"(?:[ \t][ -;=?-~]{0,128})?>)[ \t]*([!-;=?-~]{8,512})[ \t]*</",
    ))
    .expect("the expression is valid")
});

/// Words that sentences have and passwords have not.
const OF_SENTENCES: [&str; 40] = [
    "the", "this", "that", "your", "you", "are", "was", "must", "not", "and", "for", "with",
    "from", "have", "has", "can", "cannot", "should", "please", "enter", "use", "new", "old",
    "confirm", "least", "than", "too", "password", "required", "invalid", "wrong", "forgot",
    "reset", "change", "set", "bitte", "das", "der", "die", "und",
];

pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    if !may_name_one(text) {
        return Vec::new();
    }
    let quoted = QUOTED.captures_iter(text).filter_map(|captures| {
        let value = captures.get(1).or_else(|| captures.get(2))?;
        is_phrase(value.as_str()).then(|| (value.range(), Kind::Assigned))
    });
    let tagged = TAGGED.captures_iter(text).filter_map(|captures| {
        let value = captures.get(1)?;
        let phrase = value.as_str();
        let is_known = is_secret(phrase, QUOTED_BITS) && !is_name(phrase);
        let is_one =
            (is_known || is_jumbled(phrase) || is_of_words(phrase)) && !is_place("", "", phrase);
        is_one.then(|| (value.range(), Kind::Assigned))
    });
    quoted.chain(tagged).collect()
}

/// Whether a text with blanks reads like a password: a word of it is random, or it is some words that make no sentence.
fn is_phrase(text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    if words.len() < 2 {
        return false;
    }
    let is_random =
        |word: &&str| word.len() >= 10 && is_secret(word, BARE_BITS - 0.5) && !is_name(word);
    let is_plain = |word: &&str| {
        word.len() >= 3
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !OF_SENTENCES.contains(word)
    };
    words.iter().any(is_random) || words.len() >= 4 && words.iter().all(is_plain)
}
