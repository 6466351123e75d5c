//! [`KeywordFilter`]: whether one of a few words occurs in a text, which shows whether it needs a
//! closer look.

use std::sync::{LazyLock, OnceLock};

use regex::Regex;

/// Up to this many bytes, each word is searched for by itself: to compile an expression of them all
/// takes a millisecond, a name or a command a hundredth of that.
const SHORT: usize = 1024;

/// Words in lowercase; letters beyond ASCII stay as they are.
pub(super) struct KeywordFilter {
    words: LazyLock<Vec<&'static str>>,
    /// All of them, once a text was not short.
    expression: OnceLock<Regex>,
}

impl KeywordFilter {
    pub(super) const fn new(words: fn() -> Vec<&'static str>) -> Self {
        Self {
            words: LazyLock::new(words),
            expression: OnceLock::new(),
        }
    }

    /// Whether one of them occurs in a text, ignoring case. Linear in its length.
    pub(super) fn stand_in(&self, text: &str) -> bool {
        if text.len() <= SHORT {
            let lower = text.to_ascii_lowercase();
            return self.words.iter().any(|word| lower.contains(word));
        }
        self.expression().is_match(text)
    }

    fn expression(&self) -> &Regex {
        self.expression.get_or_init(|| {
            let words: Vec<String> = self.words.iter().map(|word| regex::escape(word)).collect();
            Regex::new(&format!("(?i-u:{})", words.join("|")))
                .expect("the words are valid expressions")
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    static WORDS: KeywordFilter = KeywordFilter::new(|| vec!["key", "sk-", "://"]);

    proptest! {
        /// LOA-SEC-1: a short text is looked through as a long one is.
        #[test]
        fn both_ways_find_the_same(text in "[kKeEyYsS:/ä.-]{0,40}") {
            prop_assert_eq!(WORDS.stand_in(&text), WORDS.expression().is_match(&text));
        }
    }
}
