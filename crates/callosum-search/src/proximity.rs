//! [`Proximity`]: requires the words of a query in one place of a passage, not scattered over it.

use super::query::{Query, Unit};

/// Most ways of leaving words out that are looked up; a question that has more is not looked up.
const MOST_WAYS: usize = 64;

/// The part of a query that must be in one place of each hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// The share of the words and identifiers, each counted alike, from 0 to 1.
    pub share: f64,
    /// Most words between the first of them and the last; an identifier counts as one more than its
    /// parts.
    pub within: u32,
}

impl Proximity {
    /// Returns the FTS5 query; `None` if there is no word, or there are too many combinations.
    pub(super) fn question(&self, ask: &Query) -> Option<String> {
        let units: Vec<String> = ask.units.iter().map(written).collect();
        // No share is above 1, so that the count is no more than there are.
        let count = (self.share.clamp(0.0, 1.0) * units.len() as f64).ceil() as usize;
        let count = count.max(1);
        let ways = chosen(units.len(), count)?;
        let near = |way: Vec<usize>| {
            let words: Vec<&str> = way.iter().map(|&at| units[at].as_str()).collect();
            format!("NEAR({}, {})", words.join(" "), self.within)
        };
        let all: Vec<String> = ways.into_iter().map(near).collect();
        (!all.is_empty()).then(|| all.join(" OR "))
    }
}

/// Returns a unit in FTS5 syntax. The index has the parts of an identifier after it, in their
/// order, as if they were written as words.
fn written(unit: &Unit) -> String {
    if unit.parts.is_empty() {
        format!("\"{}\"", unit.whole)
    } else {
        format!("\"{}\"", unit.parts.join(" "))
    }
}

/// Returns each way of choosing `count` of `of` items, by their places; `None` if there are more
/// than [`MOST_WAYS`].
fn chosen(of: usize, count: usize) -> Option<Vec<Vec<usize>>> {
    let mut ways: Vec<Vec<usize>> = vec![Vec::new()];
    for taken in 0..count {
        let mut longer = Vec::new();
        for way in ways {
            let from = way.last().map_or(0, |last| last + 1);
            let left = count - taken - 1;
            for at in from..of.saturating_sub(left) {
                longer.push([way.as_slice(), &[at]].concat());
            }
            if longer.len() > MOST_WAYS {
                return None;
            }
        }
        ways = longer;
    }
    Some(ways)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expected: Option<&str>) {
        let together = Proximity {
            share: 0.75,
            within: 9,
        };
        let question = together.question(&Query::read(typed));
        assert_eq!(question.as_deref(), expected, "{typed}");
    }

    #[test]
    fn three_quarters_of_the_words_stand_together() {
        check("saml", Some("NEAR(\"saml\", 9)"));
        check("rate limit", Some("NEAR(\"rate\" \"limit\", 9)"));
        check("rateLimit", Some("NEAR(\"rate limit\", 9)"));
        check(
            "alpha beta gamma delta",
            Some(
                "NEAR(\"alpha\" \"beta\" \"gamma\", 9) OR NEAR(\"alpha\" \"beta\" \"delta\", 9) OR \
                 NEAR(\"alpha\" \"gamma\" \"delta\", 9) OR NEAR(\"beta\" \"gamma\" \"delta\", 9)",
            ),
        );
        check("?!", None);
    }

    #[test]
    fn a_long_question_is_not_looked_up() {
        let typed: Vec<String> = (0..24).map(|n| format!("word{n}")).collect();
        check(&typed.join(" "), None);
        assert_eq!(chosen(6, 5).unwrap().len(), 6);
        assert_eq!(chosen(8, 6).unwrap().len(), 28);
        assert_eq!(chosen(0, 1), Some(Vec::new()));
    }
}
