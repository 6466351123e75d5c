//! [`RegularExpression`]: a pattern of text that knows how much a look with it may cost.
//!
//! The engine takes time in proportion to text times pattern and never more, but the pattern's share
//! is that of its repetitions written out: `[ab]{400}` is nine bytes and 400 places. So the places are
//! counted, and a look is paid for before it is made.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};

/// Bytes of a pattern at most. Each class of Unicode in it takes some kilobytes before any size of
/// what is compiled is looked at.
const LONGEST: usize = 1_000;

/// Places of a pattern at most, repetitions written out.
const PLACES: u64 = 10_000;

/// Bytes of a compiled pattern at most.
const LARGEST: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct RegularExpression {
    regex: Regex,
    places: u64,
}

impl RegularExpression {
    /// Compiles a pattern, or says in a line why it can't be used.
    pub(crate) fn parse(pattern: &str) -> Result<Self, String> {
        if pattern.len() > LONGEST {
            return Err(format!(
                "it has {} bytes, more than {LONGEST}",
                pattern.len()
            ));
        }
        let last_line = |message: String| {
            let last = message.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        };
        let parsed = regex_syntax::parse(pattern).map_err(|error| last_line(error.to_string()))?;
        let places = places(&parsed);
        if places > PLACES {
            return Err(format!(
                "with its repetitions expanded, it has {places} positions, more than {PLACES}"
            ));
        }
        let regex = RegexBuilder::new(pattern)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build()
            .map_err(|error| last_line(error.to_string()))?;
        Ok(Self { regex, places })
    }

    pub(crate) fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Units of work that a look through so many bytes takes at most.
    pub(crate) fn look(&self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        bytes / 16 + (bytes / 64).saturating_mul(self.places / 16)
    }

    /// Units of work of one among many looks, if each goes on where the last one ended.
    pub(crate) fn next_look(&self, bytes: usize) -> u64 {
        (bytes as u64 / 64).saturating_mul(1 + self.places / 32)
    }
}

/// Returns the number of a pattern's places that the engine may have in hand at once. Recurs as
/// deep as the parser allows brackets to nest.
fn places(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Bytes(_)) => 1,
        // A character has up to four bytes.
        HirKind::Class(Class::Unicode(_)) => 4,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            places(&repetition.sub).saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(places(part))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_count_as_written_out() {
        let count = |pattern: &str| RegularExpression::parse(pattern).unwrap().places;
        assert_eq!(count("abc"), 3);
        assert_eq!(count("(?-u:[ab]{400})"), 400);
        assert_eq!(count("(a{2}b){3}"), 9);
        assert_eq!(count("a*|b+"), 2);
        for refused in ["(", "((a{100}){100}){100}", "\\w{2000}", &"a".repeat(2_000)] {
            assert!(RegularExpression::parse(refused).is_err(), "{refused}");
        }
    }
}
