//! [`digest`]: cuts a text to a number of tokens, at the ends of statements, and describes the
//! omitted part.
//!
//! Nothing is reworded: a digest has whole statements of the text, in the text's order. They are
//! chosen by reliability: the first statement, then those that cite a place, then the others. Of
//! these, the first below each heading comes before the second below the one before it, so that a
//! long section leaves room for others. Headings come with the first statement below them.

use std::fmt;

use crate::tokens::estimate;

/// A text that fits a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Whole statements of the text; the text itself if it fits.
    pub text: String,
    /// The omitted part; `None` if the text is complete.
    pub left_out: Option<LeftOut>,
}

/// Omitted part of a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Statements that are not in it.
    pub statements: usize,
    /// Statements of the whole text.
    pub of: usize,
    /// Citations that are not in it.
    pub citations: usize,
    /// Tokens of the whole text beyond those of the digest, estimated.
    pub tokens: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            statements,
            of,
            citations,
            tokens,
        } = self;
        let noun = if *citations == 1 {
            "citation"
        } else {
            "citations"
        };
        write!(
            f,
            "{statements} of {of} statements with {citations} {noun}, about {tokens} tokens"
        )
    }
}

/// A piece of the text that is kept or left out as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Statement<'a> {
    text: &'a str,
    /// The headings above it, the innermost last, by their place in the list of headings.
    heading: Option<usize>,
    /// Whether it continues the line of the statement before it.
    same_line: bool,
    citations: usize,
}

/// Cuts a text so that it has at most `budget` tokens, estimated.
///
/// A statement that is too long for the rest of the budget is skipped in favor of a shorter one, so
/// a budget below the shortest statement gives an empty text.
pub fn digest(text: &str, budget: u64) -> Digest {
    if estimate(text) <= budget {
        return Digest {
            text: text.to_owned(),
            left_out: None,
        };
    }
    let (statements, headings) = parse(text);
    let mut order: Vec<usize> = (0..statements.len()).collect();
    let ranks = ranks(&statements);
    order.sort_by_key(|&at| (at != 0, statements[at].citations == 0, ranks[at], at));
    let mut kept = vec![false; statements.len()];
    let mut cost = 0;
    let mut headed = vec![false; headings.len()];
    for at in order {
        let statement = &statements[at];
        let heading = statement.heading.filter(|&heading| !headed[heading]);
        // A line break before each, and a blank line around a heading.
        let price = estimate(statement.text)
            + 2
            + heading.map_or(0, |heading| estimate(headings[heading]) + 4);
        if cost + price <= budget {
            cost += price;
            kept[at] = true;
            if let Some(heading) = heading {
                headed[heading] = true;
            }
        }
    }
    let cut = put_together(&statements, &headings, &kept);
    let out = || statements.iter().zip(&kept).filter(|(_, kept)| !**kept);
    let left_out = LeftOut {
        statements: out().count(),
        of: statements.len(),
        citations: out().map(|(statement, _)| statement.citations).sum(),
        tokens: estimate(text).saturating_sub(estimate(&cut)),
    };
    Digest {
        text: cut,
        left_out: Some(left_out),
    }
}

