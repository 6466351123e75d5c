//! Methods of path objects: `Path("a").write_text("b")`, `Pathname.new("a").unlink`.
//!
//! If a name holds the path, the method is written behind the path itself, with a point before it,
//! so that no function of the same name is taken for it.

use super::{
    Effect, Language, at_home, before, call::parts, file_writes::opens, mode::mode, token::Token,
    words,
};
use crate::analyze::value::SOME;

/// Whether a method does something to the path that it is called on. What texts have as well is none of them.
pub(super) fn is_method(language: &Language, method: &str) -> bool {
    match language.name {
        "python -c" => matches!(
            method,
            "write_text"
                | "write_bytes"
                | "unlink"
                | "rmdir"
                | "rename"
                | "replace"
                | "symlink_to"
                | "hardlink_to"
                | "touch"
                | "chmod"
                | "open"
                | "glob"
                | "rglob"
                | "iterdir"
        ),
        "ruby -e" => matches!(
            method,
            "write"
                | "binwrite"
                | "unlink"
                | "rmdir"
                | "rmtree"
                | "rename"
                | "chmod"
                | "make_symlink"
                | "open"
        ),
        _ => false,
    }
}

/// Returns the effect of such a method called here; `None` if it is reported as a function.
pub(super) fn asked(
    whole: &str,
    tokens: &[Token],
    at: usize,
    arguments: &[Token],
    home: &str,
) -> Option<Effect> {
    let method = whole.strip_prefix('.')?;
    let path = at_home(before(tokens, at)?, home);
    match method {
        "write" | "binwrite" => Some(Effect::Writes(path, None)),
        "open" => opens(arguments).then_some(Effect::Writes(path, None)),
        _ => None,
    }
}

/// Returns the effect of a method on the path before it, a literal or a name's value:
/// `Path("a").rename("b")`.
///
/// A function of the same name on the next line differs by its arguments: `open("a", "w")`,
/// `os.rename("a", "b")`.
pub(super) fn method_effect(
    language: &Language,
    whole: &str,
    tokens: &[Token],
    at: usize,
    arguments: &[Token],
    home: &str,
) -> Option<Effect> {
    let (method, is_held) = match whole.strip_prefix('.') {
        Some(method) => (method, true),
        None => (whole, false),
    };
    let is_python = language.name == "python -c";
    if !is_python && language.name != "ruby -e" {
        return None;
    }
    let path = at_home(path_before(tokens, at)?, home);
    let parts = parts(arguments);
    let only = match parts.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let text = |part: &[Token]| match part {
        [Token::Text(text)] => Some(at_home(text.clone(), home)),
        _ => None,
    };
    match method {
        // A text has a method of the second name which is given two, and in Ruby one.
        "rename" => {
            let to = text(only?).unwrap_or_else(|| SOME.to_string());
            Some(words(&["mv", &path, &to]))
        }
        "replace" if is_python => Some(words(&["mv", &path, &text(only?)?])),
        "symlink_to" | "hardlink_to" | "make_symlink" => {
            let parts = parts.first()?;
            let to = text(parts).unwrap_or_else(|| SOME.to_string());
            let (to, at) = match method {
                "make_symlink" => (path, to),
                _ => (to, path),
            };
            Some(words(&["ln", "-s", &to, &at]))
        }
        "touch" if is_python => Some(words(&["touch", &path])),
        "chmod" => Some(words(&["chmod", &mode(only?), &path])),
        "open" if !is_held => {
            let first = parts.first()?;
            opens(first).then_some(Effect::Writes(path, None))
        }
        _ => None,
    }
}

/// The text that ends before a method, in brackets of its own or in none: `(Path.home() / "a").touch()`.
fn path_before(tokens: &[Token], at: usize) -> Option<String> {
    match &tokens[..at] {
        [.., Token::Text(text)] => Some(text.clone()),
        [
            front @ ..,
            Token::Sign('('),
            Token::Text(text),
            Token::Sign(')'),
        ] if !matches!(front.last(), Some(Token::Name(_))) => Some(text.clone()),
        _ => None,
    }
}
