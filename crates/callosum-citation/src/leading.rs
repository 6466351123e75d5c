//! [`leading`]: a citation whose place comes first, `` - src/a.rs:12 `quote` `` at the start of a
//! line.
//!
//! Digests are written this way: the reader scans the places, and editors open them. Only a list
//! mark may come before the place, and only blanks may be between the place and its quote.

use super::{
    code_span::{code_span, unpadded},
    grammar::{Citation, LONGEST, find, spanned},
    location::Location,
};

/// Returns the citation that the line beginning at `start` opens with.
///
/// The place must be valid without a quote: its path has a `/` or a `.`.
pub(super) fn leading(text: &str, start: usize) -> Option<Citation> {
    let from = start + list_mark(&text[start..]);
    let rest = &text[from..];
    let end = from + rest.find(char::is_whitespace)?;
    let is_place = end - from < LONGEST && text[..end].ends_with(|c: char| c.is_ascii_digit());
    if !is_place || text[from..].starts_with('[') || text[from..end].contains('`') {
        return None;
    }
    let place = Location::read(text, from..end)?;
    if !place.speaks_for_itself() {
        return None;
    }
    let blanks = text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len();
    let opens = end + blanks;
    if blanks == 0 || !text[opens..].starts_with('`') {
        return None;
    }
    let span = code_span(text, opens).ok()?;
    Some(Citation {
        path: place.path.to_owned(),
        first_line: place.first_line,
        last_line: place.last_line,
        quote: Some(unpadded(&text[span.inner]).to_owned()),
        beside: false,
        at: from..span.end,
    })
}

/// Writes a citation of one line with its place first, so that [`find`] reads it back at the start
/// of a line. A path without a folder and an ending begins with `./`.
///
/// `None` if the grammar has no way to write it: a path with a blank or a backtick, a quote with a
/// line break.
pub fn cite_leading(path: &str, line: u32, quote: &str) -> Option<String> {
    if quote.trim().is_empty() || quote.contains(['\n', '\r']) {
        return None;
    }
    let is_bare = !path.contains(['/', '.']);
    let path = if is_bare {
        format!("./{path}")
    } else {
        path.to_owned()
    };
    let written = format!("{path}:{line} {}", spanned(quote));
    let reads_back = match find(&written).as_slice() {
        [one] => {
            one.path == path
                && (one.first_line, one.last_line) == (line, line)
                && one.quote.as_deref() == Some(quote)
                && one.at == (0..written.len())
        }
        _ => false,
    };
    reads_back.then_some(written)
}

/// Returns the length of the indentation and list mark that a line begins with.
fn list_mark(line: &str) -> usize {
    let trimmed = line.trim_start_matches([' ', '\t']);
    let digits = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let behind = match trimmed.strip_prefix(['-', '*', '+']) {
        Some(behind) => behind,
        None if digits.len() < trimmed.len() => digits.strip_prefix(['.', ')']).unwrap_or(trimmed),
        None => trimmed,
    };
    let text = behind.trim_start_matches([' ', '\t']);
    // `-x` is a word, not an item.
    let begins = if text.len() < behind.len() {
        text
    } else {
        trimmed
    };
    line.len() - begins.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One citation of a text: its place, the line, and its quote.
    type Seen = (String, u32, Option<String>);

    fn seen(text: &str) -> Vec<Seen> {
        let found = find(text).into_iter();
        found.map(|c| (c.path, c.first_line, c.quote)).collect()
    }

    fn one(path: &str, line: u32, quote: Option<&str>) -> Seen {
        (path.to_owned(), line, quote.map(str::to_owned))
    }

    #[test]
    fn a_line_may_begin_with_a_place_and_its_quote() {
        for text in [
            "src/a.rs:4 `fn a()`: opens it",
            "- src/a.rs:4 `fn a()` 3 lines",
            "  - src/a.rs:4\t`fn a()`",
            "2. src/a.rs:4 `fn a()`",
            "- ${PROJECT_ROOT}/src/a.rs:4 `fn a()`",
        ] {
            let text = format!("# Map\n{text}\n");
            assert_eq!(seen(&text), [one("src/a.rs", 4, Some("fn a()"))], "{text}");
        }
        assert_eq!(
            seen("- src/a.rs:4 `x()` as in `use b;` [src/b.rs:2]"),
            [
                one("src/a.rs", 4, Some("x()")),
                one("src/b.rs", 2, Some("use b;"))
            ]
        );
    }

    #[test]
    fn a_place_elsewhere_in_a_line_takes_no_quote_behind_it() {
        for text in [
            "see src/a.rs:4 `fn a()`",
            "- src/a.rs:4: `fn a()`",
            "- src/a.rs:4`fn a()`",
            "- note:4 `fn a()`",
            "- 12:30 `fn a()`",
            "- src/a.rs:4 and `fn a()`",
            "- src/a.rs:4\n`fn a()`",
            "-src/a.rs:x `fn a()`",
        ] {
            assert_eq!(seen(text), [], "{text}");
        }
    }

    /// LOA-GRD-1: claims in the bracketed form still count.
    #[test]
    fn a_quote_before_a_place_in_brackets_stays_that_places() {
        assert_eq!(
            seen("- src/a.rs:4 `fn b()` [src/b.rs:9]"),
            [one("src/b.rs", 9, Some("fn b()"))]
        );
    }

    #[test]
    fn a_path_without_folder_and_ending_begins_at_the_root() {
        assert_eq!(
            cite_leading("Makefile", 3, "test:").as_deref(),
            Some("./Makefile:3 `test:`")
        );
        assert_eq!(cite_leading("a b.rs", 3, "test"), None);
        assert_eq!(cite_leading("a.rs", 3, "x\ny"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_with_the_place_first_is_read_back(
            path in "[a-z/.:-]{1,20}", quote in "[a-z` .]{1,20}", line in 1_u32..9999,
        ) {
            if let Some(written) = cite_leading(&path, line, &quote) {
                let found = find(&format!("# x\n  - {written}: said\n"));
                prop_assert_eq!(found.len(), 1);
                prop_assert_eq!(found[0].quote.as_deref(), Some(quote.as_str()));
                prop_assert_eq!(found[0].first_line, line);
            }
        }
    }
}
