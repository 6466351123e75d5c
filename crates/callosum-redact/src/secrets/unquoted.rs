//! Passwords without quotes, as settings and environments have them: `password: hunter22hunter`;
//! and in prose: `the password for ana is hunter22hunter`.
//!
//! The same place in a program has a type, a variable or a call, and those stay: a value that reads
//! like one of them is none. Keys and tokens, which are longer, are recognized in `assignments`.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    assignments::{BARE_BITS, is_name, is_place, is_secret, may_name_one},
    entropy::{is_a_name, is_a_word, is_jumbled, is_of_words},
    kind::Kind,
    placeholder::is_placeholder,
};

/// A name of a password, a mark, and a word after it, up to a blank or the end of the line.
///
/// Group 1 is the identifying part of the name, group 2 the mark with its blanks, group 3 the
/// value.
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?m-u)((?i:password|passwd|passphrase|pwd|passwort|kennwort|wachtwoord|contrase(?:n|(?u:ñ))a|senha|mot de passe",
        r"|[_.-](?:pass|pw)|\bpass)|(?u:[Пп]ароль|密码|密碼|パスワード|비밀번호))([ \t]{0,8}(?:[:=]|(?u:：))[ \t]{0,8})",
        r"([!-~]{8,128})(?:[ \t\r]|$)",
    ))
    .expect("the expression is valid")
});

/// A name of a password, optionally its owner or purpose, and its value in a sentence, up to a
/// blank or its quotes.
static IN_PROSE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:\b(?:password|passwd|passphrase|passcode|pwd|passwort|kennwort)(?:[ \t]{1,4}(?:for|of|to|on)(?:[ \t]{1,4}[!-9;<>-~]{1,40}){1,4})?",
        r"[ \t]{1,4}(?:is|was|ist|lautet)(?:[ \t]{1,4}now)?:?[ \t]{1,4})",
        r"['\x22`]?([!#-&(-_a-~]{8,128})",
    ))
    .expect("the expression is valid")
});

/// A name of a key or token, optionally its owner or purpose, and its value in a sentence: longer
/// than a password.
static TOKEN_IN_PROSE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:\b(?:token|secret|(?:api|access|secret|auth)[ _-]?key)(?:[ \t]{1,4}(?:for|of|to|on)(?:[ \t]{1,4}[!-9;<>-~]{1,40}){1,4})?",
        r"[ \t]{1,4}(?:is|was|ist|lautet)(?:[ \t]{1,4}now)?:?[ \t]{1,4})",
        r"['\x22`]?([A-Za-z0-9+/=_.~-]{16,512})",
    ))
    .expect("the expression is valid")
});

/// An option of that name within any text, and the word after it: `deploy --token …`.
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u:--(?:[a-z]{1,20}-){0,4}(?:token|password|passwd|secret|api-?key|access-?key|credentials?)(?:[ \t]{1,4}|=)",
        r"['\x22]?([!#-&(-_a-~]{8,512}))",
    ))
    .expect("the expression is valid")
});

/// Characters of code that a value without quotes never has.
const OF_CODE: &str = "\"'`,;()[]{}<>$|\\";

/// Words that turn any value into a name, even one with digits: of passwords, and of operations on
/// them.
const ABOUT: [&str; 22] = [
    "pass", "pwd", "secret", "key", "token", "hash", "field", "input", "user", "string", "bytes",
    "value", "text", "utf8", "utf16", "sha1", "sha2", "sha512", "md5", "base64", "argon2",
    "option",
];

pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    if !may_name_one(text) {
        return Vec::new();
    }
    let secret_in = |captures: regex::Captures<'_>| {
        let (name, mark, value) = (captures.get(1)?, captures.get(2)?, captures.get(3)?);
        let word = value.as_str();
        let before = &text[..name.start()];
        let is_variable = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let prefix = before.trim_end_matches(is_variable);
        let is_of_environment = mark.as_str() == "="
            && name.as_str().chars().all(is_variable)
            && !prefix.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '.');
        // `pass:` without a blank gives the source of a program's password.
        let is_source = name.as_str() == "pass" && mark.as_str() == ":";
        let is_known = may_be_one(word) && (is_of_environment || !reads_like_code(word));
        let is_secret = !is_source
            && (is_known || is_of_words(word) || is_of_environment && is_a_word(word))
            && !is_place(before, &text[name.start()..], word);
        is_secret.then(|| (value.range(), Kind::Assigned))
    };
    let set = SETTING.captures_iter(text).filter_map(secret_in);
    let prose = IN_PROSE
        .captures_iter(text)
        .filter_map(|captures| value_in_prose(&captures));
    let tokens = TOKEN_IN_PROSE.captures_iter(text);
    let tokens = tokens.filter_map(|captures| {
        value_in_prose(&captures).filter(|(at, _)| is_random(&text[at.clone()]))
    });
    let options = OPTION.captures_iter(text);
    let options = options
        .filter_map(|captures| value_in_prose(&captures).map(|(at, _)| (at, Kind::Argument)));
    set.chain(prose).chain(tokens).chain(options).collect()
}

/// Returns the value in a sentence, if it is a secret.
fn value_in_prose(captures: &regex::Captures<'_>) -> Option<(Range<usize>, Kind)> {
    let value = captures.get(1)?;
    let word = value
        .as_str()
        .trim_end_matches(['.', ',', ';', ':', ')', '?']);
    let is_known = may_be_one(word) && !reads_like_code(word);
    let is_option = captures.get(0).is_some_and(|all| {
        let before = &all.as_str()[..value.start() - all.start()];
        before.starts_with("--")
            && before.contains("pass")
            && before.trim_end_matches(['\'', '"']).ends_with('=')
    });
    let is_secret =
        (is_known || is_of_words(word) || is_option && is_a_name(word)) && !is_place("", "", word);
    is_secret.then(|| (value.start()..value.start() + word.len(), Kind::Assigned))
}

/// Whether a value is as random as a token: a password may be less.
pub(super) fn is_random(value: &str) -> bool {
    value.len() >= 16 && is_secret(value, BARE_BITS) && !is_name(value)
}

/// Whether a value may be a password at all: letters and digits, or letters that make no word, and
/// no placeholder.
fn may_be_one(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_constant = !value.bytes().any(|byte| byte.is_ascii_lowercase())
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (has_digit || is_jumbled(value))
        && has_letter
        && !is_constant
        && !value.starts_with(['=', '>', ':', '#', '@', '!', '&', '~', '-'])
        && !value.contains(|c| OF_CODE.contains(c))
        && !value.contains("://")
        && !is_placeholder(value)
}

/// Whether a value reads like a program's expression in its place. A star or a percent sign before
/// it proves nothing, unless it makes an alias or a template of it.
fn reads_like_code(value: &str) -> bool {
    let value = value.strip_prefix(['*', '%']).unwrap_or(value);
    let lower = value.to_ascii_lowercase();
    if ABOUT.iter().any(|about| lower.contains(about)) {
        return true;
    }
    if is_jumbled(value) {
        return false;
    }
    if value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return is_identifier(value);
    }
    let is_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic())
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    if value.contains('.') && value.split('.').all(is_part) {
        return true;
    }
    // Such a mark separates no names, and an email address has a dot after it.
    let has_mark = value.contains(['!', '#'])
        || has_number_of_letter(value)
        || value
            .rsplit_once('@')
            .is_some_and(|(_, host)| !host.contains('.'));
    !has_mark && (is_name(value) || !is_secret(value, BARE_BITS))
}

/// Whether a letter in it is written by its number, as in an address: `%40`.
fn has_number_of_letter(value: &str) -> bool {
    let is_hex =
        |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    value.split('%').skip(1).any(is_hex)
}

/// Whether letters and digits are put together as in a name: digits at the end alone, or before a word
/// that begins with a capital.
pub(super) fn is_identifier(value: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit();
    let mut words = value.split(digits).skip(1);
    let runs = value.split(|c: char| !c.is_ascii_digit());
    let runs: Vec<&str> = runs.filter(|run| !run.is_empty()).collect();
    let is_short = runs.len() == 1 && runs[0].len() <= 4;
    is_short
        && words.all(|word| word.is_empty() || word.starts_with(|c: char| c.is_ascii_uppercase()))
}
