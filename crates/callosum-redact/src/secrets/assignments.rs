//! Secrets that only the name they are assigned to identifies: `password = "…"`.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    entropy::{is_jumbled, is_jumbled_key, is_of_words as is_of_joined_words},
    kind::Kind,
    placeholder::is_placeholder,
    prefilter::KeywordFilter,
};

/// A name whose last word says that its value is secret, a mark, and the value.
///
/// Group 1 is a value in quotes, group 2 one without.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i-u:password|passwd|passphrase|pwd|passwort|kennwort|secret|token|api[_-]?key|access[_-]?key",
        r"|secret[_-]?key|private[_-]?key|auth[_-]?key|credentials?)",
        r#"["']?[ \t]{0,8}(?::=|=>|:|=)[ \t]{0,8}"#,
        r#"(?:["']((?:[^"'\s\\]|\\.){8,512}|[^"'\s]{8,512})["']|([A-Za-z0-9+/=_.!@#%^&*~-]{12,512}))"#,
    ))
    .expect("the expression is valid")
});

/// Words that occur in names of secrets; each such name contains one. Most texts have none. The
/// regular expressions for names and values take a megabyte when compiled, so they are compiled
/// only if one occurs.
static NAMES: KeywordFilter = KeywordFilter::new(|| {
    vec![
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "credential",
        "kennwort",
        "wachtwoord",
        "contrase",
        "senha",
        "_pw",
        "-pw",
        ".pw",
        "ароль",
        "密码",
        "密碼",
        "パスワード",
        "비밀번호",
    ]
});

/// Whether a text contains one of the words in names of secrets.
pub(super) fn may_name_one(text: &str) -> bool {
    NAMES.stand_in(text)
}

/// Names of passwords, which may be words.
const PASSWORDS: [&str; 6] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "passwort",
    "kennwort",
];

/// Shortest password made of words, in bytes.
const SHORTEST_OF_WORDS: usize = 12;

/// Shortest value without quotes that only its entropy identifies, in bytes: shorter ones are names
/// just as often.
const SHORTEST_BARE: usize = 16;

/// Least entropy of a value in quotes, in bits a character: a word has less, a password more.
pub(super) const QUOTED_BITS: f64 = 2.8;

/// Least entropy of a value without quotes, which may also be a name in a program.
pub(super) const BARE_BITS: f64 = 3.5;

/// Entropy that no path of names reaches, in bits a character, from 32 characters on.
const NEVER_A_NAME_BITS: f64 = 4.4;

pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    if !may_name_one(text) {
        return Vec::new();
    }
    let secret_in = |captures: regex::Captures<'_>| {
        let begins = captures.get(0).map_or(0, |whole| whole.start());
        let (value, secret) = match (captures.get(1), captures.get(2)) {
            (Some(quoted), _) => {
                let value = quoted.as_str();
                let is_words = is_of_words(value) || is_jumbled(value) || is_of_joined_words(value);
                let is_words = is_words && is_password_name(&text[begins..]);
                (
                    quoted,
                    is_words || is_jumbled_key(value) || is_secret(value, QUOTED_BITS),
                )
            }
            (None, Some(bare)) => {
                let value = bare.as_str();
                let is_code = is_name(value) || goes_on_as_code(&text[bare.end()..]);
                let is_key = is_jumbled_key(value) && !goes_on_as_code(&text[bare.end()..]);
                let is_long = value.len() >= SHORTEST_BARE && is_secret(value, BARE_BITS);
                (bare, is_key || is_long && !is_code)
            }
            (None, None) => return None,
        };
        let secret = secret && !is_place(&text[..begins], &text[begins..], value.as_str());
        secret.then(|| (value.range(), Kind::Assigned))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(captures) = ASSIGNMENT.captures_at(text, at) {
        let whole = captures.get(0).expect("a match has a whole").range();
        let value = captures.get(1).or_else(|| captures.get(2));
        let value = value.map_or(whole.end, |value| value.start());
        let secret = secret_in(captures);
        // A value that is no secret may itself be the name of one:
        // `awssecret : aws_secret_access_key = …`.
        at = if secret.is_some() { whole.end } else { value };
        found.extend(secret);
    }
    found
}

pub(super) fn is_secret(value: &str, least_bits: f64) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    // What is as random as a key is one, though letters of it read like a word of examples.
    let is_random = value.len() >= 32
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && entropy(value) >= NEVER_A_NAME_BITS;
    has_digit && has_letter && (is_random || !is_placeholder(value)) && entropy(value) >= least_bits
}

fn is_password_name(name: &str) -> bool {
    let is_it = |known: &&str| {
        let start = name.get(..known.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(known))
    };
    PASSWORDS.iter().any(is_it)
}

/// Whether a value reads like a password that is made of words, as `correct-horse-battery`: several
/// of them, parted by more than names are, and none about passwords.
fn is_of_words(value: &str) -> bool {
    const ABOUT: [&str; 8] = [
        "pass", "pwd", "secret", "field", "input", "required", "invalid", "error",
    ];
    let lower = value.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| word.len() >= 3).count();
    let is_parted = value.contains(['-', '!', '@', '#', '+', '~', '&', '^']);
    value.len() >= SHORTEST_OF_WORDS
        && words >= 3
        && is_parted
        && !value.contains(['/', ':', '(', '|'])
        && !ABOUT.iter().any(|about| lower.contains(about))
        && !is_placeholder(value)
}

/// Folders that an absolute path begins with; a key in base64 may begin with a slash as well.
const TOP_FOLDERS: [&str; 26] = [
    "Users",
    "Volumes",
    "app",
    "bin",
    "builds",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "work",
    "workspace",
];

/// Whether a value is a location: a path, or an address without anything random in it.
///
/// `before` is the text before the word that marks a secret's name, `name` the rest. `PWD` and
/// `OLDPWD` end like a password's name and are the working folder of every process.
pub(super) fn is_place(before: &str, name: &str, value: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let prefix = &before[before.trim_end_matches(is_of_name).len()..];
    let is_working_folder = name.starts_with("PWD") && matches!(prefix, "" | "OLD");
    if let Some(path) = value.strip_prefix('/') {
        let first = path.split('/').next().unwrap_or_default();
        return is_working_folder || TOP_FOLDERS.contains(&first) || is_name(value);
    }
    let is_relative = ["~/", "./", "../"]
        .iter()
        .any(|begin| value.starts_with(begin));
    let on_a_drive =
        matches!(value.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    is_relative || on_a_drive || (value.contains("://") && is_name(value))
}

/// Whether a value without quotes reads like a path of names: `config.token_v2`, `TOKEN_TYPE_32`.
pub(super) fn is_name(value: &str) -> bool {
    if value.len() >= 32 && entropy(value) >= NEVER_A_NAME_BITS {
        return false;
    }
    let is_of_constant =
        |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    if value.contains('_') && value.bytes().all(is_of_constant) {
        return true;
    }
    let is_word = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let begins_well = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (begins_well && digits * 6 <= word.len()) || (digits == word.len() && digits <= 2)
    };
    value
        .split(['.', '_', '-', '/', ':'])
        .filter(|word| !word.is_empty())
        .all(is_word)
}

/// Whether the text after a value shows that it was called, indexed or a path.
fn goes_on_as_code(rest: &str) -> bool {
    rest.starts_with(['(', '[', '<', '{', ':'])
}

/// Shannon's entropy of the bytes, in bits a byte.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| {
            let share = f64::from(count) / length;
            -share * share.log2()
        })
        .sum()
}
