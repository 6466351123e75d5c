//! The grammar: `` `quote` [path:line] `` and its variants, and `` path:line `quote` `` at the start of a line, read and written.

use std::{collections::HashMap, ops::Range};

use super::{
    code_span::{code_span, unpadded},
    leading::leading,
    location::{Location, several},
};

/// The longest quote and the longest place that are read, in bytes; what is longer is text.
///
/// It also bounds how far is looked for an end that never comes.
pub(super) const LONGEST: usize = 4096;

/// One place that a text cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The file, from the root, without `${PROJECT_ROOT}/`; as written, so not yet trusted.
    pub path: String,
    /// The first line cited, counted from 1. What is written may also be 0, or too large.
    pub first_line: u32,
    /// The last line cited; the first if only one was.
    pub last_line: u32,
    /// The words quoted, if any; the same for all places in one pair of brackets.
    pub quote: Option<String>,
    /// Whether it is in the same brackets as the one before it.
    pub beside: bool,
    /// Range of the citation in the text, quote included.
    pub at: Range<usize>,
}

/// Finds the citations in a text, in their order.
///
/// A quote belongs to the place that follows it on the same line, with nothing but blanks between.
/// A place without a quote is a citation only if it can hardly be anything else: its path holds `/`
/// or `.`, no blank, and something other than digits. Several such places may be in one pair of
/// brackets, with commas between; a line number alone then belongs to the file before it. A line
/// may also begin with a place and, after a blank, its quote.
///
/// Linear in the length of the text, for any content.
pub fn find(text: &str) -> Vec<Citation> {
    let bytes = text.as_bytes();
    let brackets = Brackets::of(bytes);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begins_line = at == 0 || bytes[at - 1] == b'\n';
        if let Some(citation) = begins_line.then(|| leading(text, at)).flatten() {
            let end = citation.at.end;
            let near = blanks(&bytes[end..]);
            let gap = joint(&text[end..]).max(near);
            let quote = citation.quote.as_deref().map(|words| Quote {
                words,
                from: at,
                is_near: gap == near,
            });
            // A quote that a place in brackets follows belongs to that place.
            if take(text, end + gap, &brackets, quote, &mut Vec::new()).is_none() {
                at = end;
                found.push(citation);
                continue;
            }
        }
        let after = match bytes[at] {
            b'`' => match code_span(text, at) {
                Ok(span) => {
                    let near = blanks(&bytes[span.end..]);
                    let gap = joint(&text[span.end..]).max(near);
                    let quote = Quote {
                        words: unpadded(&text[span.inner]),
                        from: at,
                        is_near: gap == near,
                    };
                    take(text, span.end + gap, &brackets, Some(quote), &mut found)
                        .unwrap_or(span.end)
                }
                Err(run_end) => run_end,
            },
            b'[' => take(text, at, &brackets, None, &mut found).unwrap_or(at + 1),
            _ => at + 1,
        };
        at = after;
    }
    found
}

/// Writes a citation so that [`find`] reads it back.
///
/// `None` if the grammar cannot express it: a quote with a line break or nothing but blanks, a path
/// with a line break, a backtick or brackets that do not pair.
pub fn cite(path: &str, first_line: u32, last_line: u32, quote: &str) -> Option<String> {
    let lines = if first_line == last_line {
        first_line.to_string()
    } else {
        format!("{first_line}-{last_line}")
    };
    if quote.trim().is_empty() || quote.contains(['\n', '\r']) || path.contains('`') {
        return None;
    }
    let written = format!("{} [{path}:{lines}]", spanned(quote));
    let reads_back = match find(&written).as_slice() {
        [one] => {
            one.path == path && one.quote.as_deref() == Some(quote) && one.at.end == written.len()
        }
        _ => false,
    };
    reads_back.then_some(written)
}

