//! [`Phrase`]: text that a hit must contain word for word.

use super::words::words;

/// Text in double quotes, of at least one visible character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase(String);

impl Phrase {
    /// The phrases of what was typed, each once. A quote that is not closed begins none.
    pub(super) fn of(typed: &str) -> Vec<Self> {
        let parts: Vec<&str> = typed.split('"').collect();
        let closed = (parts.len() - 1) / 2;
        let quoted = parts.iter().skip(1).step_by(2).take(closed);
        let mut all: Vec<Self> = Vec::new();
        for text in quoted {
            let phrase = Self(on_one_line(text));
            if !phrase.0.is_empty() && !all.contains(&phrase) {
                all.push(phrase);
            }
        }
        all
    }

    /// Returns the text, with one space between words.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text contains it: case-sensitive, as whole words, with any white space between
    /// them.
    pub fn is_in(&self, text: &str) -> bool {
        let text = on_one_line(text);
        let (begins, ends) = (
            self.0.starts_with(is_of_a_word),
            self.0.ends_with(is_of_a_word),
        );
        text.match_indices(&self.0).any(|(at, found)| {
            let is_cut_before = begins && text[..at].ends_with(is_of_a_word);
            let is_cut_behind = ends && text[at + found.len()..].starts_with(is_of_a_word);
            !is_cut_before && !is_cut_behind
        })
    }

    /// Returns its words as the index has them, one after another; none if it has no word.
    pub(super) fn words(&self) -> String {
        words(&self.0).collect::<Vec<_>>().join(" ")
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, text: &str, expected: bool) {
        let phrases = Phrase::of(typed);
        assert_eq!(phrases.len(), 1, "{phrases:?}");
        assert_eq!(phrases[0].is_in(text), expected, "{typed} in {text:?}");
    }

    #[test]
    fn quoted_text_matches_as_whole_words() {
        check(r#""fn main""#, "pub fn  main() {", true);
        check(r#""the retry policy""#, "This is the retry\npolicy.", true);
        check(r#""fn mai""#, "fn main() {", false);
        check(r#""ain""#, "fn main() {", false);
        check(r#""fn Main""#, "fn main() {", false);
        check(r#""main();""#, "main(); other", true);
        check(r#""=> {""#, "a=> {b", true);
    }

    #[test]
    fn only_what_is_closed_is_quoted() {
        let quoted = |typed: &str| {
            let phrases = Phrase::of(typed).into_iter();
            phrases.map(|phrase| phrase.0).collect::<Vec<_>>()
        };
        assert_eq!(quoted(r#"in "fn main" of"#), ["fn main"]);
        assert_eq!(quoted(r#"in "a" of "b c" and "a""#), ["a", "b c"]);
        assert_eq!(quoted(r#"in "fn main"#), [""; 0]);
        assert_eq!(quoted(r#"say "" and "  " now"#), [""; 0]);
        assert_eq!(quoted("nothing"), [""; 0]);
    }
}
