//! Secrets that their own form gives away.

use std::{ops::Range, sync::LazyLock};

use regex::{Regex, RegexSet};

use super::kind::Kind;

/// A form: the kind, and what it looks like. Group 1 is the secret where there is one.
const FORMS: [(Kind, &str); 30] = [
    (Kind::Aws, r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    (Kind::GitHub, r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b"),
    (Kind::GitHub, r"\bgithub_pat_[A-Za-z0-9_]{60,255}\b"),
    (
        Kind::GitLab,
        r"\bgl(?:pat|rt|dt|ptt|oas)-[A-Za-z0-9_-]{20,}",
    ),
    (Kind::Slack, r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (Kind::Slack, r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    (
        Kind::Slack,
        r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}",
    ),
    (Kind::Stripe, r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    (Kind::Google, r"\bAIza[A-Za-z0-9_-]{35}"),
    (Kind::ModelProvider, r"\bsk-[A-Za-z0-9_-]{20,}"),
    (Kind::ModelProvider, r"\b(?:hf|gsk)_[A-Za-z0-9]{30,}"),
    (Kind::ModelProvider, r"\bxai-[A-Za-z0-9]{40,}"),
    (
        Kind::AccessToken,
        r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    ),
    (Kind::AccessToken, r"\bdo[opr]_v1_[a-f0-9]{40,}"),
    (Kind::AccessToken, r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    (Kind::AccessToken, r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    (Kind::AccessToken, r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    (
        Kind::AccessToken,
        r"\bAccountKey=([A-Za-z0-9+/]{40,}={0,2})",
    ),
    (Kind::PrivateKey, r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    (
        Kind::Address,
        r#"\bjdbc:[^\s"'<>`]{1,256}?[?&;](?i-u:password|pwd)=([^\s&;"'<>`]{3,128})"#,
    ),
    // The settings of a connection, in which a password stands behind or before what else they name.
    (
        Kind::Address,
        concat!(
            r"\b(?i-u:server|data source|host|addr|address|user ?id|uid|user ?name|user|database",
            r"|initial catalog|driver|provider|port)[ \t]*=[^;\r\n\x22'`]*;(?:[^\r\n\x22'`]*;)?",
            r"[ \t]*(?i-u:password|pwd)[ \t]*=[ \t]*([^;\s\x22'`]{3,128})"
        ),
    ),
    (
        Kind::Address,
        concat!(
            r"\b(?i-u:password|pwd)[ \t]*=[ \t]*([^;\s\x22'`]{3,128});[ \t]*",
            r"(?i-u:server|data source|host|user ?id|uid|database|initial catalog)[ \t]*="
        ),
    ),
    (
        Kind::Address,
        concat!(
            r"\b(?:host|hostaddr|user|dbname|port|sslmode)=[^\s\x22'`,()]+[ \t]+",
            r"(?:[a-z_]+=[^\s\x22'`,()]+[ \t]+)*password=([^\s\x22'`,()]{3,128})"
        ),
    ),
    (Kind::Npm, r"\bnpm_[A-Za-z0-9]{36}\b"),
    (Kind::PyPi, r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    (
        Kind::Jwt,
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    // A header without a body, as in code that looks for keys, is no key: see `is_real`.
    (
        Kind::PrivateKey,
        concat!(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----",
            r#"(?:[A-Za-z0-9+/=:,.'" \t\r\n\\-]){24,}?"#,
            r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        ),
    ),
    // One that is cut off: lines of a key as long as there are, however their breaks are written.
    (
        Kind::PrivateKey,
        concat!(
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:\s{0,4}(?:Proc-Type|DEK-Info|Version|Comment)[^\r\n\\]{0,120})*",
            r#"(?:(?:[\s"'+,]|\\[nr]){0,8}[A-Za-z0-9+/=]{24,})+"#
        ),
    ),
    (
        Kind::Address,
        r#"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@"'<>`]{0,64}:([^\s/@"'<>`]{3,128})@[A-Za-z0-9\[]"#,
    ),
    (
        Kind::Authorization,
        r"(?i-u:\bauthorization['\x22]?\s{0,4}[:=]\s{0,4}['\x22]?(?:bearer|basic|token)\s{1,4})([A-Za-z0-9._~+/=-]{16,})",
    ),
];

static WHICH: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(FORMS.map(|(_, form)| plain(form))).expect("the forms are valid expressions")
});

static EACH: LazyLock<Vec<(Kind, Regex)>> = LazyLock::new(|| {
    let compiled = FORMS.map(|(kind, form)| {
        let form = Regex::new(&plain(form)).expect("the forms are valid expressions");
        (kind, form)
    });
    compiled.into()
});

/// All forms are ASCII, and so are the edges of the words around them.
fn plain(form: &str) -> String {
    form.replace(r"\b", r"(?-u:\b)")
}

pub(super) fn find(text: &str) -> Vec<(Range<usize>, Kind)> {
    let mut found = Vec::new();
    for index in WHICH.matches(text) {
        let (kind, form) = &EACH[index];
        for captures in form.captures_iter(text) {
            let Some(secret) = captures.get(1).or_else(|| captures.get(0)) else {
                continue;
            };
            if is_real(*kind, secret.as_str()) {
                found.push((secret.range(), *kind));
            }
        }
    }
    found
}

/// What looks like a secret of this kind, but is a class name or a placeholder.
fn is_real(kind: Kind, secret: &str) -> bool {
    match kind {
        Kind::ModelProvider => {
            let has = |what: fn(&u8) -> bool| secret.bytes().any(|byte| what(&byte));
            let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
            // Some are hexadecimal throughout, and then they are long.
            has(u8::is_ascii_digit) && (is_mixed || secret.len() >= 40)
        }
        // Words are shorter than a line of a key.
        Kind::PrivateKey => secret
            .split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)))
            .any(|run| run.len() >= 24),
        Kind::Address => !is_placeholder(secret),
        _ => true,
    }
}

/// Whether a value stands for a secret instead of being one.
pub(super) fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "password", "passwd", "pass", "pwd", "secret", "token", "changeme", "example", "test",
        "user", "your", "xxx", "port", "key",
    ];
    let value = value.to_ascii_lowercase();
    // `password123` is what examples and tests call a password.
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit() || "!_-".contains(c));
    let first = value.chars().next();
    let one_letter = value.chars().all(|c| Some(c) == first);
    let wrapped = value.contains(['$', '{', '}', '<', '>', '*', '%', '(', '[']);
    one_letter
        || wrapped
        || WORDS.contains(&word)
        || [
            "your",
            "example",
            "changeme",
            "placeholder",
            "dummy",
            "fake",
            "xxx",
        ]
        .iter()
        .any(|word| value.contains(word))
}
