//! Values of strings before a program is examined: spelled by numbers, the home folder, parts of a
//! path.
//!
//! Values of names are in `constants`.

use super::{arguments, at_home, last, quoting, token::Token};
use crate::analyze::value::SOME;

/// Puts letters in the place of their numbers: `chr(114)`, `String.fromCharCode(114, 109)`.
pub(super) fn lettered(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let spells = matches!(&token, Token::Name(name) if matches!(last(name), "chr" | "fromCharCode" | "char"));
        if !spells || rest.peek() != Some(&Token::Sign('(')) {
            out.push(token);
            continue;
        }
        rest.next();
        let mut digits = String::new();
        for inner in rest.by_ref() {
            match inner {
                Token::Sign(')') => break,
                Token::Sign(c) => digits.push(c),
                _ => digits.push(','),
            }
        }
        let text: String = digits
            .split(',')
            .filter_map(|number| number.trim().parse().ok().and_then(char::from_u32))
            .collect();
        out.push(Token::Text(text));
    }
    out
}

/// Puts the home folder in the place of what comes to it: `Path.home()`, `os.homedir()`,
/// `expanduser("~")`, `os.environ["HOME"]`, `process.env.HOME`.
pub(super) fn homed(tokens: Vec<Token>, home: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let behind = tokens.get(at + 1..).unwrap_or_default();
        // `require("os").homedir()`
        if let [
            ..,
            Token::Name(require),
            Token::Sign('('),
            Token::Text(library),
            Token::Sign(')'),
        ] = out.as_slice()
            && require == "require"
            && library.trim_start_matches("node:") == "os"
            && *token == Token::Name("homedir".to_owned())
        {
            out.truncate(out.len() - 4);
            out.push(Token::Text(home.to_owned()));
            at += 3;
            continue;
        }
        if let Some((temporary, length)) = temporary(token, behind) {
            at += length;
            // `with TemporaryDirectory() as d`, `Dir.mktmpdir { |d| … }`. A call whose end is cut off counts as one token longer.
            match tokens.get(at..).unwrap_or_default() {
                [Token::Name(word), variable @ Token::Name(_), ..] if word == "as" => {
                    out.extend([variable.clone(), Token::Sign('=')]);
                    at += 2;
                }
                [
                    Token::Sign('{') | Token::Name(_),
                    Token::Sign('|'),
                    variable @ Token::Name(_),
                    Token::Sign('|'),
                    ..,
                ] => {
                    out.extend([variable.clone(), Token::Sign('=')]);
                    at += 4;
                }
                _ => {}
            }
            out.push(Token::Text(temporary));
            continue;
        }
        let found = match (token, behind) {
            (Token::Name(name), [Token::Sign('('), Token::Sign(')'), ..])
                if name.contains('.') && matches!(last(name), "home" | "homedir" | "user_home") =>
            {
                Some((home.to_owned(), 3))
            }
            (Token::Name(name), [Token::Sign('('), Token::Text(text), Token::Sign(')'), ..])
                if matches!(last(name), "expanduser" | "Path" | "Pathname")
                    || matches!(name.as_str(), "File.expand_path" | "Pathname.new") =>
            {
                Some((at_home(text.clone(), home), 4))
            }
            (
                Token::Name(name),
                [
                    Token::Sign('(' | '['),
                    Token::Text(text),
                    Token::Sign(')' | ']'),
                    ..,
                ],
            ) if text == "HOME"
                && matches!(
                    last(name),
                    "environ" | "getenv" | "ENV" | "ENVIRON" | "get" | "env"
                ) =>
            {
                Some((home.to_owned(), 4))
            }
            // `$ENV{HOME}` of Perl's, `$_SERVER["HOME"]` of PHP's, `getProperty("user.home")`
            (
                Token::Name(name),
                [
                    Token::Sign('{' | '[' | '('),
                    Token::Text(key) | Token::Name(key),
                    Token::Sign('}' | ']' | ')'),
                    ..,
                ],
            ) if key == "HOME" && matches!(name.as_str(), "$ENV" | "$_SERVER" | "$_ENV")
                || key == "user.home" && last(name) == "getProperty" =>
            {
                Some((home.to_owned(), 4))
            }
            (Token::Name(name), [Token::Sign('('), Token::Sign(')'), ..])
                if matches!(last(name), "tmpdir" | "gettempdir") =>
            {
                Some(("/tmp".to_owned(), 3))
            }
            // The folder in which it runs.
            (Token::Name(name), [Token::Sign('('), Token::Sign(')'), ..])
                if name == "getcwd"
                    || name.contains('.') && matches!(last(name), "getcwd" | "cwd") =>
            {
                Some((".".to_owned(), 3))
            }
            (Token::Name(name), _) if matches!(name.as_str(), "Dir.pwd" | "Dir.getwd") => {
                Some((".".to_owned(), 1))
            }
            (Token::Name(name), _) if name.ends_with("env.HOME") || name == "Dir.home" => {
                Some((home.to_owned(), 1))
            }
            (Token::Name(name), _)
                if let Some(method) = name.strip_prefix("Dir.home.")
                    && quoting::is_quoting(method) =>
            {
                Some((quoting::made(method, home), 1))
            }
            _ => None,
        };
        if let Some((text, length)) = found {
            // `a = "b"`, and in the next line `Path("c").touch()`: no two strings side by side, which are one.
            let is_called = behind.first() == Some(&Token::Sign('('));
            if is_called && matches!(out.last(), Some(Token::Text(_))) {
                out.push(Token::Sign(';'));
            }
            out.push(Token::Text(text));
            at += length;
        } else {
            out.push(token.clone());
            at += 1;
        }
    }
    out
}

