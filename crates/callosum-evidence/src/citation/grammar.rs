//! The grammar: `` `quote` [path:line] `` and its variants, read and written.

use std::{collections::HashMap, ops::Range};

/// What a path may begin with to say that it starts at the root.
const ROOT_PREFIX: &str = "${PROJECT_ROOT}/";

/// The longest quote and the longest place that are read, in bytes; what is longer is text.
///
/// It also bounds how far is looked for an end that never comes.
const LONGEST: usize = 4096;

/// One place that a text cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    /// The file, from the root, without `${PROJECT_ROOT}/`; as written, so not yet trusted.
    pub path: String,
    /// The first line cited, counted from 1. What is written may also be 0, or too large.
    pub first_line: u32,
    /// The last line cited; the first where only one was.
    pub last_line: u32,
    /// The words quoted, if any.
    pub quote: Option<String>,
    /// Where in the text the citation stands, quote included.
    pub at: Range<usize>,
}

/// Finds the citations in a text, in their order.
///
/// A quote belongs to the place that follows it on the same line, with nothing but blanks
/// between. A place without a quote is a citation only where it can hardly be anything else:
/// its path holds `/` or `.`, no blank, and something other than digits.
///
/// Linear in the length of the text, whatever it holds.
pub fn find(text: &str) -> Vec<Citation> {
    let bytes = text.as_bytes();
    let brackets = Brackets::of(bytes);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let after = match bytes[at] {
            b'`' => match code_span(text, at) {
                Ok(span) => {
                    let place_at = span.end + blanks(&bytes[span.end..]);
                    match place(text, place_at, &brackets) {
                        Some(place) => {
                            let end = place.end;
                            found.push(place.cited(Some(unpadded(&text[span.inner])), at));
                            end
                        }
                        None => span.end,
                    }
                }
                Err(run_end) => run_end,
            },
            b'[' => match place(text, at, &brackets).filter(Place::speaks_for_itself) {
                Some(place) => {
                    let end = place.end;
                    found.push(place.cited(None, at));
                    end
                }
                None => at + 1,
            },
            _ => at + 1,
        };
        at = after;
    }
    found
}

/// Writes a citation so that [`find`] reads it back.
///
/// `None` where the grammar has no way to say it: a quote with a line break or nothing but
/// blanks, a path with a line break, a backtick or brackets that do not pair.
pub fn cite(path: &str, first_line: u32, last_line: u32, quote: &str) -> Option<String> {
    let lines = if first_line == last_line {
        first_line.to_string()
    } else {
        format!("{first_line}-{last_line}")
    };
    if quote.trim().is_empty() || quote.contains(['\n', '\r']) || path.contains('`') {
        return None;
    }
    let fence = "`".repeat(longest_run(quote) + 1);
    let pad = if quote.starts_with(['`', ' ']) || quote.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    let written = format!("{fence}{pad}{quote}{pad}{fence} [{path}:{lines}]");
    let reads_back = match find(&written).as_slice() {
        [one] => {
            one.path == path && one.quote.as_deref() == Some(quote) && one.at.end == written.len()
        }
        _ => false,
    };
    reads_back.then_some(written)
}

/// A code span: the run of backticks, what stands inside, and where it all ends.
struct CodeSpan {
    inner: Range<usize>,
    end: usize,
}

/// The code span that begins at `at`, or where the run of backticks ends that opens none.
fn code_span(text: &str, at: usize) -> Result<CodeSpan, usize> {
    let bytes = text.as_bytes();
    let open = run_length(&bytes[at..]);
    let inner_start = at + open;
    let mut here = inner_start;
    let end = bytes.len().min(inner_start + LONGEST);
    while here < end && bytes[here] != b'\n' {
        if bytes[here] != b'`' {
            here += 1;
            continue;
        }
        let close = run_length(&bytes[here..]);
        if close == open {
            return Ok(CodeSpan {
                inner: inner_start..here,
                end: here + close,
            });
        }
        here += close;
    }
    Err(inner_start)
}

fn run_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'`').count()
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

/// A quote without the one blank on each side that keeps a backtick off the fence.
fn unpadded(inner: &str) -> &str {
    let stripped = inner
        .strip_prefix(' ')
        .and_then(|rest| rest.strip_suffix(' '));
    match stripped {
        Some(stripped) if !stripped.trim().is_empty() => stripped,
        _ => inner,
    }
}

/// What stands between the brackets.
struct Place<'t> {
    path: &'t str,
    first_line: u32,
    last_line: u32,
    end: usize,
}

impl Place<'_> {
    fn cited(self, quote: Option<&str>, from: usize) -> Citation {
        Citation {
            path: self.path.to_owned(),
            first_line: self.first_line,
            last_line: self.last_line,
            quote: quote.map(str::to_owned),
            at: from..self.end,
        }
    }

    fn speaks_for_itself(&self) -> bool {
        self.path.contains(['/', '.'])
            && !self.path.contains(char::is_whitespace)
            && !self.path.contains("://")
            && self
                .path
                .contains(|c: char| !c.is_ascii_digit() && c != '.')
    }
}

/// Which bracket closes which, within one line and outside of backticks.
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

/// The place whose opening bracket stands at `at`, if one does.
fn place<'t>(text: &'t str, at: usize, brackets: &Brackets) -> Option<Place<'t>> {
    let close = *brackets.0.get(&at)?;
    let ends_in_a_digit = text.as_bytes()[close - 1].is_ascii_digit();
    if !ends_in_a_digit || close - at > LONGEST {
        return None;
    }
    let (path, lines) = text[at + 1..close].rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let path = path.strip_prefix(ROOT_PREFIX).unwrap_or(path);
    if path.is_empty() {
        return None;
    }
    Some(Place {
        path,
        first_line: line_number(first)?,
        last_line: line_number(last)?,
        end: close + 1,
    })
}

/// A number too large for any file is a line that is not there, not a reason to see no citation.
fn line_number(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
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
    fn what_cannot_be_said_is_refused() {
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
