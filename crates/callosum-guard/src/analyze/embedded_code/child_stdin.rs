//! Text that a program writes to its child processes:
//! `Popen(["bash"], stdin=PIPE).communicate("…")`, `IO.popen("sh", "w") { |f| f.puts "…" }`,
//! `open(P, "|sh"); print P "…"`.
//!
//! It is not known which of several children gets the text: each is taken to read all of it.

use super::{Language, arguments, last, spawn_options::SpawnOptions, token::Token};

/// Functions that write, under the last part of their name.
const WRITERS: [&str; 8] = [
    "write",
    "writelines",
    "puts",
    "print",
    "printf",
    "say",
    "fwrite",
    "fputs",
];

/// Streams of the program itself: a write to one of them reaches no child.
const OWN: [&str; 6] = ["stdout", "stderr", "STDOUT", "STDERR", "$stdout", "$stderr"];

/// Functions whose program is always written to.
const JOINED: [&str; 8] = [
    "proc_open",
    "open2",
    "open3",
    "popen2",
    "popen3",
    "capture2",
    "capture3",
    "capture2e",
];

/// Returns the text that a program writes to its child processes.
pub(super) fn written(language: &Language, tokens: &[Token]) -> Option<String> {
    let pipes = tokens.iter().enumerate().any(|(at, token)| {
        let Token::Name(name) = token else {
            return false;
        };
        let own = last(name);
        JOINED.contains(&own)
            || (own == "popen" || own == "open") && {
                let given = arguments(tokens, at + 1);
                is_pipe(language, own, &given) || own == "popen" && is_to_write(&given)
            }
    });
    let mut lines = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // `f << "…"` of Ruby's
        if pipes
            && language.name == "ruby -e"
            && let [
                Token::Name(_),
                Token::Sign('<'),
                Token::Sign('<'),
                Token::Text(text),
                ..,
            ] = &tokens[at..]
        {
            lines.push(text.clone());
        }
        let Token::Name(name) = token else { continue };
        if let Some(from) = writes(language, name, &tokens[at + 1..], pipes) {
            lines.extend(texts(tokens, at + 1 + from));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether `open` is given a command of Perl's or Ruby's: `"|sh"`, `"-|", "sh"`, `"ls |"`.
pub(super) fn is_pipe(language: &Language, name: &str, given: &[Token]) -> bool {
    let opens = matches!(language.name, "perl -e" | "ruby -e") && name == "open";
    let text = given.iter().find_map(|token| match token {
        Token::Text(text) => Some(text.trim()),
        _ => None,
    });
    opens
        && text.is_some_and(|text| text.len() > 1 && (text.starts_with('|') || text.ends_with('|')))
}

/// The command of such an `open`.
pub(super) fn piped(given: &[Token]) -> Vec<String> {
    let mut words = SpawnOptions::by(given).words;
    if let [first, more @ ..] = words.as_mut_slice() {
        let command = first.trim().trim_matches('|').trim().to_owned();
        if command == "-" && !more.is_empty() {
            words.remove(0);
        } else {
            return vec![command];
        }
    }
    words
}

/// Whether a pipe is opened to be written to.
fn is_to_write(given: &[Token]) -> bool {
    let mode = |token: &Token| matches!(token, Token::Text(text) if matches!(text.as_str(), "w" | "wb" | "w+" | "r+"));
    given.iter().any(mode)
}

/// Returns the offset behind a function's name where the text begins that it writes to a child.
fn writes(language: &Language, name: &str, behind: &[Token], pipes: bool) -> Option<usize> {
    let own = last(name);
    let of = |wanted: &str| name.split(['.', ':', '>']).any(|part| part == wanted);
    if matches!(own, "communicate" | "sendline")
        || of("stdin") && (WRITERS.contains(&own) || own == "end")
    {
        return Some(0);
    }
    if language.name == "python -c" && name == "print" {
        // `print("…", file=p.stdin)`
        let given = arguments(behind, 0);
        let is_stdin = |token: &Token| matches!(token, Token::Name(name) if last(name) == "stdin");
        return given.iter().any(is_stdin).then_some(0);
    }
    if !pipes || !WRITERS.contains(&own) || OWN.iter().any(|own| of(own)) {
        return None;
    }
    match (language.name, behind) {
        // `print P "…"`, `print {$p} "…"`
        ("perl -e", [Token::Name(_), Token::Text(_), ..]) => Some(1),
        (
            "perl -e",
            [
                Token::Sign('{'),
                Token::Name(_),
                Token::Sign('}'),
                Token::Text(_),
                ..,
            ],
        ) => Some(3),
        ("perl -e", _) => None,
        ("php -r", _) => name.starts_with('f').then_some(0),
        _ => (name != own || own == "write").then_some(0),
    }
}

/// Returns a function's texts: all between its brackets, or the one that follows.
fn texts(tokens: &[Token], at: usize) -> Vec<String> {
    match tokens.get(at) {
        Some(Token::Text(text)) => vec![text.clone()],
        Some(Token::Sign('(')) => {
            let options = SpawnOptions::by(&arguments(tokens, at));
            options.input.into_iter().chain(options.words).collect()
        }
        _ => Vec::new(),
    }
}
