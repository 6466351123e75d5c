//! Effects of a program on processes: it ends them by their number, or those that a library lists.

use super::{
    Effect, Language, Named,
    call::{number, parts},
    last, names_any,
    token::Token,
    words,
};
use crate::process_names::is_of_many;

/// Functions that send a signal to processes by their number.
const SENDS: [&str; 3] = ["kill", "killpg", "posix_kill"];

/// Methods of psutil's that end the process which they are called on.
const ENDS: [&str; 4] = ["kill", "terminate", "send_signal", "suspend"];

/// Properties of a process in psutil by which one may be picked; its own number is not among them.
const TELLS: [&str; 13] = [
    "name",
    "cmdline",
    "exe",
    "username",
    "cwd",
    "create_time",
    "cpu_percent",
    "memory_percent",
    "memory_info",
    "net_connections",
    "connections",
    "ppid",
    "status",
];

/// So many pieces of a program are looked at for what a process is picked by.
const MAX_PIECES: usize = 512;

/// Returns the effect of a function call here on processes.
pub(super) fn asked(
    language: &Language,
    whole: &str,
    tokens: &[Token],
    given: &[Token],
    named: &Named<'_>,
) -> Option<Effect> {
    let own = last(whole);
    if named.any(&["psutil"])
        && ENDS.contains(&own)
        && named.any(&["process_iter", "pids"])
        && let Some(effect) = ends_listed(tokens, named)
    {
        return Some(effect);
    }
    if !SENDS.contains(&own) {
        return None;
    }
    let parts = parts(given);
    // `kill 9, $pid` names the signal first, `os.kill(pid, 9)` last.
    let of_many = matches!(language.name, "perl -e" | "ruby -e");
    let (signal, processes) = if of_many {
        let (signal, processes) = parts.split_first()?;
        (Some(signal), processes)
    } else {
        (parts.get(1), parts.get(..1)?)
    };
    // It only asks whether they are there.
    if signal.is_some_and(|signal| number(signal).as_deref() == Some("0")) {
        return None;
    }
    let is_own_group = |part: &[Token]| names_any(part, &["getpgrp"]);
    let everybody = processes.iter().find_map(|part| {
        let number = number(part).or_else(|| is_own_group(part).then(|| "0".to_owned()))?;
        matches!(number.as_str(), "-1" | "0" | "1").then_some(number)
    });
    let is_parent = |part: &&[Token]| names_any(part, &["getppid", "posix_getppid", "ppid"]);
    if everybody.is_none() && processes.iter().any(is_parent) {
        return Some(Effect::Shell("kill $PPID".to_owned()));
    }
    match everybody {
        Some(number) => Some(words(&["kill", "-9", &number])),
        None if kills_what_is_listed(tokens, given) => Some(of_everybody()),
        None => None,
    }
}

fn of_everybody() -> Effect {
    Effect::Shell("ps -eo pid | xargs kill -9".to_owned())
}

/// The end of each process that psutil lists, or of those of a kind that much else runs as.
fn ends_listed(tokens: &[Token], named: &Named<'_>) -> Option<Effect> {
    if !named.any(&TELLS) {
        return Some(of_everybody());
    }
    let mut wanted = tokens
        .iter()
        .take(MAX_PIECES)
        .filter_map(|token| match token {
            Token::Text(text) if text != "pid" && !TELLS.contains(&text.as_str()) => {
                Some(text.as_str())
            }
            _ => None,
        });
    let first = wanted.next()?;
    let is_kind = is_of_many(first) && wanted.all(is_of_many);
    is_kind.then(|| words(&["pkill", first]))
}

/// Whether each process is killed that `ps` lists, and none is picked out.
fn kills_what_is_listed(tokens: &[Token], given: &[Token]) -> bool {
    let lists = tokens.iter().any(|token| match token {
        Token::Text(text) => text.split_whitespace().next() == Some("ps"),
        _ => false,
    });
    let is_known = given.iter().any(|token| matches!(token, Token::Text(_)));
    lists && !is_known && !names_any(tokens, &["if", "grep", "pgrep", "filter", "getpid"])
}
