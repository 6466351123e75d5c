//! Programs in compiled languages: C, C++, Rust, Go, Java, Kotlin, C#, Swift, Zig and others like
//! them.
//!
//! As elsewhere no language is parsed, and all of them are read alike: a function is known by the
//! last part of its name. Deleting a whole folder by an unknown name is recorded as such, unless
//! the program mentions a temporary one.

mod function;
mod place;

pub(super) use self::place::joins;
use self::{
    function::{DELETE, DELETE_ONE, DELETE_WHOLE, HARD, MOVE, RUN, SHELL, WALK, WRITE},
    place::placed,
};
use super::{
    Effect, Language, arguments, at_home, before, command_strings::holds_a_command,
    constants::folded, dynamic_spawn, last, names_home, token::Token, words,
};
use crate::{
    analyze::{
        KnownPrograms,
        value::{MAYBE, SOME},
    },
    tool_name,
};

/// All of them, as one language.
pub(in crate::analyze) const COMPILED: &Language = &Language::compiled("compiled");

/// The same, as part of a project: the arguments of its functions are in other files.
pub(in crate::analyze) const PROJECT: &Language = &Language::compiled("project");

/// The call that is recorded for the deletion of an unknown folder.
const UNKNOWN: &str = "unknown-deletes";

/// Times that names and paths are put in their places: a path that is joined of a name may be held by another.
const ROUNDS: usize = 3;

/// The pieces of a program with what is known of names and paths; what is put into a text otherwise is not.
pub(super) fn known(language: &Language, tokens: Vec<Token>, home: &str) -> Vec<Token> {
    let mut tokens = plain(tokens);
    for _ in 0..ROUNDS {
        let length = tokens.len();
        tokens = folded(language, placed(&tokens, home, None), home);
        if tokens.len() == length {
            break;
        }
    }
    let mut tokens = folded(language, placed(&tokens, home, Some(SOME)), home);
    for token in &mut tokens {
        if let Token::Text(text) = token {
            *text = filled(text);
        }
    }
    tokens
}

/// Drops the tokens that only give the kind of a name, so that `p := "x"`, `p: &str = "x"` and
/// `char p[] = "x"` are read as `p = "x"`.
fn plain(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let Some(token) = rest.first() {
        let length = match rest {
            [_, Token::Sign(':'), kind @ ..] => {
                let is_kind =
                    |token: &Token| matches!(token, Token::Name(_) | Token::Sign('&' | '?' | '*'));
                let length = kind.iter().take_while(|token| is_kind(token)).count();
                (kind.get(length) == Some(&Token::Sign('='))).then_some(length + 1)
            }
            [_, Token::Sign('['), Token::Sign(']'), Token::Sign('='), ..] => Some(2),
            _ => None,
        };
        out.push(token.clone());
        let skipped = length.filter(|_| matches!(token, Token::Name(_)));
        rest = &rest[1 + skipped.unwrap_or(0)..];
    }
    out
}

fn filled(text: &str) -> String {
    let maybe = MAYBE.to_string();
    ["%s", "%v", "%q", "{}", "%ls"]
        .iter()
        .fold(text.to_owned(), |text, format| text.replace(format, &maybe))
}

