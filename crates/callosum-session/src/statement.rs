//! Words that are written down: on one line, without secrets, and titles that are short.

use callosum_evidence::secrets;

/// Most words of a decision's title (LOA-REC-1: level 1 shows titles whole or not at all).
pub const MOST_TITLE_WORDS: usize = 12;

/// A text on one line: each run of blanks and line breaks is one blank, and control characters are
/// gone, so that no statement opens a section or a record of its own.
pub fn one_line(text: &str) -> String {
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The title that a decision gets which was given none: its first words, at most
/// [`MOST_TITLE_WORDS`].
pub fn title_of(decision: &str) -> String {
    let words: Vec<&str> = decision.split_whitespace().collect();
    if words.len() <= MOST_TITLE_WORDS {
        return words.join(" ");
    }
    // The mark counts as a word of its own for no reader, so it is glued to the last.
    format!("{}…", words[..MOST_TITLE_WORDS].join(" "))
}

/// Whether a title has at most [`MOST_TITLE_WORDS`].
pub fn is_short_title(title: &str) -> bool {
    title.split_whitespace().count() <= MOST_TITLE_WORDS
}

/// Takes secrets out of what is about to be written, and remembers which kinds there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// What was found, in the order of finding.
    pub kinds: Vec<secrets::Kind>,
}

impl Redaction {
    /// The text on one line and without secrets.
    pub fn statement(&mut self, text: &str) -> String {
        // A key that spans lines is seen before they are joined; one that blanks hid, after.
        let masked = self.mask(text);
        let line = one_line(&masked);
        self.mask(&line)
    }

    /// Remembers the secrets that were taken out of a text before.
    pub fn masked(&mut self, text: &str) {
        self.kinds.extend(secrets::masks_in(text));
    }

    /// The text without secrets.
    pub fn mask(&mut self, text: &str) -> String {
        let masked = secrets::mask(text);
        self.kinds.extend(masked.found);
        masked.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_never_spans_lines() {
        assert_eq!(one_line(" a\n## b\r\n\tc \u{1b}[2J"), "a ## b c [2J");
        assert_eq!(one_line("\n\n"), "");
    }

    /// LOA-REC-1: a title has at most twelve words.
    #[test]
    fn a_title_is_the_first_twelve_words() {
        assert_eq!(title_of("Use  sliding expiry"), "Use sliding expiry");
        let long = "a b c d e f g h i j k l m";
        assert_eq!(title_of(long), "a b c d e f g h i j k l…");
        assert!(is_short_title(&title_of(long)));
        assert!(!is_short_title(long));
    }

    /// LOA-SEC-1: what is written has no secrets, and it is known that there were some.
    #[test]
    fn secrets_are_taken_out_and_counted() {
        let mut redaction = Redaction::default();
        let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6");
        let clean = redaction.statement(&format!("use\n{token}"));
        assert_eq!(clean, "use [secret: github token]");
        assert_eq!(redaction.kinds, [secrets::Kind::GitHub]);
    }
}
