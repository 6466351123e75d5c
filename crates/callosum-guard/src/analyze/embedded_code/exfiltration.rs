//! Secrets that a program reads from a file and sends away with a library of its language.
//!
//! A value counts as sent if it is among the arguments of a call that sends, or if one of those
//! arguments names it. A program that reads one value out of such a file and uses it has more in
//! its arguments than that name.

use super::{
    Effect, last,
    token::Token::{self, Name, Sign, Text},
    words,
};
use crate::{loopback::is_loopback, secret_files::keeps_secrets};
use std::collections::BTreeMap;

/// Functions that return the contents of a file.
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

/// Functions that may send in an address what they are given.
const FETCHES: [&str; 3] = ["file_get_contents", "get", "fopen"];

/// Functions that send the file which they are given the name of.
const UPLOADS: [&str; 4] = [
    "upload_file",
    "upload_from_filename",
    "fput_object",
    "storbinary",
];

/// Options that secure a connection, and are not sent over it.
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

/// Functions whose result still contains all of their arguments.
const WHOLE: [&str; 14] = [
    "dict",
    "stringify",
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

/// Limit on the tokens between parts that belong together.
const NEAR: usize = 6;

/// Functions behind which only a part is left of what they are called on.
const PICKS: [&str; 5] = ["match", "get", "group", "find", "dig"];

/// Functions behind which still all is there, and which of it may then be picked.
const PASSES: [&str; 16] = [
    "read",
    "read_text",
    "toString",
    "text",
    "json",
    "decode",
    "encode",
    "strip",
    "rstrip",
    "trim",
    "chomp",
    "split",
    "splitlines",
    "readlines",
    "lines",
    "explode",
];

/// Functions that are given what was read, and out of whose result it may be picked.
const TAKES_APART: [&str; 8] = [
    "search",
    "match",
    "findall",
    "loads",
    "load",
    "safe_load",
    "parse",
    "parse_env",
];

/// So many pieces of a call are looked at.
const MAX_ARGUMENTS: usize = 512;

/// Finds secrets that a program sends: those it reads from a secret file, and those fed to it.
///
/// Each token is visited once, and a call looks for the first match between its brackets.
pub(super) fn effects(tokens: &[Token], is_fed: bool) -> Option<Effect> {
    let pairs = pairs(tokens);
    let read = |at| {
        let read = read_at(tokens, at, is_fed)?;
        (!is_picked(tokens, at, &pairs)).then_some(read)
    };
    let mut named = BTreeMap::new();
    for at in 0..tokens.len() {
        if let Some(file) = read(at)
            && let Some(name) = name_of(tokens, at)
        {
            named.entry(name).or_insert(file);
        }
    }
    let sent: Vec<(usize, &str)> = (0..tokens.len())
        .filter_map(|at| {
            let kept = || kept_at(tokens, at, &named).filter(|_| !is_picked(tokens, at, &pairs));
            let file = read(at).or_else(kept)?;
            (!makes_safe(tokens, at)).then_some((at, file))
        })
        .collect();
    let places = |wanted: fn(&Token) -> bool| -> Vec<usize> {
        let all = tokens.iter().enumerate();
        all.filter(|(_, token)| wanted(token))
            .map(|(at, _)| at)
            .collect()
    };
    let statements = places(|token| *token == Sign(';'));
    let near = places(|token| matches!(token, Text(text) if names_this_machine(text)));
    let secret = places(|token| matches!(token, Text(file) if keeps_secrets(file)));
    let requests = requests_elsewhere(tokens);
    let first = |of: &[usize], from: usize| {
        let at = of.partition_point(|at| *at < from);
        of.get(at).copied().unwrap_or(tokens.len())
    };
    (0..tokens.len()).find_map(|at| {
        let open = at + 1;
        if !(sends(tokens, at) || requests && ends_request(tokens, at)) {
            return None;
        }
        let end = pairs[open]
            .unwrap_or(tokens.len())
            .min(first(&statements, open))
            .min(open + MAX_ARGUMENTS);
        let uploads = matches!(&tokens[at], Name(name) if UPLOADS.contains(&last(name)));
        let uploaded = match tokens.get(first(&secret, open)) {
            Some(Text(file)) if uploads && first(&secret, open) < end => Some(file.as_str()),
            _ => None,
        };
        let earlier = || {
            let (at, file) = *sent.get(sent.partition_point(|(at, _)| *at < open))?;
            (last_piece(tokens, at) < end).then_some(file)
        };
        let file = uploaded.or_else(earlier)?;
        (first(&near, open) >= end).then(|| words(&["sent-secret", file]))
    })
}

/// Whether a function is called here that sends what it is given.
fn sends(tokens: &[Token], at: usize) -> bool {
    let is_called = tokens.get(at + 1) == Some(&Sign('('));
    let Name(name) = &tokens[at] else {
        return false;
    };
    let near = tokens.get(at + 1..).unwrap_or_default().iter().take(NEAR);
    let names_address = || {
        near.into_iter()
            .any(|token| matches!(token, Text(text) if text.contains("://")))
    };
    is_called && (SENDS.contains(&last(name)) || FETCHES.contains(&last(name)) && names_address())
}

/// Whether a program makes a request and gives its body in a separate call:
/// `request({host: "x"}).end(…)`.
fn requests_elsewhere(tokens: &[Token]) -> bool {
    let names = |token: &Token| matches!(token, Name(name) if last(name) == "request");
    let is_near = |token: &Token| matches!(token, Text(text) if is_loopback(text) || names_this_machine(text));
    tokens.iter().any(names) && !tokens.iter().any(is_near)
}

/// Whether this call gives the body of a request.
fn ends_request(tokens: &[Token], at: usize) -> bool {
    let is_called = tokens.get(at + 1) == Some(&Sign('('));
    is_called && matches!(&tokens[at], Name(name) if matches!(last(name), "end" | "write"))
}

/// Whether a text is, or has in it, an address on this machine.
fn names_this_machine(text: &str) -> bool {
    text.split("//").skip(1).any(is_loopback)
}

/// Of each bracket the place of the other that belongs to it.
fn pairs(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; tokens.len()];
    let mut opened = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Sign('(' | '[' | '{') => opened.push(at),
            Sign(')' | ']' | '}') => {
                if let Some(open) = opened.pop() {
                    pairs[open] = Some(at);
                    pairs[at] = Some(open);
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Returns the position of the last token that belongs to the read which begins here.
fn last_piece(tokens: &[Token], at: usize) -> usize {
    match tokens[at] {
        Text(_) => {
            let mut behind = tokens[at + 1..].iter();
            let closes = behind.position(|token| *token != Sign(')'));
            at + 1 + closes.unwrap_or(0)
        }
        _ => at,
    }
}

/// Whether of what is read here no more than a part is used: `open(…).read().split("KEY=")[1]`.
fn is_picked(tokens: &[Token], at: usize, pairs: &[Option<usize>]) -> bool {
    let mut at = at + 1;
    for _ in 0..NEAR * 4 {
        let Some(token) = tokens.get(at) else {
            return false;
        };
        let behind = |open: usize| pairs[open].map_or(tokens.len(), |close| close + 1);
        at = match token {
            Sign('?' | '.') => at + 1,
            Sign('(') => behind(at),
            Sign('[') => {
                let within = tokens.get(at + 1..behind(at) - 1).unwrap_or_default();
                // Neither `[:99]`, which is the begin of it, nor a list in the next line.
                let picks = !within.is_empty()
                    && within.len() <= NEAR
                    && !within
                        .iter()
                        .any(|token| matches!(token, Sign(':' | '(' | ',')));
                if picks {
                    return true;
                }
                behind(at)
            }
            Sign(')') => {
                let Some(open) = pairs[at] else {
                    return false;
                };
                let function = open.checked_sub(1).and_then(|at| tokens.get(at));
                let goes_on = match function {
                    Some(Name(name)) => {
                        let name = last(name);
                        !SENDS.contains(&name)
                            && (TAKES_APART.contains(&name) || WHOLE.contains(&name))
                    }
                    _ => true,
                };
                if !goes_on {
                    return false;
                }
                at + 1
            }
            Name(name) if tokens.get(at + 1) == Some(&Sign('(')) => {
                if PICKS.contains(&name.as_str()) {
                    let given = tokens.get(at + 2..behind(at + 1)).unwrap_or_default();
                    return says_which(given);
                }
                if !PASSES.contains(&name.as_str()) {
                    return false;
                }
                at + 1
            }
            _ => return false,
        };
    }
    false
}

/// Whether a function's arguments select a part, as neither `/.*/` nor an address does.
fn says_which(given: &[Token]) -> bool {
    let mut near = given.iter().take(NEAR * 2);
    let is_address = |token: &Token| matches!(token, Text(text) if text.contains("://"));
    !near.clone().any(is_address)
        && near.any(|token| match token {
            Name(text) | Text(text) => {
                let mut runs = text.split(|letter: char| !letter.is_alphanumeric());
                runs.any(|run| run.len() > 1)
            }
            Sign(sign) => sign.is_ascii_digit(),
            Token::Run(_) => false,
        })
}

/// Returns the source of secrets that are read here: the file that holds them, or the input.
fn read_at(tokens: &[Token], at: usize, is_fed: bool) -> Option<&str> {
    let fed = || fed_at(tokens, at).filter(|_| is_fed);
    file_at(tokens, at)
        .or_else(fed)
        .or_else(|| environment_at(tokens, at))
}

/// Returns the environment, if all of it is meant: neither `os.environ["KEY"]` nor the environment
/// of a child process.
fn environment_at(tokens: &[Token], at: usize) -> Option<&'static str> {
    const ALL: [&str; 8] = [
        "os.environ",
        "environ",
        "os.environ.copy",
        "os.environ.items",
        "process.env",
        "ENV",
        "ENV.to_h",
        "Deno.env.toObject",
    ];
    let Name(name) = tokens.get(at)? else {
        return None;
    };
    // `body:process.env` is one piece.
    let (key, name) = name.rsplit_once(':').unwrap_or(("", name));
    let before = tokens.get(at.saturating_sub(2)..at)?;
    let is_handed_on = match before {
        [.., Name(word)] => word == "in",
        [Name(key) | Text(key), Sign('=' | ':')] => {
            key == "env" && matches!(tokens.get(at + 1), Some(Sign(')' | ',' | '}')))
        }
        _ => key == "env",
    };
    (ALL.contains(&name) && !is_handed_on).then_some("/proc/self/environ")
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

/// Returns the input of a program if it is read here: `sys.stdin.read()`.
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

/// Whether the whole of a read value is still in the expression around it:
/// `b64encode(open(…).read())`, but not `sign(x, open(…).read())`.
fn keeps_it_whole(token: &Token) -> bool {
    match token {
        Sign(sign) => *sign != ',',
        Name(name) => WHOLE.contains(&last(name)),
        Text(_) => true,
        Token::Run(_) => false,
    }
}

/// Returns the file behind the name at this position, if the whole value is meant.
fn kept_at<'t>(tokens: &[Token], at: usize, named: &BTreeMap<&str, &'t str>) -> Option<&'t str> {
    const STILL: [&str; 7] = [
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
    let file = named.get(first)?;
    let is_set = tokens.get(at + 1) == Some(&Sign('='));
    let is_part = tokens.get(at + 1) == Some(&Sign('['));
    let is_whole = rest.is_empty() || STILL.contains(&rest);
    (is_whole && !is_part && !is_set).then_some(*file)
}

/// Whether the value here has the name of an option that secures the connection.
fn makes_safe(tokens: &[Token], at: usize) -> bool {
    let from = at.saturating_sub(NEAR);
    // Tokens before the call in question say nothing about its arguments.
    let call = (from..at).rev().find(|at| sends(tokens, *at));
    let near = &tokens[call.map_or(from, |call| call + 1)..=at];
    let is_safe = |name: &str| SAFE_BY.contains(&name);
    // In `key: require('fs').readFileSync(…)`, a sign between two names is no token of its own.
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
