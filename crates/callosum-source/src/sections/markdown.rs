//! Headings of Markdown.
//!
//! Deliberately not a Markdown reader: paragraphs, lists and links are not looked at, and a
//! heading inside a quotation or list is none.

use super::Heading;

/// The headings of a Markdown text, in order: `## like this`, or underlined by `===` or `---`.
///
/// Fenced code and HTML comments are passed over.
pub(super) fn headings(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut fence: Option<Fence> = None;
    let mut in_comment = false;
    let mut paragraph: Option<(&str, u32)> = None;
    for (line, number) in text.lines().zip(1..) {
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(open) = &fence {
            if indent < 4 && open.is_closed_by(trimmed) {
                fence = None;
            }
            continue;
        }
        if in_comment {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        let above = paragraph.take();
        if indent >= 4 || line.starts_with('\t') {
            continue;
        }
        if trimmed.starts_with("<!--") {
            in_comment = !trimmed.contains("-->");
        } else if let Some(open) = Fence::opened_by(trimmed) {
            fence = Some(open);
        } else if let Some((level, words)) = hashed(trimmed) {
            found.push(Heading {
                level,
                text: words.to_owned(),
                line: number,
            });
        } else if let (Some(level), Some((words, line))) = (underline(trimmed), above) {
            found.push(Heading {
                level,
                text: words.to_owned(),
                line,
            });
        } else if !trimmed.is_empty() && !trimmed.starts_with(['>', '-', '*', '+', '|']) {
            paragraph = Some((trimmed, number));
        }
    }
    found
}

/// An open code fence: its mark and the number of marks.
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let mark = line
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let inline_code = mark == '`' && line[length..].contains('`');
        (length >= 3 && !inline_code).then_some(Self { mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

fn hashed(line: &str) -> Option<(u8, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let words = rest.trim();
    let unclosed = words.trim_end_matches('#');
    let closed = unclosed.is_empty() || unclosed.ends_with([' ', '\t']);
    let words = if closed { unclosed.trim_end() } else { words };
    Some((level as u8, words))
}

fn underline(line: &str) -> Option<u8> {
    let of = |mark| !line.is_empty() && line.chars().all(|c| c == mark);
    if of('=') {
        Some(1)
    } else if of('-') {
        Some(2)
    } else {
        None
    }
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
}
