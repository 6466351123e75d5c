//! [`mentions`]: places that a text names in passing, outside of the grammar.
//!
//! `src/x.rs:900`, `src/x.rs#L900`: after a quote they are citations in another form. Without one
//! nothing can confirm them; but a file or a line that does not exist was invented, in any form.
//! Deliberately not here: names without a folder and a quote, which may be short for any file, and
//! absolute paths.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{
    code_span::code_spans,
    grammar::{Citation, joint},
};

/// Endings that distinguish a path from a host, a time or a version.
const ENDINGS: &str = "rs|py|pyi|js|mjs|cjs|jsx|ts|mts|cts|tsx|vue|svelte|go|java|kt|kts|scala|c|h|cc|cpp|cxx|hh|hpp|m|mm|\
    cs|fs|swift|rb|php|pl|pm|lua|zig|nim|ex|exs|erl|hs|ml|mli|clj|dart|r|jl|sh|bash|zsh|fish|ps1|sql|proto|graphql|\
    html|css|scss|less|xml|json|jsonc|toml|yaml|yml|ini|cfg|conf|md|mdx|rst|txt|gradle|cmake|mk|tf|nix";

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let path = format!(r"(?P<path>(?:[\w.@+-]+/)*[\w.@+-]*\.(?:{ENDINGS}))");
    let lines = r"(?::L?|#L)(?P<first>\d+)(?:[-–]L?(?P<last>\d+))?";
    Regex::new(&format!("{path}{lines}")).ok()
});

/// Finds the places in a text that are not in `cited`, in their order, without those in fenced
/// code.
///
/// Linear in the length of the text.
pub fn mentions(text: &str, cited: &[Citation]) -> Vec<Citation> {
    let Some(place) = &*PLACE else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut cited = cited.iter().peekable();
    let mut fenced = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let from = start;
        start += line.len();
        if is_fence(line) {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let spans = code_spans(line);
        for captures in place.captures_iter(line) {
            let Some(whole) = captures.get(0) else {
                continue;
            };
            let at = from + whole.start()..from + whole.end();
            while cited.peek().is_some_and(|cited| cited.at.end <= at.start) {
                cited.next();
            }
            let is_cited = cited.peek().is_some_and(|cited| cited.at.start < at.end);
            let before = left_of(&line[..whole.start()]).chars().next_back();
            // Text that continues to the left makes it a longer path, an address, or something else
            // altogether.
            let goes_on =
                before.is_some_and(|c| c.is_alphanumeric() || "/\\:.$}~%@*#-".contains(c));
            let path = &captures["path"];
            if is_cited || goes_on || begins_with_a_host(path) {
                continue;
            }
            let quote = quoted_before(line, &spans, whole.start());
            if quote.is_none() && !path.contains('/') {
                continue;
            }
            let number = |name: &str| {
                let digits = captures.name(name)?.as_str();
                Some(digits.parse().unwrap_or(u32::MAX))
            };
            let first_line = number("first").unwrap_or(u32::MAX);
            found.push(Citation {
                path: path.to_owned(),
                first_line,
                last_line: number("last").unwrap_or(first_line),
                quote: quote.map(|(_, words)| words.to_owned()),
                beside: false,
                at: quote.map_or(at.start, |(start, _)| from + start)..at.end,
            });
        }
    }
    found
}

/// Returns the text before a place, without the emphasis that it begins.
fn left_of(before: &str) -> &str {
    let bare = before.trim_end_matches('*');
    if bare.is_empty() || bare.ends_with([' ', '\t', '(']) {
        bare
    } else {
        before
    }
}