/// Functions that make a folder below the temporary one, unless an argument names another.
const TEMPORARY: [&str; 6] = [
    "TemporaryDirectory",
    "mkdtemp",
    "mkdtempSync",
    "mktmpdir",
    "makeTempDir",
    "makeTempDirSync",
];

/// The folder that such a function makes, and how many pieces that is.
fn temporary(token: &Token, behind: &[Token]) -> Option<(String, usize)> {
    let Token::Name(name) = token else {
        return None;
    };
    if !TEMPORARY.contains(&last(name)) {
        return None;
    }
    let made = format!("/tmp/{SOME}");
    if behind.first() != Some(&Token::Sign('(')) {
        return (name == "Dir.mktmpdir").then_some((made, 1));
    }
    let given = arguments(behind, 0);
    let is_told = given.iter().enumerate().any(|(at, token)| match token {
        Token::Name(name) => name == "dir" || name.starts_with("dir:"),
        // A path, or the second of two.
        Token::Text(text) => {
            text.contains('/') && !text.starts_with("/tmp/")
                || given[..at].contains(&Token::Sign(',')) && !is_of_tmpdir(&given)
        }
        _ => false,
    });
    // Node's takes the whole beginning of the path.
    let is_there = !name.ends_with("Sync")
        || name.contains("makeTemp")
        || is_of_tmpdir(&given)
        || matches!(given.get(1), Some(Token::Text(text)) if text.starts_with("/tmp/"));
    (is_there && !is_told).then_some((made, 2 + given.len()))
}

/// Whether the folder for what is temporary is asked for there.
fn is_of_tmpdir(given: &[Token]) -> bool {
    let asks = |token: &Token| matches!(token, Token::Name(name) if last(name) == "tmpdir");
    given.iter().any(asks)
}

/// Joins the parts that make a path: `os.path.join("a", "b")`, what is not known as some name.
pub(super) fn pathed(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        // `require("path").join(…)`
        let of_path = matches!(&tokens[..at], [.., Token::Text(library), Token::Sign(')')]
            if library.trim_start_matches("node:") == "path");
        let joins = matches!(token, Token::Name(name)
            if name.ends_with("path.join") || name.ends_with("path.resolve") || name == "File.join"
                || of_path && matches!(name.as_str(), "join" | "resolve"));
        let close = || {
            tokens[at..]
                .iter()
                .position(|token| *token == Token::Sign(')'))
        };
        let is_called = joins && tokens.get(at + 1) == Some(&Token::Sign('('));
        let Some(length) = is_called.then(close).flatten() else {
            out.push(token.clone());
            at += 1;
            continue;
        };
        let inner = &tokens[at + 2..at + length];
        let parts = inner.split(|token| *token == Token::Sign(','));
        let parts: Vec<String> = parts
            .map(|part| match part {
                // `process.env.HOME!`
                [Token::Text(text)] | [Token::Text(text), Token::Sign('!')] => text.clone(),
                _ => SOME.to_string(),
            })
            .collect();
        // What calls something within is not taken apart.
        if inner.contains(&Token::Sign('(')) {
            out.push(token.clone());
            at += 1;
            continue;
        }
        if of_path && let [.., Token::Name(_), Token::Sign('('), _, _] = out.as_slice() {
            out.truncate(out.len() - 4);
        }
        out.push(Token::Text(parts.join("/")));
        at += 3 + inner.len();
    }
    out
}
