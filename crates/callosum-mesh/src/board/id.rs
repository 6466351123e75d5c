//! Rules for ids of tasks, messages and discoveries: [`is_id`].
//!
//! Ids occur within our own text and in commands to be pasted, for people and for models. So an id
//! is one plain word, which no shell splits and no reader mistakes for a sentence of ours.

use callosum_redact::secrets::mask;

use super::{BoardError, Command, Effect};

/// Most bytes of an id.
const LONGEST: usize = 128;

/// Whether a text may name something on the board: up to 128 letters, digits and `.`, `_`, `-`, `:`, `/`, `@`, `+`, the
/// first a letter or digit.
pub(super) fn is_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:/@+".contains(&byte);
    text.len() <= LONGEST
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(is_plain)
}

/// Refuses an order that would name something by what is no id.
pub(super) fn check(order: &Command) -> Result<(), BoardError> {
    let (what, id) = match order {
        Command::Add(task) => ("a task", &task.id),
        Command::Send { id, .. } => ("a message", id),
        Command::Share { id, .. } => ("a discovery", id),
        _ => return Ok(()),
    };
    let masked = mask(id);
    if !masked.found.is_empty() {
        let found = masked.text;
        return Err(BoardError::SecretId { what, found });
    }
    if is_id(id) {
        return Ok(());
    }
    Err(BoardError::NoId {
        what,
        found: id.chars().take(LONGEST).collect(),
    })
}

/// Whether a deed that was read names what it makes by an id.
pub(super) fn is_named(deed: &Effect) -> bool {
    match deed {
        Effect::TaskAdded { id, .. } | Effect::MessageSent { id, .. } => is_id(id),
        Effect::Discovered { id, .. } => id.as_deref().is_none_or(is_id),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-SEC-1: nothing that names a task is a sentence, a command or another line.
    #[test]
    fn an_id_is_one_plain_word() {
        for id in ["t1", "review-parser", "0b1c:17", "a/b.c_d", "T@x+1"] {
            assert!(is_id(id), "{id}");
        }
        let long = "a".repeat(LONGEST + 1);
        for none in [
            "",
            "-rf",
            "--force",
            ".a",
            "a b",
            "a;b",
            "a`b`",
            "a$b",
            "a\nb",
            "a\u{202e}b",
            "ä",
            "a'b",
            "a\"",
            &long,
        ] {
            assert!(!is_id(none), "{none}");
        }
    }
}
