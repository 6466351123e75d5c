//! Headings of Markdown, by the rules of CommonMark.
//!
//! A heading inside a quotation or a list is left out: it divides no part of the document.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::Heading;

/// Both forms of front matter, YAML and TOML.
const FRONT_MATTER: Options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
    .union(Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS);

/// The headings of a Markdown text, in order: `## like this`, or underlined by `===` or `---`.
///
/// Their words are as the text has them, with the marks of code and links.
pub(super) fn headings(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let (front, text) = text.split_at(front_matter(text));
    // The line at this position of the text.
    let (mut line, mut counted) = (1 + newlines(front), 0);
    let mut depth = 0_usize;
    let mut words: Option<Range<usize>> = None;
    // Otherwise dashes below a table would underline it.
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                line += newlines(&text[counted..range.start]);
                counted = range.start;
                // Empty until an event within the heading widens it.
                words = Some(range.end..range.start);
                found.push(Heading {
                    level: level as u8,
                    text: String::new(),
                    line,
                });
            }
            Event::End(TagEnd::Heading(_)) if depth == 0 => {
                let words = words.take().and_then(|words| text.get(words));
                if let (Some(words), Some(heading)) = (words, found.last_mut()) {
                    // A heading above an underline may have several lines.
                    let lines: Vec<&str> = words.lines().map(str::trim).collect();
                    heading.text = lines.join(" ");
                }
            }
            ref other => {
                if let Some(words) = &mut words {
                    *words = words.start.min(range.start)..words.end.max(range.end);
                }
                match other {
                    Event::Start(_) => depth += 1,
                    Event::End(_) => depth -= 1,
                    _ => {}
                }
            }
        }
    }
    found
}

/// Returns the length of a text's front matter.
///
/// Only the first block of it is looked at: the parser takes text between two rules for more of it.
fn front_matter(text: &str) -> usize {
    if !text.starts_with("---") && !text.starts_with("+++") {
        return 0;
    }
    let mut events = Parser::new_ext(text, FRONT_MATTER).into_offset_iter();
    match events.next() {
        Some((Event::Start(Tag::MetadataBlock(_)), range)) if range.start == 0 => range.end,
        _ => 0,
    }
}

fn newlines(text: &str) -> u32 {
    text.matches('\n').count() as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(u8, &str, u32)]) {
        let found = headings(text);
        let found: Vec<_> = found
            .iter()
            .map(|h| (h.level, h.text.as_str(), h.line))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn both_forms_are_headings() {
        check(
            "Title\n=====\n\n## Use ##\n\nSub\n---\n",
            &[(1, "Title", 1), (2, "Use", 4), (2, "Sub", 6)],
        );
    }

    #[test]
    fn code_and_comments_hold_no_headings() {
        check(
            "```sh\n# a comment\n~~~\n```\n    # indented\n<!--\n# gone\n-->\n# Seen\n",
            &[(1, "Seen", 9)],
        );
    }

    #[test]
    fn hashes_without_a_space_and_a_rule_are_no_headings() {
        check("#hashtag\n\n---\n\n- item\n---\n####### seven\n", &[]);
    }

    #[test]
    fn a_hash_that_belongs_to_the_words_stays() {
        check("# About C#\n", &[(1, "About C#", 1)]);
    }

    #[test]
    fn front_matter_and_tables_hold_no_headings() {
        check(
            "---\ntitle: Manual\ntags: [a]\n---\n# Seen\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---\n",
            &[(1, "Seen", 5)],
        );
        check("+++\n# a comment\n+++\n\n# Seen\n", &[(1, "Seen", 5)]);
        // Between two rules, further down, is no front matter.
        check("a\n\n---\n# Seen\n\n---\nb\n", &[(1, "Seen", 4)]);
    }

    #[test]
    fn quotations_lists_and_blocks_of_html_hold_no_headings() {
        check(
            "> # quoted\n\n- # item\n\n  ## in it\n\n<details>\n# plain\n</details>\n\n## Seen\n",
            &[(2, "Seen", 11)],
        );
    }

    #[test]
    fn the_words_of_a_heading_are_as_written() {
        check(
            "# The `a_b` *option*, see [it](x.md)\r\n\r\nOver two\r\n  lines\r\n---\r\n\r\n#\r\n",
            &[
                (1, "The `a_b` *option*, see [it](x.md)", 1),
                (2, "Over two lines", 3),
                (1, "", 7),
            ],
        );
    }

    proptest! {
        /// Marks of blocks in any order are read, and each heading is on a line of its own.
        #[test]
        fn each_heading_is_on_a_line_of_the_text(
            text in "([#>=`<!|+*-]{1,4}|[ \t]{1,4}|\r?\n|[a-zé]{1,3}|\\[x\\]\\(y\\)){0,60}",
        ) {
            let found = headings(&text);
            let lines: Vec<&str> = text.lines().collect();
            prop_assert!(found.is_sorted_by(|one, next| one.line < next.line));
            for heading in found {
                let line = lines[heading.line as usize - 1];
                let first = heading.text.split(' ').next().unwrap_or_default();
                prop_assert!(line.contains(first), "{line:?} {heading:?}");
            }
        }
    }
}
