//! Headings of reStructuredText: a line of words with a line of marks below it, or one above it
//! too.
//!
//! Each text sets the levels of its marks by their order: the first that it has are its highest.
//! Indented text is a part of something else and holds no headings.

use super::Heading;

/// A line of marks that is shorter than the words is still meant as one from so many on.
const MEANT: usize = 4;

/// The marks of a heading, and whether there are some above it too.
type Style = (char, bool);

/// The headings of a text, in order.
pub(super) fn headings(text: &str) -> Vec<Heading> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut styles: Vec<Style> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    // Within a paragraph no line is a heading.
    let mut begins = true;
    while let Some(line) = lines.get(at) {
        let heading = if begins {
            heading_at(&lines[at..])
        } else {
            None
        };
        let Some((style, words, length)) = heading else {
            begins = line.is_empty() || line.starts_with([' ', '\t']) || line.starts_with(".. ");
            at += 1;
            continue;
        };
        let known = styles.iter().position(|known| *known == style);
        let level = known.unwrap_or_else(|| {
            styles.push(style);
            styles.len() - 1
        });
        found.push(Heading {
            level: u8::try_from(level + 1).unwrap_or(u8::MAX),
            text: words.to_owned(),
            line: at as u32 + 1,
        });
        begins = true;
        at += length;
    }
    found
}

/// The heading that the lines begin with: its style, its words, and how many lines it is.
fn heading_at<'t>(lines: &[&'t str]) -> Option<(Style, &'t str, usize)> {
    let next = *lines.get(1)?;
    if let Some(mark) = marks(lines[0]) {
        let is_closed = lines.get(2) == Some(&lines[0]);
        let words = next.trim();
        let is_of_words = !words.is_empty() && marks(words).is_none();
        return (is_closed && is_of_words && is_under(words, lines[0])).then_some((
            (mark, true),
            words,
            3,
        ));
    }
    let words = lines[0];
    let mark = marks(next)?;
    (is_title(words) && is_under(words, next)).then_some(((mark, false), words, 2))
}

/// Whether a line may be words of a heading: it is not indented, and begins no list, comment or block.
fn is_title(line: &str) -> bool {
    const BEGINNINGS: [&str; 7] = ["- ", "* ", "+ ", ".. ", "| ", ">>> ", "__ "];
    let is_other = line.starts_with([' ', '\t']);
    !line.is_empty() && !is_other && !BEGINNINGS.iter().any(|mark| line.starts_with(mark))
}

/// Whether a line of marks is long enough for these words.
fn is_under(words: &str, marks: &str) -> bool {
    marks.len() >= MEANT || marks.len() >= words.chars().count()
}

/// The mark that a line is made of, and of nothing else.
fn marks(line: &str) -> Option<char> {
    let mark = line.chars().next().filter(char::is_ascii_punctuation)?;
    line.chars().all(|c| c == mark).then_some(mark)
}

#[cfg(test)]
mod tests {
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

    /// LOA-JIT-2: levels go by the order in which a text first uses its marks.
    #[test]
    fn levels_are_in_the_order_of_the_marks() {
        check(
            "=====\n Doc\n=====\n\nUse\n===\n\ntext\n\nSub\n~~~\nmore\n\nOther\n=====\n",
            &[
                (1, "Doc", 1),
                (2, "Use", 5),
                (3, "Sub", 10),
                (2, "Other", 14),
            ],
        );
        check(
            ".. _pager:\n\n1. Pager Support\r\n----------------\r\n\n:mod:`os`\n'''''''''\n",
            &[(1, "1. Pager Support", 3), (2, ":mod:`os`", 6)],
        );
        check(
            "Versions\n----\n\nx\n--\n",
            &[(1, "Versions", 1), (1, "x", 4)],
        );
    }

    #[test]
    fn paragraphs_lists_tables_and_rules_are_no_headings() {
        for text in [
            "two lines of\na paragraph\n-----------\n",
            "text\n\n--------\n\ntext\n",
            "- item\n------\n",
            ".. note::\n=========\n",
            "::\n\n    Title\n    =====\n",
            "=====  =====\nA      B\n=====  =====\n1      2\n=====  =====\n",
            "+---+\n| a |\n+---+\n",
            "a longer title\n--\n",
            "=====\n-----\n=====\n",
            "=====\nTitle\n",
            "",
        ] {
            check(text, &[]);
        }
    }
}
