//! [`Turn`]: a message, a tool call or a failed result of a session, as the index stores it.

use callosum_redact::secrets;
use jiff::Timestamp;

/// Most bytes of a turn's text that are stored (8 KiB). The rest is in the client's own file.
pub const LONGEST_TEXT: usize = 8 * 1024;

/// Origin of a turn in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speaker {
    /// The person.
    User,
    /// The model.
    Agent,
    /// A tool call of the model.
    Call,
    /// The result of a tool call that failed.
    Failure,
    /// A summary that the client wrote when it compacted the conversation.
    Summary,
}

impl Speaker {
    const ALL: [Self; 5] = [
        Self::User,
        Self::Agent,
        Self::Call,
        Self::Failure,
        Self::Summary,
    ];

    /// Returns its name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Call => "call",
            Self::Failure => "failure",
            Self::Summary => "summary",
        }
    }

    /// Returns its number in the index.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::User => 0,
            Self::Agent => 1,
            Self::Call => 2,
            Self::Failure => 3,
            Self::Summary => 4,
        }
    }

    /// Returns the speaker of a number; the model for one that is unknown.
    pub(crate) fn of_number(number: i64) -> Self {
        let found = Self::ALL
            .into_iter()
            .find(|speaker| speaker.number() == number);
        found.unwrap_or(Self::Agent)
    }
}

/// A message, a tool call or a failed result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its origin.
    pub speaker: Speaker,
    /// Its time; `None` if the client noted none.
    pub at: Option<Timestamp>,
    /// Its text, without secrets, at most [`LONGEST_TEXT`] bytes.
    pub text: String,
}

impl Turn {
    /// Makes a turn of a text as it was written; `None` if there is nothing to read in its text. Masks secrets before it cuts the text, since half a
    /// secret would not be recognized.
    pub fn new(speaker: Speaker, at: Option<Timestamp>, text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        // A secret that begins before the cut ends within so many bytes.
        let read = prefix(text, LONGEST_TEXT * 2);
        let mask = match speaker {
            Speaker::Call => secrets::mask_command,
            _ => secrets::mask,
        };
        let masked = mask(read).text;
        let text = prefix(&masked, LONGEST_TEXT).to_owned();
        Some(Self { speaker, at, text })
    }
}

/// Returns the first bytes of a text, at most `most`, up to the end of a character.
pub(crate) fn prefix(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(speaker: Speaker, text: &str) -> Option<String> {
        Turn::new(speaker, None, text).map(|turn| turn.text)
    }

    /// CALC-L5-1: no secret reaches the index.
    #[test]
    fn secrets_are_masked_even_at_the_cut() {
        let key = format!("ghp_{}", "A1b2C3d4E5f6".repeat(3));
        let at_cut = format!("{}{key}", "x ".repeat(LONGEST_TEXT / 2 - 4));
        for given in [format!("use {key} there"), at_cut] {
            let stored = text(Speaker::User, &given).unwrap();
            assert!(!stored.contains("A1b2C3"), "{stored}");
            assert!(stored.len() <= LONGEST_TEXT);
        }
    }

    #[test]
    fn an_empty_text_is_no_turn() {
        assert_eq!(text(Speaker::Agent, " \n"), None);
    }

    #[test]
    fn a_cut_keeps_characters_whole() {
        assert_eq!(prefix("aé", 2), "a");
        assert_eq!(prefix("aé", 3), "aé");
    }
}