/// Returns a quote as a code span that reads back as the quote.
pub(super) fn spanned(quote: &str) -> String {
    let fence = "`".repeat(longest_run(quote) + 1);
    let pad = if quote.starts_with(['`', ' ']) || quote.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{quote}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn blanks(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Quote before a citation, which the cited place must contain.
#[derive(Clone, Copy)]
struct Quote<'t> {
    words: &'t str,
    /// Start of its fence.
    from: usize,
    /// Whether only blanks are between it and the place, which then may be any path.
    is_near: bool,
}

/// Words and marks that may join a quote to its place.
const JOINTS: [&str; 6] = [":", "—", "–", "-", "at ", "in "];

/// Returns the length of the text that joins a quote to the place after it, if it is more than
/// blanks and no more than a joint and the opening of an aside or emphasis.
pub(super) fn joint(text: &str) -> usize {
    let mut rest = text.trim_start_matches([' ', '\t']);
    for joint in JOINTS {
        if let Some(behind) = rest.strip_prefix(joint) {
            rest = behind;
            break;
        }
    }
    let rest = rest.trim_start_matches([' ', '\t']);
    text.len() - rest.trim_start_matches(['(', '*', '_']).len()
}

/// Marks that join a place to a quote after it. A blank alone does not: the text that follows a
/// place is not a quote.
const BEHIND: [&str; 4] = [":", "—", "–", "-"];

/// Returns the quote after a place that ends at `end`, on the same line, and the start of its
/// fence.
pub(super) fn quote_behind(text: &str, end: usize) -> Option<(usize, &str)> {
    let rest = text.get(end..)?;
    // Closing marks of the text around the place.
    let rest = rest.trim_start_matches(['`', '*', '_', ')']);
    let rest = rest.trim_start_matches([' ', '\t']);
    let behind = BEHIND.iter().find_map(|joint| rest.strip_prefix(joint))?;
    let behind = behind.trim_start_matches(['*', '_']);
    let behind = behind.trim_start_matches([' ', '\t']);
    let from = text.len() - behind.len();
    let span = behind
        .starts_with('`')
        .then(|| code_span(text, from))?
        .ok()?;
    Some((from, unpadded(&text[span.inner])))
}

/// Takes the citations whose opening bracket is at `at`, after a quote and its start; returns their
/// end, if there are any.
fn take(
    text: &str,
    at: usize,
    brackets: &Brackets,
    quote: Option<Quote<'_>>,
    found: &mut Vec<Citation>,
) -> Option<usize> {
    let close = *brackets.0.get(&at)?;
    let inner = at + 1..close;
    let ends_in_a_digit = text.as_bytes()[close - 1].is_ascii_digit();
    if !ends_in_a_digit || inner.len() >= LONGEST {
        return None;
    }
    let places = if let Some(places) = several(text, inner.clone()) {
        places
    } else {
        let whole = Location::read(text, inner);
        let is_near = quote.is_some_and(|quote| quote.is_near);
        vec![whole.filter(|place| is_near || place.speaks_for_itself())?]
    };
    let last = places.len() - 1;
    for (number, place) in places.into_iter().enumerate() {
        let from = match quote {
            _ if number > 0 => place.at.start,
            Some(quote) => quote.from,
            None => at,
        };
        let end = if number == last {
            close + 1
        } else {
            place.at.end
        };
        found.push(Citation {
            path: place.path.to_owned(),
            first_line: place.first_line,
            last_line: place.last_line,
            quote: quote.map(|quote| quote.words.to_owned()),
            beside: number > 0,
            at: from..end,
        });
    }
    Some(close + 1)
}

/// Matching brackets, within one line and outside of backticks.
struct Brackets(HashMap<usize, usize>);

impl Brackets {
    fn of(bytes: &[u8]) -> Self {
        let mut closed_at = HashMap::new();
        let mut open = Vec::new();
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'[' => open.push(at),
                b']' => {
                    if let Some(opened) = open.pop() {
                        closed_at.insert(opened, at);
                    }
                }
                b'\n' | b'\r' | b'`' => open.clear(),
                _ => {}
            }
        }
        Self(closed_at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[(&str, u32, u32, Option<&str>)]) {
        let found = find(text);
        let seen: Vec<_> = found
            .iter()
            .map(|c| {
                (
                    c.path.as_str(),
                    c.first_line,
                    c.last_line,
                    c.quote.as_deref(),
                )
            })
            .collect();
        assert_eq!(seen, expected, "in {text:?}");
    }

    #[test]
    fn a_quote_and_its_place_are_one_citation() {
        check(
            "It starts at `fn main()` [src/main.rs:3], see also `x` [Makefile:7-9].",
            &[
                ("src/main.rs", 3, 3, Some("fn main()")),
                ("Makefile", 7, 9, Some("x")),
            ],
        );
    }

    #[test]
    fn only_the_nearest_code_span_is_the_quote() {
        check(
            "`a` and `b` [x.rs:1] `c`, [x.rs:2]",
            &[("x.rs", 1, 1, Some("b")), ("x.rs", 2, 2, None)],
        );
    }

    #[test]
    fn the_root_may_be_spelled_out() {
        check(
            "`a` [${PROJECT_ROOT}/src/a.rs:1]",
            &[("src/a.rs", 1, 1, Some("a"))],
        );
    }

    #[test]
    fn a_quote_in_double_backticks_may_hold_single_ones() {
        check(
            "`` run `make` `` [README.md:1]",
            &[("README.md", 1, 1, Some("run `make`"))],
        );
    }

    #[test]
    fn brackets_that_pair_belong_to_the_path() {
        check(
            "`x` [app/[slug]/page.tsx:4] and [foo] or [bar.rs:2]",
            &[
                ("app/[slug]/page.tsx", 4, 4, Some("x")),
                ("bar.rs", 2, 2, None),
            ],
        );
    }

    #[test]
    fn times_addresses_links_and_code_are_not_citations() {
        for text in [
            "[12:30]",
            "[127.0.0.1:8080]",
            "[http://localhost/:8080]",
            "[note:3]",
            "[see 3.2:1]",
            "`[src/a.rs:1]`",
            "[src/a.rs:]",
            "[src/a.rs:1-]",
            "[src/a.rs]",
            "[:3]",
            "`x`\n[src/a.rs",
        ] {
            check(text, &[]);
        }
    }

    /// LOA-GRD-1: compilers and `grep` name a column with the line.
    #[test]
    fn a_column_belongs_to_no_path() {
        check(
            "`x` [src/a.rs:11:5] and [b.rs:3:1-9] [b.rs:3:1-5:9]",
            &[
                ("src/a.rs", 11, 11, Some("x")),
                ("b.rs", 3, 3, None),
                ("b.rs", 3, 5, None),
            ],
        );
        check("[12:30:45] [::1:80]", &[]);
    }

    /// LOA-GRD-1: several places in one pair of brackets are each a citation, with the same quote.
    #[test]
    fn places_with_commas_between_are_each_cited() {
        check(
            "`x` [src/a.rs:11, b.rs:2-3]",
            &[("src/a.rs", 11, 11, Some("x")), ("b.rs", 2, 3, Some("x"))],
        );
        check(
            "[a.rs:1, 9-12] `x` [one, two.rs:4]",
            &[
                ("a.rs", 1, 1, None),
                ("a.rs", 9, 12, None),
                ("one, two.rs", 4, 4, Some("x")),
            ],
        );
        check("[12:30, 13:30] [a.rs:1, see 2]", &[]);
        let text = "`x` [a.rs:1, b.rs:2].";
        let found = find(text);
        let at: Vec<_> = found.iter().map(|one| &text[one.at.clone()]).collect();
        assert_eq!(at, ["`x` [a.rs:1", "b.rs:2]"]);
        assert_eq!([found[0].beside, found[1].beside], [false, true]);
    }

    /// LOA-GRD-1: the forms that models write by themselves are read as the one that they are asked for.
    #[test]
    fn places_as_models_write_them_are_cited() {
        for written in [
            "[src/a.rs:L4-L6]",
            "[src/a.rs#L4-L6]",
            "[src/a.rs:4–6]",
            "[src/a.rs, lines 4-6]",
        ] {
            check(&format!("`x` {written}"), &[("src/a.rs", 4, 6, Some("x"))]);
        }
        check("[src/a.rs, line 5]", &[("src/a.rs", 5, 5, None)]);
        check("[see a.rs, line 5] [part 3, line 5]", &[]);
        check("`x` [src/a.rs, line 5]", &[("src/a.rs", 5, 5, Some("x"))]);
        for between in [" (", ": ", " — ", " at ", " in ", " **", " - ("] {
            let text = format!("`x`{between}[src/a.rs:4]");
            check(&text, &[("src/a.rs", 4, 4, Some("x"))]);
        }
        check("`x`: [note:3] and `x`, [a.rs:1]", &[("a.rs", 1, 1, None)]);
        check(
            "`x` [src/a.rs:4; b.rs:6 and c.rs:1]",
            &[
                ("src/a.rs", 4, 4, Some("x")),
                ("b.rs", 6, 6, Some("x")),
                ("c.rs", 1, 1, Some("x")),
            ],
        );
    }

    #[test]
    fn absurd_line_numbers_are_still_citations() {
        check(
            "[a.rs:0] [a.rs:9-3] [a.rs:99999999999999]",
            &[
                ("a.rs", 0, 0, None),
                ("a.rs", 9, 3, None),
                ("a.rs", u32::MAX, u32::MAX, None),
            ],
        );
    }

    #[test]
    fn a_citation_is_found_behind_what_never_ends() {
        let fences: String = (2..200).map(|n| "`".repeat(n) + "x").collect();
        for hostile in ["[".repeat(100_000), "[a/b:1".repeat(20_000), fences] {
            check(
                &format!("{hostile}\n`x` [a.rs:1]"),
                &[("a.rs", 1, 1, Some("x"))],
            );
        }
        let too_long = format!("`{}` [a.rs:1]", "x".repeat(LONGEST + 1));
        check(&too_long, &[("a.rs", 1, 1, None)]);
    }

    #[test]
    fn inexpressible_values_are_refused() {
        assert_eq!(cite("a\nb", 1, 1, "x"), None);
        assert_eq!(cite("a]b", 1, 1, "x"), None);
        assert_eq!(cite("a`b", 1, 1, "x"), None);
        assert_eq!(cite("a", 1, 1, "x\ny"), None);
        assert_eq!(cite("a", 1, 1, "  "), None);
        assert_eq!(cite("a b.rs", 1, 1, "x").as_deref(), Some("`x` [a b.rs:1]"));
    }

    proptest! {
        /// LOA-JIT-1: what is written as a citation is read back as that citation.
        #[test]
        fn what_cite_writes_find_reads(
            path in "[a-z\\[\\]{}$ /.:-]{1,20}",
            quote in "[a-z` .]{1,20}",
            first in 1_u32..9999,
            more in 0_u32..9,
        ) {
            if let Some(written) = cite(&path, first, first + more, &quote) {
                let text = format!("said `x` ({written}).");
                let found = find(&text);
                prop_assert_eq!(found.len(), 1);
                prop_assert_eq!(&found[0].path, &path);
                prop_assert_eq!(found[0].quote.as_deref(), Some(quote.as_str()));
                prop_assert_eq!((found[0].first_line, found[0].last_line), (first, first + more));
                prop_assert_eq!(&text[found[0].at.clone()], written.as_str());
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[`\\[\\]:0-9a/.\\n é-]{0,200}") {
            for citation in find(&text) {
                prop_assert!(text.get(citation.at).is_some());
            }
        }
    }
}