/// Lists the effects of a program, as far as its strings show them.
pub(super) fn effects(
    language: &Language,
    tokens: &[Token],
    home: &str,
    known: KnownPrograms,
) -> Vec<Effect> {
    let names = || {
        tokens.iter().filter_map(|token| match token {
            Token::Name(name) => Some(name.as_str()),
            _ => None,
        })
    };
    let deletes_any = names().any(|name| deletes(name) || DELETE_ONE.contains(&last(name)));
    let is_told = language.name == PROJECT.name || tokens.iter().any(speaks_of_temporary);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Name(name) = token else { continue };
        let is_called = matches!(tokens.get(at + 1), Some(Token::Sign('(' | '{')))
            || matches!(tokens.get(at + 1), Some(Token::Text(_)));
        if !is_called {
            continue;
        }
        let given = arguments(tokens, at + 1);
        let texts = texts(&given);
        let own = last(name);
        if name.ends_with("Command::new") || name.ends_with("Process::new") {
            found.extend(chained(&texts, tokens, at));
        } else if matches!(own, "reset" | "Reset" | "git_reset" | "ResetOptions")
            && given.iter().any(
                |token| matches!(token, Token::Name(name) if HARD.iter().any(|end| name.ends_with(end))),
            )
        {
            found.push(words(&["git", "reset", "--hard"]));
        } else if SHELL.contains(&own) || matches!(name.as_str(), "Sys.command" | "Unix.system") {
            found.extend(texts.first().cloned().map(Effect::Shell));
        } else if RUN.contains(&own) {
            found.extend(run(name, &texts, known));
        } else if deletes(name) {
            match path(&given, &texts, name, tokens, at, home) {
                Some(path) => found.push(words(&["rm", "-rf", &path])),
                None if !is_told => found.push(words(&[UNKNOWN])),
                None => {}
            }
        } else if DELETE_ONE.contains(&own) {
            let path = path(&given, &texts, name, tokens, at, home);
            found.extend(path.map(|path| words(&["rm", "-f", &path])));
        } else if WALK.contains(&own) && deletes_any {
            let path = path(&given, &texts, name, tokens, at, home);
            let perhaps = path.map(|path| format!("rm -rf {}", quoted(&path)));
            found.extend(perhaps.map(Effect::Perhaps));
        } else if let Some((_, program)) = MOVE.iter().find(|(end, _)| name.ends_with(end))
            && let [from, .., to] = texts.as_slice()
        {
            let (from, to) = (at_home(from.clone(), home), at_home(to.clone(), home));
            found.push(words(&[program, &from, &to]));
        } else if WRITE.iter().any(|end| name.ends_with(end)) || own == "fopen" && opens(&texts) {
            let path = texts.first().cloned();
            found.extend(path.map(|path| Effect::Writes(at_home(path, home), None)));
        }
    }
    if forks_for_ever(tokens) {
        found.push(words(&["fork-bomb"]));
    }
    let runs = names().any(|name| {
        let own = last(name);
        SHELL.contains(&own) || RUN.contains(&own) || name.ends_with("Command::new")
    });
    let speaks_of_processes = names().any(|name| {
        let mut parts = name.split(['.', ':']);
        parts.any(|part| matches!(part, "Child" | "Process" | "process" | "Popen"))
    });
    if runs || speaks_of_processes {
        found.extend(
            texts(tokens)
                .into_iter()
                .filter(|text| text.contains(' ') && holds_a_command(text, known))
                .map(Effect::Perhaps),
        );
        found.extend(lists(tokens, known));
        found.extend(dynamic_spawn::named_commands(tokens));
    }
    found
}

fn deletes(name: &str) -> bool {
    DELETE.contains(&last(name)) || DELETE_WHOLE.contains(&name)
}

