//! Programs that a program runs with arguments which are not known: `run(["git", *args])`.
//!
//! The subcommand decides whether a tool such as git destroys something. If the call is in a
//! function, the callers of that function show it.

use super::{Effect, arguments, function::RUN, last, token::Token, words};
use crate::path;

/// Tools that destroy by some of their commands.
const VERBED: [&str; 24] = [
    "git",
    "hg",
    "jj",
    "docker",
    "podman",
    "kubectl",
    "oc",
    "helm",
    "terraform",
    "tofu",
    "pulumi",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "az",
    "heroku",
    "fly",
    "flyctl",
    "vercel",
    "supabase",
    "firebase",
    "gsutil",
    "redis-cli",
];
/// Their options that take the next word.
const TAKES: [&str; 8] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "-n",
    "--namespace",
    "--context",
    "-R",
];

/// The command that reports it to the rules.
const NAME: &str = "hidden-verb";

/// Lists programs that run with an unknown subcommand, with the facts that their callers supply.
pub(super) fn verbs(tokens: &[Token]) -> Vec<Effect> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let program = if name.ends_with("Command::new") {
            chained(&tokens[at + 1..])
        } else if RUN.contains(&last(name)) {
            hidden(&tokens[at + 1..])
        } else {
            None
        };
        let Some(program) = program else {
            continue;
        };
        match function_around(tokens, at) {
            Some(function) => found.extend(by_callers(tokens, function, &program)),
            None => found.push(words(&[NAME, &program])),
        }
    }
    found
}

/// Lists the commands that callers of a compiled program's function have it run, as far as they
/// name them.
pub(super) fn named_commands(tokens: &[Token]) -> Vec<Effect> {
    let is_told = |effect: &Effect| match effect {
        Effect::Words(words) => words.first().is_none_or(|first| first != NAME),
        _ => true,
    };
    let mut found = verbs(tokens);
    found.retain(is_told);
    found
}

/// The program of `Command::new("git").args(args)`.
fn chained(behind: &[Token]) -> Option<String> {
    let [
        Token::Sign('('),
        Token::Text(program),
        Token::Sign(')'),
        Token::Name(adds),
        Token::Sign('('),
        rest @ ..,
    ] = behind
    else {
        return None;
    };
    let is_name = matches!(
        rest,
        [Token::Name(_), ..] | [Token::Sign('&'), Token::Name(_), ..]
    );
    let program = path::name(program);
    let is_hidden = is_name && adds == "args" && VERBED.contains(&program);
    is_hidden.then(|| program.to_owned())
}

/// Returns the program that is run here, if its first argument that is no option is not known.
fn hidden(behind: &[Token]) -> Option<String> {
    let from = behind
        .iter()
        .take(3)
        .position(|token| matches!(token, Token::Text(_)))?;
    if !behind[..from]
        .iter()
        .all(|token| matches!(token, Token::Sign('(' | '[')))
    {
        return None;
    }
    let Token::Text(text) = &behind[from] else {
        return None;
    };
    let mut parts = text.split_whitespace();
    let program = path::name(parts.next()?);
    if !VERBED.contains(&program) {
        return None;
    }
    let mut rest = &behind[from + 1..];
    if let Some(verb) = parts.find(|part| !part.starts_with('-')) {
        // `git ${args}`
        let is_hidden = ["${", "#{", "{", "%s"]
            .iter()
            .any(|sign| verb.starts_with(sign));
        return is_hidden.then(|| program.to_owned());
    }
    // `"git " + args`
    if text.ends_with(' ') {
        let adds = matches!(rest, [Token::Sign('+' | '.'), Token::Name(_), ..]);
        return adds.then(|| program.to_owned());
    }
    let mut is_value = false;
    loop {
        rest = match rest {
            [Token::Sign(']'), Token::Sign('+'), rest @ ..]
            | [Token::Sign(',' | '[' | '*' | '.'), rest @ ..] => rest,
            [Token::Text(option), rest @ ..] if option.starts_with('-') => {
                is_value = TAKES.contains(&option.as_str());
                rest
            }
            [Token::Text(_) | Token::Name(_), rest @ ..] if is_value => {
                is_value = false;
                rest
            }
            // Named arguments and functions are none of its arguments.
            [Token::Name(_), Token::Sign('='), ..] => return None,
            [Token::Name(name), ..]
                if !matches!(name.as_str(), "function" | "async" | "lambda") =>
            {
                return Some(program.to_owned());
            }
            _ => return None,
        };
    }
}

/// Returns the name of the function around this position, if it can be found.
fn function_around(tokens: &[Token], at: usize) -> Option<&str> {
    tokens[..at].iter().enumerate().rev().find_map(|(here, token)| {
        let Token::Name(name) = token else { return None };
        let behind = &tokens[here + 1..at];
        match (name.as_str(), behind) {
            ("def" | "function" | "sub" | "fn" | "func", [Token::Name(function), ..]) => Some(function.as_str()),
            (_, [Token::Sign('='), rest @ ..]) => {
                let is_arrow = rest
                    .array_windows()
                    .take(12)
                    .any(|pair| *pair == [Token::Sign('='), Token::Sign('>')]);
                let is_function = matches!(rest, [Token::Name(first), ..] if matches!(first.as_str(), "lambda" | "function"));
                (is_arrow || is_function).then_some(name.as_str())
            }
            _ => None,
        }
    })
}

/// Lists the commands that callers of a function have it run: the program with their arguments.
fn by_callers(tokens: &[Token], function: &str, program: &str) -> Vec<Effect> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_call = matches!(token, Token::Name(name) if last(name) == last(function))
            && tokens.get(at + 1) == Some(&Token::Sign('('))
            && !matches!(tokens[..at], [.., Token::Name(ref before)] if matches!(before.as_str(), "def" | "function" | "sub" | "fn" | "func"));
        if !is_call {
            continue;
        }
        let given = arguments(tokens, at + 1);
        let first = given
            .iter()
            .find(|token| !matches!(token, Token::Sign('(' | '[' | '&')));
        match first {
            Some(Token::Text(_)) => {
                let texts = given.iter().filter_map(|token| match token {
                    Token::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                let all: Vec<&str> = std::iter::once(program)
                    .chain(texts.flat_map(str::split_whitespace))
                    .collect();
                found.push(words(&all));
            }
            Some(_) => found.push(words(&[NAME, program])),
            None => {}
        }
    }
    found
}
