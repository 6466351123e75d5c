//! Secrets that a program reads out of a file and sends away by a library of its language.
//!
//! Sent is what stands among the words of a call that sends, or is kept under a name that stands there: a program that
//! reads one value out of such a file and uses it says more than that name.

use super::{
    Effect, arguments, last,
    token::Token::{self, Name, Sign, Text},
    words,
};
use crate::protect::keeps_secrets;

/// Functions that give what stands in a file.
const READS: [&str; 17] = [
    "open",
    "read",
    "binread",
    "Path",
    "read_text",
    "read_bytes",
    "readFile",
    "readFileSync",
    "readTextFile",
    "readTextFileSync",
    "createReadStream",
    "openAsBlob",
    "file",
    "file_get_contents",
    "slurp",
    "fopen",
    "readlines",
];

/// Functions that send what they are given.
const SENDS: [&str; 22] = [
    "post",
    "put",
    "patch",
    "post_form",
    "request",
    "Request",
    "urlopen",
    "fetch",
    "axios",
    "send",
    "sendall",
    "sendto",
    "sendmail",
    "send_message",
    "upload_file",
    "upload_fileobj",
    "put_object",
    "upload_from_filename",
    "fput_object",
    "putObject",
    "curl_setopt",
    "storbinary",
];

/// Functions that send the file which they are given the name of.
const UPLOADS: [&str; 4] = [
    "upload_file",
    "upload_from_filename",
    "fput_object",
    "storbinary",
];

/// What a connection is made safe by, and not what is sent over it.
const SAFE_BY: [&str; 9] = [
    "cert",
    "verify",
    "key",
    "ca",
    "pfx",
    "pkey",
    "agent",
    "auth",
    "httpsAgent",
];

/// How many pieces of a program may stand between what belongs together.
const NEAR: usize = 6;

/// What a program sends that it has read where secrets are kept, or that is fed to it from there.
pub(super) fn effects(tokens: &[Token], is_fed: bool) -> Option<Effect> {
    let named: Vec<(&str, &str)> = tokens
        .iter()
        .enumerate()
        .filter_map(|(at, _)| {
            let read = read_at(tokens, at, is_fed)?;
            Some((name_of(tokens, at)?, read))
        })
        .collect();
    let mut calls = tokens.iter().enumerate().filter(|(at, token)| {
        let is_called = tokens.get(at + 1) == Some(&Sign('('));
        is_called && matches!(token, Name(name) if SENDS.contains(&last(name)))
    });
    calls.find_map(|(at, _)| {
        let given = arguments(tokens, at + 1);
        let is_near = given.iter().any(|token| match token {
            Text(text) => ["//localhost", "//127.", "//[::1]"]
                .iter()
                .any(|host| text.contains(host)),
            _ => false,
        });
        let uploads = matches!(&tokens[at], Name(name) if UPLOADS.contains(&last(name)));
        let uploaded = given.iter().find_map(|token| match token {
            Text(file) if uploads && keeps_secrets(file) => Some(file.as_str()),
            _ => None,
        });
        let read = (0..given.len()).find_map(|at| {
            let sent = read_at(&given, at, is_fed).or_else(|| kept_at(&given, at, &named))?;
            (!makes_safe(&given, at)).then_some(sent)
        });
        let file = uploaded.or(read).filter(|_| !is_near)?;
        Some(words(&["sent-secret", file]))
    })
}

/// Where secrets come from that are read here: the file that keeps them, or what is fed.
fn read_at(tokens: &[Token], at: usize, is_fed: bool) -> Option<&str> {
    file_at(tokens, at).or_else(|| fed_at(tokens, at).filter(|_| is_fed))
}