/// Returns the quote that is joined to a place at `place` of a line, and its start. The place
/// itself may be in a code span, an aside, emphasis or a link.
fn quoted_before<'l>(
    line: &'l str,
    spans: &[(Range<usize>, &'l str)],
    place: usize,
) -> Option<(usize, &'l str)> {
    let around = spans.iter().find(|(span, _)| span.contains(&place));
    let place = around.map_or(place, |(span, _)| span.start);
    let (span, words) = spans.iter().rev().find(|(span, _)| span.end <= place)?;
    let between = &line[span.end..place];
    let behind = &between[joint(between)..];
    let is_link = behind.starts_with('[') && behind.ends_with("](");
    (behind.is_empty() || is_link).then_some((span.start, words))
}

/// Whether a line begins or ends a block of code; an inline span closes on its own line.
fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches('`');
    let backticks = line.len() - rest.len();
    (backticks >= 3 && !rest.contains('`')) || line.starts_with("~~~")
}

/// Whether it is `github.com/a/b.rs` rather than a path of a tree.
fn begins_with_a_host(path: &str) -> bool {
    let first = path.split_once('/').map_or("", |(first, _)| first);
    first.trim_start_matches('.').contains('.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::find;

    fn found(text: &str) -> Vec<String> {
        let mentions = mentions(text, &find(text));
        mentions.iter().map(Citation::place).collect()
    }

    #[test]
    fn a_block_of_code_is_passed_over_and_an_inline_span_is_not() {
        assert_eq!(found("```x``` src/a.rs:1"), ["src/a.rs:1"]);
        assert_eq!(found("~~~\nsrc/a.rs:1\n~~~\nsrc/b.rs:1"), ["src/b.rs:1"]);
    }

    /// LOA-GRD-1: an invented place is found in each form of writing.
    #[test]
    fn places_are_found_in_the_forms_that_people_use() {
        for (text, expected) in [
            (
                "see src/x.rs:900, and (src/gone.rs:12).",
                vec!["src/x.rs:900", "src/gone.rs:12"],
            ),
            ("`crates/core/nope.rs:77`", vec!["crates/core/nope.rs:77"]),
            (
                "[main](crates/core/nope.rs#L5)",
                vec!["crates/core/nope.rs:5"],
            ),
            (
                "lib/a.py:L48-L50 and ./lib/a.py:3-4",
                vec!["lib/a.py:48-50", "./lib/a.py:3-4"],
            ),
            ("src/x.rs:99999999999999999999", vec!["src/x.rs:4294967295"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    /// LOA-GRD-1: after a quote it is a citation, in each form of writing.
    #[test]
    fn a_place_behind_a_quote_is_held_to_it() {
        for text in [
            "`fn a` (src/a.rs:4)",
            "`fn a` `src/a.rs:4`",
            "`fn a`: **src/a.rs:4**",
            "`fn a` [it](src/a.rs:4)",
            "`b` and `fn a` in src/a.rs#L4",
        ] {
            let found = mentions(text, &find(text));
            let seen: Vec<_> = found
                .iter()
                .map(|one| (one.place(), one.quote.as_deref()))
                .collect();
            assert_eq!(seen, [("src/a.rs:4".to_owned(), Some("fn a"))], "{text}");
        }
        let text = "`fn a` is called by src/a.rs:4, `x` (lib.rs:7) and lib.rs:8";
        let found = mentions(text, &find(text));
        let seen: Vec<_> = found
            .iter()
            .map(|one| (one.place(), one.quote.as_deref()))
            .collect();
        let expected = [
            ("src/a.rs:4".to_owned(), None),
            ("lib.rs:7".to_owned(), Some("x")),
        ];
        assert_eq!(seen, expected);
        assert_eq!(&text[found[1].at.clone()], "`x` (lib.rs:7");
    }

    #[test]
    fn what_is_cited_or_is_no_place_of_the_tree_is_none() {
        for text in [
            "`x` [src/a.rs:1] and [src/a.rs:2]",
            "https://docs.rs/a/b.rs:12",
            "github.com/a/b.rs:12",
            "/etc/x/passwd.txt:1 ~/x/y.rs:1 $HOME/x/y.rs:1",
            "lib.rs:12 at 12:30 on a.b:80",
            "```\nerror at src/x.rs:9\n```",
            "src/x.rs: 9 lines",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[a-c/.:#L0-9` \\n()é-]{0,200}") {
            for mention in mentions(&text, &find(&text)) {
                prop_assert!(text.get(mention.at).is_some());
            }
        }
    }
}
