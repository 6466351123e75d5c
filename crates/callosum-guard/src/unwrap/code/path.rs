//! What objects that stand for a path are told to do to it: `Path("a").write_text("b")`, `Pathname.new("a").unlink`.
//!
//! Where a name holds one, such a method is written behind the path itself, with a point before it, so that no
//! function of the same name is taken for it.

use super::{Effect, Language, at_home, before, token::Token, words, written::opens};

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
                | "open"
                | "glob"
                | "rglob"
                | "iterdir"
        ),
        "ruby -e" => matches!(
            method,
            "write" | "binwrite" | "unlink" | "rmdir" | "rmtree" | "rename" | "open"
        ),
        _ => false,
    }
}

/// What such a method does, called where it stands; `None` where it is told of as a function.
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
        // A text has a method of that name which is given two.
        "rename" | "replace" => match arguments {
            [Token::Sign('('), Token::Text(to)] => {
                Some(words(&["mv", &path, &at_home(to.clone(), home)]))
            }
            _ => None,
        },
        _ => None,
    }
}