/// Returns the rank of each statement, lowest first: its index below its heading plus that
/// heading's index.
fn ranks(statements: &[Statement<'_>]) -> Vec<usize> {
    let mut heading = None;
    let mut headings = 0;
    let mut below = 0;
    let ranked = statements.iter().map(|statement| {
        if statement.heading == heading {
            below += 1;
        } else {
            heading = statement.heading;
            headings += 1;
            below = 0;
        }
        headings + below
    });
    ranked.collect()
}

fn put_together(statements: &[Statement<'_>], headings: &[&str], kept: &[bool]) -> String {
    let mut text = String::new();
    let mut last_heading = None;
    let mut before_was_kept = false;
    for (statement, kept) in statements.iter().zip(kept) {
        if *kept {
            if statement.heading != last_heading
                && let Some(heading) = statement.heading
            {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(headings[heading]);
                text.push('\n');
            }
            last_heading = statement.heading;
            if before_was_kept && statement.same_line {
                text.push(' ');
            } else if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(statement.text);
        }
        before_was_kept = *kept;
    }
    text
}

/// Returns the statements of a text, and its headings.
fn parse(text: &str) -> (Vec<Statement<'_>>, Vec<&str>) {
    let mut statements = Vec::new();
    let mut headings = Vec::new();
    let mut lines = text.split_inclusive('\n');
    let mut at = 0;
    while let Some(line) = lines.next() {
        let begin = at;
        at += line.len();
        let trimmed = line.trim();
        if trimmed.is_empty() {
            continue;
        }
        if trimmed.starts_with('#') {
            headings.push(trimmed);
            continue;
        }
        let heading = headings.len().checked_sub(1);
        if trimmed.starts_with("```") {
            // A fence goes with all that is in it.
            for inner in lines.by_ref() {
                at += inner.len();
                if inner.trim_start().starts_with("```") {
                    break;
                }
            }
            statements.push(statement(text[begin..at].trim_end(), heading, false));
            continue;
        }
        for (number, piece) in sentences(line.trim_end()).into_iter().enumerate() {
            statements.push(statement(piece, heading, number > 0));
        }
    }
    (statements, headings)
}

fn statement(text: &str, heading: Option<usize>, same_line: bool) -> Statement<'_> {
    Statement {
        text,
        heading,
        same_line,
        citations: crate::find(text).len(),
    }
}

/// Returns the sentences of a line. A full stop within a code span or brackets ends none, and a
/// citation that follows one belongs to the sentence before it.
fn sentences(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut in_code, mut depth) = (0, false, 0_u32);
    let bytes = line.as_bytes();
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'`' => in_code = !in_code,
            b'[' | b'(' if !in_code => depth += 1,
            b']' | b')' if !in_code => depth = depth.saturating_sub(1),
            b'.' | b'!' | b'?' if !in_code && depth == 0 => {
                let goes_on = bytes.get(at + 1) == Some(&b' ')
                    && bytes.get(at + 2).is_some_and(u8::is_ascii_uppercase);
                if goes_on {
                    pieces.push(&line[begin..=at]);
                    begin = at + 2;
                }
            }
            _ => {}
        }
    }
    pieces.push(&line[begin..]);
    pieces
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REPORT: &str = "# Map\n\nIt adds numbers. It has no network.\n\n## Parts\n\n- The sum: `fn \
                          total` [src/sum.rs:4]\n- A long aside about nothing in particular that \
                          goes on and on and says very little of any use to anybody.\n\n## Tests\n\n\
                          - One test: `fn adds_all` [src/sum.rs:14]\n";

    /// CAL-PERF-1: a digest fits, consists of whole statements, and says what it lacks.
    #[test]
    fn a_digest_keeps_what_is_cited_and_its_headings() {
        let cut = digest(REPORT, 70);
        assert_eq!(
            cut.text,
            "# Map\n\nIt adds numbers. It has no network.\n\n## Parts\n\n- The sum: `fn total` \
             [src/sum.rs:4]\n\n## Tests\n\n- One test: `fn adds_all` [src/sum.rs:14]"
        );
        let left_out = cut.left_out.unwrap();
        assert_eq!((left_out.statements, left_out.of), (1, 5));
        assert_eq!(left_out.citations, 0);
        assert_eq!(digest(REPORT, 1000).left_out, None);
        assert_eq!(digest(REPORT, 0).text, "");
    }

    /// A list of twelve examples took a budget of 600 tokens that the map of the tree needed.
    #[test]
    fn a_long_section_leaves_room_for_the_next_one() {
        let example = |at| format!("- examples/e{at}.js:1 `listen()` example\n");
        let examples = (1..20).map(example).collect::<Vec<_>>().concat();
        let report = format!(
            "# Map\n\n## Entry points\n\n- package.json:3 `main` library\n{examples}\n## Parts\n\n\
             - src/a.rs:1 `pub struct A` most used\n- src/b.rs:1 `pub struct B`\n"
        );
        let cut = digest(&report, 90).text;
        assert!(
            cut.contains("library") && cut.contains("pub struct A"),
            "{cut}"
        );
        assert!(!cut.contains("e9.js"), "{cut}");
    }

    #[test]
    fn a_full_stop_in_code_or_brackets_ends_no_sentence() {
        assert_eq!(
            sentences("See `a. B` and (c. D) here. Then e.g. this. End"),
            ["See `a. B` and (c. D) here.", "Then e.g. this.", "End"]
        );
    }

    proptest! {
        #[test]
        fn a_digest_fits_and_has_only_words_of_the_text(
            text in "([#-] )?[a-z`\\[\\]. \n]{0,200}", budget in 0_u64..80,
        ) {
            let cut = digest(&text, budget);
            prop_assert!(estimate(&cut.text) <= budget);
            for line in cut.text.lines() {
                for word in line.split_whitespace() {
                    prop_assert!(text.contains(word));
                }
            }
        }
    }
}
