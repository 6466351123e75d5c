//! [`Prepared`]: a text that is safe to paste into a terminal.
//!
//! Control characters are refused, not removed: a text that loses characters is another text, and its sender would not
//! know.

use thiserror::Error;

/// Bytes that a text may have: the limit of `codex queue`, the smallest of all routes, so that a text that one route
/// takes does not fail on another.
pub const MOST_BYTES: usize = 32 * 1024;

/// Characters of a text that are looked for in the conversation. A client may cut a long prompt there.
const NEEDLE: usize = 48;

/// Reasons to refuse a text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TextError {
    /// It has no character that a person would see.
    #[error("the text is empty")]
    Empty,
    /// It is longer than [`MOST_BYTES`].
    #[error("the text has {bytes} bytes (limit: {MOST_BYTES})")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It contains a control character. A terminal or a client would act on it.
    #[error("the text has a control character (U+{code:04X}) at byte {at}")]
    Control {
        /// The character.
        code: u32,
        /// Its place in bytes.
        at: usize,
    },
}

/// A text without control characters, and the form in which it is found on a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    text: String,
    squashed: String,
}

/// Checks a text and returns it ready to paste.
///
/// Newlines and tabs stay, `\r\n` becomes `\n`, and blank lines at the end go. Every other character of C0 and C1 is
/// refused, so no escape sequence survives, such as the one that ends a bracketed paste. Characters that change the
/// direction of text are refused, too: a person could not read what an agent got.
pub fn prepare(text: &str) -> Result<Prepared, TextError> {
    if text.len() > MOST_BYTES {
        return Err(TextError::TooLong { bytes: text.len() });
    }
    let text = text.replace("\r\n", "\n");
    for (at, letter) in text.char_indices() {
        let is_allowed = matches!(letter, '\n' | '\t');
        let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let breaks = matches!(letter, '\u{2028}' | '\u{2029}');
        if (letter.is_control() && !is_allowed) || turns || breaks {
            let code = u32::from(letter);
            return Err(TextError::Control { code, at });
        }
    }
    let text = text.trim_end().to_owned();
    let squashed = squash(&text);
    if squashed.is_empty() {
        return Err(TextError::Empty);
    }
    Ok(Prepared { text, squashed })
}

impl Prepared {
    /// Returns the text as it is pasted.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text without white space. A client wraps and indents it, so a screen is compared in this form.
    pub fn squashed(&self) -> &str {
        &self.squashed
    }

    /// Returns the beginning of [`squashed`](Self::squashed) that is looked for in the conversation.
    pub fn needle(&self) -> &str {
        let end = self.squashed.char_indices().nth(NEEDLE);
        end.map_or(&self.squashed, |(end, _)| &self.squashed[..end])
    }

    /// Returns the first character if a client takes it for a command of its own and not for words to the agent: `/`,
    /// or `!`, which runs the rest in a shell.
    pub fn command(&self) -> Option<char> {
        let first = self.squashed.chars().next();
        first.filter(|first| matches!(first, '/' | '!'))
    }
}

/// Removes white space, and characters without a width, which terminals drop.
pub(super) fn squash(text: &str) -> String {
    let is_kept = |letter: &char| {
        !letter.is_whitespace()
            && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    text.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_and_its_end_is_trimmed() {
        let prepared = prepare("Fix\tthe  bug\r\n  now\n\n").unwrap();
        assert_eq!(prepared.as_str(), "Fix\tthe  bug\n  now");
        assert_eq!(prepared.squashed(), "Fixthebugnow");
        assert_eq!(prepared.needle(), "Fixthebugnow");
        let long = prepare(&"ü".repeat(100)).unwrap();
        assert_eq!(long.needle().chars().count(), NEEDLE);
    }

    #[test]
    fn control_characters_and_empty_texts_are_refused() {
        for text in ["", " \n\t", "\u{200b}"] {
            assert_eq!(prepare(text), Err(TextError::Empty), "{text:?}");
        }
        let texts = [
            "a\u{1b}[201~b",
            "a\u{9b}201~",
            "a\rb",
            "a\u{3}",
            "a\u{7f}",
            "a\0",
            "a\u{202e}b",
            "a\u{85}b",
        ];
        for text in texts {
            assert!(
                matches!(prepare(text), Err(TextError::Control { at: 1, .. })),
                "{text:?}"
            );
        }
        let error = prepare("ab\u{1b}").unwrap_err().to_string();
        assert_eq!(error, "the text has a control character (U+001B) at byte 2");
    }

    #[test]
    fn a_long_text_is_refused_by_its_bytes() {
        assert!(prepare(&"x".repeat(MOST_BYTES)).is_ok());
        let error = prepare(&"ü".repeat(MOST_BYTES / 2 + 1)).unwrap_err();
        assert_eq!(
            error,
            TextError::TooLong {
                bytes: MOST_BYTES + 2
            }
        );
    }

    #[test]
    fn commands_of_a_client_are_known_by_their_first_character() {
        assert_eq!(prepare(" !rm -r").unwrap().command(), Some('!'));
        assert_eq!(prepare("/clear").unwrap().command(), Some('/'));
        assert_eq!(prepare("see /etc").unwrap().command(), None);
    }

    proptest::proptest! {
        #[test]
        fn what_is_prepared_has_no_control_character(text in "[ -~\\n\\t\\r\\x00-\\x1f\\x7f-\\u{9f}\\u{1b}ü\\u{2028}]{0,40}") {
            if let Ok(prepared) = prepare(&text) {
                let is_plain = |letter: char| !letter.is_control() || matches!(letter, '\n' | '\t');
                proptest::prop_assert!(prepared.as_str().chars().all(is_plain));
                proptest::prop_assert!(!prepared.squashed().is_empty());
                let again = prepare(prepared.as_str());
                proptest::prop_assert_eq!(again, Ok(prepared));
            }
        }

        #[test]
        fn any_text_without_control_characters_is_taken_whole(text in "[^\\p{C}\\p{Z}]{1,60}") {
            let prepared = prepare(&text).unwrap();
            proptest::prop_assert_eq!(prepared.as_str(), text);
        }
    }
}
