//! Questions between alternatives: "should config be pushed or pulled?"

use super::{concept::Concept, lexicon_match::LexiconMatch, text::Text};

/// Words that open such a question.
const OPENINGS: [&str; 6] = ["should", "do", "does", "is", "are", "could"];

/// Returns a choice for each sentence that opens like a question and has "or" in it.
pub(super) fn alternatives(text: &Text<'_>) -> Vec<LexiconMatch> {
    let mut hits = Vec::new();
    let mut opening = None;
    for (at, word) in text.words.iter().enumerate() {
        if at == 0 || text.words[at - 1].sentence != word.sentence {
            opening = OPENINGS.contains(&word.plain.as_str()).then_some(at);
        }
        if word.plain == "or"
            && let Some(first) = opening.take()
        {
            hits.push(LexiconMatch::new(Concept::Choice, first, 1, 1.0));
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_between_two_is_a_choice() {
        let count = |prompt: &str| alternatives(&Text::read(prompt)).len();
        assert_eq!(count("Should config be pushed or pulled?"), 1);
        assert_eq!(count("Should it be pushed? Pull it or leave it."), 0);
    }
}
