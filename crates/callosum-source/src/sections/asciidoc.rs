//! Headings of AsciiDoc: `== like this`, or words with a line of marks of about their length below
//! them.
//!
//! Text between two lines that delimit a block (code, comments, examples, tables) is ignored.

use super::Heading;

/// The marks below a heading, the highest level first.
const UNDERLINES: [char; 5] = ['=', '-', '~', '^', '+'];

/// By so many letters a line of marks may be longer or shorter than the words above it.
const ABOUT: usize = 1;

/// The headings of a text, in order.
pub(super) fn headings(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut block: Option<&str> = None;
    // A line that begins a paragraph; the next one may show that it is a heading.
    let mut begun: Option<(&str, u32)> = None;
    let mut begins = true;
    for (line, number) in text.lines().map(str::trim_end).zip(1..) {
        if let Some(open) = block {
            if line == open {
                (block, begins) = (None, true);
            }
            continue;
        }
        let above = begun.take();
        let underlined = above.and_then(|(words, at)| Some((underline(words, line)?, words, at)));
        let (level, words, at) = match underlined {
            Some(underlined) => underlined,
            None if is_delimiter(line) => {
                block = Some(line);
                continue;
            }
            None => {
                let Some((level, words)) = marked(line) else {
                    if begins && line.starts_with(char::is_alphanumeric) {
                        begun = Some((line, number));
                    }
                    // Attributes, comments and names of blocks are no paragraph.
                    begins =
                        line.is_empty() || line.starts_with(['[', ':']) || line.starts_with("//");
                    continue;
                };
                (level, words, number)
            }
        };
        found.push(Heading {
            level,
            text: words.to_owned(),
            line: at,
        });
        begins = true;
    }
    found
}

/// Whether a line opens and closes a block.
fn is_delimiter(line: &str) -> bool {
    let Some(mark) = line.chars().next() else {
        return false;
    };
    let of_mark = |rest: &str| rest.chars().all(|c| c == mark);
    match mark {
        '-' | '.' | '+' | '/' | '=' | '*' | '_' => of_mark(line) && line.len() >= 4 || line == "--",
        '`' => line == "```",
        '|' | ',' | ':' | '!' => line.len() >= 4 && line[1..].chars().all(|c| c == '='),
        _ => false,
    }
}

/// A heading on one line: its level and words.
fn marked(line: &str) -> Option<(u8, &str)> {
    let mark = line
        .chars()
        .next()
        .filter(|mark| matches!(mark, '=' | '#'))?;
    let level = line.chars().take_while(|c| *c == mark).count();
    let words = line[level..].strip_prefix([' ', '\t'])?.trim();
    let closed = words.strip_suffix(&line[..level]).unwrap_or(words);
    let words = if closed.ends_with([' ', '\t']) {
        closed.trim_end()
    } else {
        words
    };
    (level <= 6 && !words.is_empty()).then_some((level as u8, words))
}

/// Returns the level of a heading with these words, if the line below them is its marks.
fn underline(words: &str, line: &str) -> Option<u8> {
    let mark = line.chars().next()?;
    let level = UNDERLINES.iter().position(|known| *known == mark)?;
    let is_whole = line.chars().all(|c| c == mark);
    let is_about = words.chars().count().abs_diff(line.len()) <= ABOUT;
    (is_whole && is_about && line.len() > 1).then_some(level as u8 + 1)
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

    /// LOA-JIT-2: sections of AsciiDoc are recognized by either form of heading.
    #[test]
    fn both_forms_are_headings() {
        check(
            "= Guide\nAn Author\n\n[[use]]\n== Use ==\n\n[source,sh]\n----\n== not\n----\n=== Sub\r\n",
            &[(1, "Guide", 1), (2, "Use", 5), (3, "Sub", 11)],
        );
        check(
            "git-log(1)\n==========\n\nNAME\n----\ngit-log - Show\n\nOPTIONS\n-------\n\nx y\n~~~~\n",
            &[
                (1, "git-log(1)", 1),
                (2, "NAME", 4),
                (2, "OPTIONS", 8),
                (3, "x y", 11),
            ],
        );
    }

    #[test]
    fn blocks_and_paragraphs_hold_no_headings() {
        for text in [
            "////\n== Gone\n////\n",
            "====\n== Within an example\n====\n",
            "|===\n|a\n== b\n|===\n",
            "```\n# a comment\n```\n",
            "one\ntwo lines\n---------\ncode\n---------\n",
            "[sh]\n----\nls\n----\n",
            ".ls\n----\nls\n----\n",
            "==no\n\n======= seven\n\n= \n",
            "",
        ] {
            check(text, &[]);
        }
    }
}