/// The file with secrets in it that is read here.
fn file_at(tokens: &[Token], at: usize) -> Option<&str> {
    let name = match tokens.get(at)? {
        Name(name) => name,
        // A path that was put together: `Path.home() / "x"`.
        Text(file) => {
            let mut behind = tokens.get(at + 1..)?.iter();
            let Name(name) = behind.find(|token| **token != Sign(')'))? else {
                return None;
            };
            let is_read = matches!(name.as_str(), "read_text" | "read_bytes" | "open");
            return (is_read && keeps_secrets(file)).then_some(file);
        }
        _ => return None,
    };
    match tokens.get(at + 1..at + 3) {
        Some([Sign('('), Text(file)]) if READS.contains(&last(name)) && keeps_secrets(file) => {
            Some(file)
        }
        _ => None,
    }
}

/// What is fed to a program, where it is read here: `sys.stdin.read()`.
fn fed_at(tokens: &[Token], at: usize) -> Option<&str> {
    let Name(name) = tokens.get(at)? else {
        return None;
    };
    let is_fed = |part: &str| part.eq_ignore_ascii_case("stdin");
    name.split('.').any(is_fed).then_some("/dev/stdin")
}

/// The name under which is kept what is read here: `x = open(…)`, `open(…) as x`.
fn name_of(tokens: &[Token], at: usize) -> Option<&str> {
    let before = &tokens[at.saturating_sub(NEAR)..at];
    let statement = before
        .iter()
        .rposition(|token| matches!(token, Sign(';' | '{' | '}')));
    let before = &before[statement.map_or(0, |at| at + 1)..];
    let set = before.iter().rposition(|token| *token == Sign('='));
    let set = set.filter(|at| before[at + 1..].iter().all(keeps_it_whole));
    let set = set.and_then(|at| before.get(at.checked_sub(1)?));
    let behind = tokens.get(at..).unwrap_or_default().iter().take(NEAR * 2);
    let mut behind = behind.skip_while(|token| !matches!(token, Name(name) if name == "as"));
    match set.or_else(|| behind.nth(1)) {
        Some(Name(name)) => Some(name),
        _ => None,
    }
}

/// Whether what is read is still told by what stands around it: `b64encode(open(…).read())`, but not
/// `sign(x, open(…).read())`.
fn keeps_it_whole(token: &Token) -> bool {
    const WHOLE: [&str; 12] = [
        "await",
        "require",
        "str",
        "bytes",
        "dumps",
        "quote",
        "hexlify",
        "compress",
        "b64encode",
        "urlsafe_b64encode",
        "base64_encode",
        "encode64",
    ];
    match token {
        Sign(sign) => *sign != ',',
        Name(name) => WHOLE.contains(&last(name)),
        Text(_) => true,
        Token::Run(_) => false,
    }
}

/// The file that is kept under the name which stands here, where all of it is meant.
fn kept_at<'t>(tokens: &[Token], at: usize, named: &[(&str, &'t str)]) -> Option<&'t str> {
    const WHOLE: [&str; 7] = [
        "read",
        "encode",
        "decode",
        "toString",
        "strip",
        "trim",
        "read_text",
    ];
    let Name(name) = tokens.get(at)? else {
        return None;
    };
    // `{body:b}` is one piece.
    let name = name.rsplit(':').next().unwrap_or(name);
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    let (_, file) = named.iter().find(|(named, _)| *named == first)?;
    let is_set = tokens.get(at + 1) == Some(&Sign('='));
    let is_part = tokens.get(at + 1) == Some(&Sign('['));
    let is_whole = rest.is_empty() || WHOLE.contains(&rest);
    (is_whole && !is_part && !is_set).then_some(*file)
}

/// Whether what stands here is given under a name for what the connection is made safe by.
fn makes_safe(tokens: &[Token], at: usize) -> bool {
    let near = &tokens[at.saturating_sub(NEAR)..=at];
    let is_safe = |name: &str| SAFE_BY.contains(&name);
    // `key: require('fs').readFileSync(…)`, of which a sign between two names is no piece by itself.
    for (at, token) in near.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|at| near.get(at));
        match (token, before) {
            (Sign(','), _) => return false,
            (Sign('=' | ':'), Some(Name(name) | Text(name))) => return is_safe(name),
            (Name(name), _) => {
                if let Some((first, _)) = name.split_once(':') {
                    return is_safe(first);
                }
            }
            _ => {}
        }
    }
    false
}