fn texts(tokens: &[Token]) -> Vec<String> {
    let texts = tokens.iter().filter_map(|token| match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// The words that `Command::new("a").arg("b")` runs, also where its arguments are added later.
fn chained(program: &[String], tokens: &[Token], at: usize) -> Option<Effect> {
    let mut line = vec![program.first()?.clone()];
    let behind = &tokens[at + 1..];
    let is_next = |token: &Token| matches!(token, Token::Name(name) if name.ends_with("::new"));
    let end = behind.iter().position(is_next).unwrap_or(behind.len());
    for (here, token) in behind[..end].iter().enumerate() {
        if let Token::Name(name) = token
            && matches!(last(name), "arg" | "args")
        {
            line.extend(texts(&arguments(behind, here + 1)));
        }
    }
    Some(Effect::Words(line))
}

/// Returns the command that a function runs which takes a program and its words.
fn run(name: &str, texts: &[String], known: KnownPrograms) -> Option<Effect> {
    let program = texts.first()?;
    // `run` and `Start` are names of everything; what runs a program names one.
    let is_general = matches!(
        last(name),
        "run" | "Start" | "execute" | "spawn" | "proc" | "exec"
    );
    if is_general && !holds_a_command(program, known) {
        return None;
    }
    if matches!(last(name), "Start" | "ProcessStartInfo") || texts.len() == 1 {
        return Some(Effect::Shell(texts.join(" ")));
    }
    // `execl("/bin/rm", "rm", "-rf", "/")` has the name twice.
    let again = texts.len() > 2
        && crate::path::name(program) == crate::path::name(&texts[1])
        && !texts[1].starts_with('-');
    Some(Effect::Words(texts[usize::from(again)..].to_vec()))
}

/// Returns the path of a function's arguments: its strings joined, from the home folder on if that
/// is named.
fn path(
    given: &[Token],
    texts: &[String],
    name: &str,
    tokens: &[Token],
    at: usize,
    home: &str,
) -> Option<String> {
    let is_here = |token: &Token| {
        matches!(token, Token::Name(name) if matches!(last(name), "current_dir" | "Getwd" | "getcwd" | "GetCurrentDirectory" | "currentDirectoryPath"))
            || matches!(token, Token::Text(text) if text == "user.dir")
    };
    let is_asked = |text: &&String| !matches!(text.as_str(), "HOME" | "user.home" | "user.dir");
    let inner: Vec<&str> = texts.iter().filter(is_asked).map(String::as_str).collect();
    let joined = inner.join("/");
    let names_home = names_home(given)
        || given.iter().any(|token| match token {
            Token::Name(name) => {
                matches!(
                    last(name),
                    "home_dir"
                        | "UserHomeDir"
                        | "UserProfile"
                        | "NSHomeDirectory"
                        | "homeDirectoryForCurrentUser"
                )
            }
            Token::Text(text) => text == "user.home",
            Token::Run(_) | Token::Sign(_) => false,
        });
    if names_home {
        return Some(format!("{home}/{joined}").trim_end_matches('/').to_owned());
    }
    if given.iter().any(is_here) {
        return Some(format!("./{joined}"));
    }
    if !joined.is_empty() {
        return Some(at_home(joined, home));
    }
    // A method applies to the value before it.
    let is_method = !name.contains(['.', ':']);
    is_method.then(|| before(tokens, at))?
}

/// Whether a name or a string is about temporary files.
fn speaks_of_temporary(token: &Token) -> bool {
    let (Token::Name(text) | Token::Text(text)) = token else {
        return false;
    };
    tool_name::words(text).iter().any(|word| {
        word.starts_with("tmp")
            || word.starts_with("mkdtemp")
            || word.starts_with("temp")
                && !word.starts_with("template")
                && !word.starts_with("temperature")
    })
}

/// Strings in brackets that are the words of a program: `&.{ "rm", "-rf", "x" }`.
fn lists(tokens: &[Token], known: KnownPrograms) -> Vec<Effect> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if !matches!(token, Token::Sign('[' | '{')) {
            continue;
        }
        let mut items: Vec<&str> = Vec::new();
        for pair in tokens[at + 1..].chunks(2) {
            let Some(Token::Text(text)) = pair.first() else {
                break;
            };
            items.push(text);
            if pair.get(1) != Some(&Token::Sign(',')) {
                break;
            }
        }
        if items.len() > 1 && known.contains(crate::path::name(items[0])) {
            let line: Vec<String> = items.iter().map(|word| quoted(word)).collect();
            found.push(Effect::Perhaps(line.join(" ")));
        }
    }
    found
}

/// A word as a shell is given it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn opens(texts: &[String]) -> bool {
    texts.get(1).is_some_and(|mode| mode.starts_with('w'))
}

/// `while (1) fork();`, `for (;;) { fork(); }` or `loop { fork() }`.
fn forks_for_ever(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|at| {
        if !matches!(&tokens[at], Token::Name(name) if last(name) == "fork") {
            return false;
        }
        let before = tokens[..at].iter().rev().take(7);
        let signs: String = before
            .map(|token| match token {
                Token::Sign(sign) => *sign,
                Token::Name(name) => match name.as_str() {
                    "while" => 'w',
                    "for" => 'f',
                    "loop" => 'l',
                    "true" => '1',
                    _ => 'x',
                },
                Token::Text(_) | Token::Run(_) => 'x',
            })
            .collect();
        let signs = signs.trim_start_matches('{');
        signs.starts_with(")1(w") || signs.starts_with(");;(f") || signs.starts_with('l')
    })
}

#[cfg(test)]
mod tests;
