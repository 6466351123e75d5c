//! Passwords and keys without a digit to identify them: letters that make no word, and compound
//! words.
//!
//! Names of types and of functions are compound words as well. A value that only a name next to it
//! marks as a secret must meet stricter conditions than one at a place where only a password can
//! be.

use super::{bigrams, placeholder::is_placeholder};

/// Words of program names, used when no digit is next to their letters.
const OF_NAMES: [&str; 67] = [
    "pass",
    "pwd",
    "secret",
    "key",
    "token",
    "hash",
    "field",
    "input",
    "user",
    "string",
    "bytes",
    "value",
    "text",
    "option",
    "type",
    "error",
    "state",
    "config",
    "provider",
    "service",
    "handler",
    "builder",
    "factory",
    "manager",
    "request",
    "response",
    "model",
    "schema",
    "control",
    "component",
    "connection",
    "template",
    "event",
    "bean",
    "portal",
    "context",
    "props",
    "param",
    "policy",
    "valid",
    "generat",
    "subject",
    "buffer",
    "reader",
    "writer",
    "director",
    "path",
    "name",
    "enum",
    "info",
    "data",
    "item",
    "list",
    "array",
    "iterat",
    "auth",
    "account",
    "login",
    "credential",
    "form",
    "encrypt",
    "column",
    "object",
    "null",
    "function",
    "method",
    "class",
];

/// Words in the place of a password that describe it.
const STATUS_WORDS: [&str; 21] = [
    "required",
    "optional",
    "incorrect",
    "undefined",
    "disabled",
    "enabled",
    "whatever",
    "anything",
    "something",
    "default",
    "redacted",
    "unchanged",
    "forgotten",
    "development",
    "production",
    "staging",
    "postgres",
    "rabbitmq",
    "administrator",
    "database",
    "localhost",
];

/// Whether letters are arranged as in no compound word: letter pairs are as in no word, or capitals
/// alternate with other letters and are not at the start of words.
pub(super) fn is_jumbled(value: &str) -> bool {
    const SHORTEST: usize = 10;
    let [capitals, small, others] = counted(value);
    let is_mixed = others == 0 && small > 1 && capitals * 5 >= value.len() * 2;
    value.len() >= SHORTEST && (is_mixed || small > 1 && bigrams::is_random(value))
}

/// Whether it is as long as a key, and as jumbled; a key may have the marks of base64.
pub(super) fn is_jumbled_key(value: &str) -> bool {
    const SHORTEST: usize = 16;
    /// A shorter one is a key if its letters are next to each other as in no word.
    const SHORTEST_RANDOM: usize = 12;
    if value.len() >= SHORTEST_RANDOM && bigrams::is_random(value) {
        return !is_placeholder(value);
    }
    let letters = value.replace(['+', '/', '='], "");
    let [capitals, small, others] = counted(&letters);
    let changes = letters.as_bytes().windows(2);
    let changes =
        changes.filter(|pair| pair[0].is_ascii_uppercase() != pair[1].is_ascii_uppercase());
    let is_mixed = [capitals, small]
        .iter()
        .all(|many| many * 3 >= letters.len());
    others == 0
        && letters.len() >= SHORTEST
        && is_mixed
        && changes.count() * 3 >= letters.len()
        && !is_placeholder(value)
}

/// Whether a value is a password of words, however it is marked: three or more of them, each with a
/// capital; two with a mark between them that no name has; or so many small letters that no name
/// has as many.
pub(super) fn is_of_words(value: &str) -> bool {
    const SHORTEST: usize = 12;
    const NO_WORD: usize = 20;
    let [capitals, small, others] = counted(value);
    if value.len() < SHORTEST || small == 0 || !may_be_words(value) {
        return false;
    }
    let is_marked = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'!');
    match (capitals, others) {
        (0, 0) => value.len() >= NO_WORD,
        (_, 0) => {
            let starts = value.split(|c: char| c.is_ascii_lowercase());
            let starts = starts.filter(|start| !start.is_empty());
            value.starts_with(|c: char| c.is_ascii_uppercase())
                && starts.clone().all(|start| start.len() == 1)
                && starts.count() >= 3
        }
        _ => is_marked && value.trim_matches('!').contains('!'),
    }
}

/// Whether a word is a password in a place where nothing else can be: after the variable or the
/// option for one.
pub(super) fn is_a_word(value: &str) -> bool {
    const SHORTEST: usize = 8;
    let [_, small, others] = counted(value);
    others == 0 && small > 0 && value.len() >= SHORTEST && may_be_words(value)
}

/// The same for a word with a capital, since an option in lowercase may be joined to another word.
pub(super) fn is_a_name(value: &str) -> bool {
    is_a_word(value) && value.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn may_be_words(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    !is_placeholder(value)
        && !STATUS_WORDS.contains(&lower.as_str())
        && !OF_NAMES.iter().any(|word| lower.contains(word))
}

/// Returns the numbers of capitals, small letters and others, in bytes.
fn counted(value: &str) -> [usize; 3] {
    let capitals = value.bytes().filter(u8::is_ascii_uppercase).count();
    let small = value.bytes().filter(u8::is_ascii_lowercase).count();
    [capitals, small, value.len() - capitals - small]
}
