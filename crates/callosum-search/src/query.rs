//! [`Query`]: a query, parsed from typed text.

use super::{phrase::Phrase, words::words};

/// Words that say nothing of what is looked for, left out where others say more.
const EMPTY_WORDS: [&str; 44] = [
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "code", "did",
    "do", "does", "find", "for", "from", "has", "have", "how", "i", "in", "is", "it", "its", "of",
    "on", "or", "our", "that", "the", "there", "this", "to", "was", "we", "what", "when", "where",
    "which", "with", "why",
];

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Each word or identifier, once, in the order in which they were typed.
    pub units: Vec<Unit>,
    /// Texts in double quotes, which each hit must contain.
    pub phrases: Vec<Phrase>,
    /// All of it as it was typed, without the space around it.
    pub typed: String,
}

/// A word or identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// All of it, in lower case.
    pub whole: String,
    /// Its parts; empty if it is a plain word.
    pub parts: Vec<String>,
}

impl Query {
    /// Reads what was typed. It may have no word at all, and then nothing is found.
    pub fn read(typed: &str) -> Self {
        let runs = typed.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let mut units: Vec<Unit> = Vec::new();
        for run in runs {
            let mut of_run = words(run);
            let Some(whole) = of_run.next() else {
                continue;
            };
            if units.iter().all(|unit| unit.whole != whole) {
                units.push(Unit {
                    whole,
                    parts: of_run.collect(),
                });
            }
        }
        let says_something = |unit: &Unit| !EMPTY_WORDS.contains(&unit.whole.as_str());
        if units.iter().any(says_something) {
            units.retain(says_something);
        }
        Self {
            units,
            phrases: Phrase::of(typed),
            typed: typed.trim().to_owned(),
        }
    }

    /// Returns the last identifier of a name such as `parse_header`, `Walk::next` or `walk.next`; `None` if the query is
    /// anything else than one name.
    pub(super) fn name(&self) -> Option<&Unit> {
        let is_of_a_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '#');
        let last = self.units.last()?;
        self.typed.chars().all(is_of_a_name).then_some(last)
    }

    /// Returns its words, of identifiers only the parts.
    pub fn simple_words(&self) -> impl Iterator<Item = &str> {
        self.units.iter().flat_map(|unit| {
            let whole = unit.parts.is_empty().then_some(&unit.whole);
            whole.into_iter().chain(&unit.parts).map(String::as_str)
        })
    }

    /// Returns every word that is looked up in an index, once.
    pub fn words(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for unit in &self.units {
            let parts = unit.parts.iter().map(String::as_str);
            for word in [unit.whole.as_str()].into_iter().chain(parts) {
                if !all.contains(&word) {
                    all.push(word);
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wholes(typed: &str) -> Vec<String> {
        let ask = Query::read(typed);
        ask.units.into_iter().map(|unit| unit.whole).collect()
    }

    #[test]
    fn words_that_say_nothing_go_where_others_say_more() {
        assert_eq!(wholes("where is the config read?"), ["config", "read"]);
        assert_eq!(wholes("what is this"), ["what", "is", "this"]);
        assert_eq!(wholes("  ?! "), [""; 0]);
    }

    #[test]
    fn an_identifier_is_one_unit_with_its_parts() {
        let ask = Query::read("parseHTTPHeader parse");
        assert_eq!(ask.units[0].parts, ["parse", "http", "header"]);
        assert_eq!(ask.units[1].parts, [""; 0]);
        assert_eq!(ask.words(), ["parsehttpheader", "parse", "http", "header"]);
    }
}
