//! Lines of a Markdown file, its headings, and text that looks like a heading but is none: code,
//! comments, and the markers of an unfinished merge.

use std::{borrow::Cow, ops::Range};

/// Message for the first line of a merge that never ends.
pub(super) const OPEN_MERGE: &str = "an unterminated merge";

/// Most blanks before the mark of a heading.
const MOST_INDENT: usize = 3;

/// A line, by its place in the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Its bytes without the line end.
    pub(super) at: Range<usize>,
    /// Start of the next one.
    pub(super) next: usize,
    /// Whether it is text, and not code or a comment.
    pub(super) is_text: bool,
    /// Whether it is in an unfinished merge, the markers included.
    pub(super) is_torn: bool,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// Its words.
    pub(super) title: String,
    /// The line that it is, counted from 0.
    pub(super) line: usize,
}

/// Structure of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    pub(super) lines: Vec<Line>,
    pub(super) headings: Vec<Heading>,
    /// Lines, counted from 0, where an element begins that never ends.
    pub(super) unclosed: Vec<(usize, &'static str)>,
    /// Lines where an unfinished merge begins.
    pub(super) merges: Vec<usize>,
}

impl Outline {
    /// Reads a file, in time linear in its length.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut outline = Self {
            lines: lines(bytes),
            ..Self::default()
        };
        let open = outline.find_merges(bytes);
        outline.find_code_and_comments(bytes);
        let open = open.filter(|line| outline.lines[*line].is_text);
        let open = open.map(|line| (line, OPEN_MERGE));
        outline.unclosed.splice(..0, open);
        outline.find_headings(bytes);
        outline
    }

    /// Returns the lines of a section, counted from 0, without its heading: up to the next heading
    /// that is not below it.
    pub(super) fn body(&self, heading: usize) -> Range<usize> {
        let own = &self.headings[heading];
        let next = self.headings[heading + 1..]
            .iter()
            .find(|other| other.level <= own.level);
        own.line + 1..next.map_or(self.lines.len(), |next| next.line)
    }

    /// Returns the headings with this title, ignoring case, by their index in the list.
    pub(super) fn titled<'o>(&'o self, title: &'o str) -> impl Iterator<Item = usize> + 'o {
        let all = self.headings.iter().enumerate();
        all.filter(move |(_, heading)| heading.title.eq_ignore_ascii_case(title))
            .map(|(index, _)| index)
    }

    /// Finds the start of a merge that never ends.
    fn find_merges(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut opened = None;
        for index in 0..self.lines.len() {
            let line = &bytes[self.lines[index].at.clone()];
            if line.starts_with(b"<<<<<<< ") {
                // One that begins within another is part of it.
                opened.get_or_insert(index);
            } else if line.starts_with(b">>>>>>> ")
                && let Some(first) = opened.take()
            {
                self.merges.push(first);
                for torn in &mut self.lines[first..=index] {
                    torn.is_torn = true;
                    torn.is_text = !is_mark_of_merge(&bytes[torn.at.clone()]);
                }
            }
        }
        opened
    }

    fn find_code_and_comments(&mut self, bytes: &[u8]) {
        let mut index = 0;
        let mut no_more_ends = [false; 2];
        while index < self.lines.len() {
            let line = bytes[self.lines[index].at.clone()].trim_ascii_start();
            let (kind, what) = match fence(line) {
                Some(_) => (0, "an unterminated code fence"),
                None if line.starts_with(b"<!--") => (1, "an unterminated comment"),
                None => {
                    index += 1;
                    continue;
                }
            };
            let ends = |other: &Line, first: bool| {
                let text = bytes[other.at.clone()].trim_ascii();
                match fence(line) {
                    Some((mark, length)) => {
                        !first && text.len() >= length && text.iter().all(|byte| *byte == mark)
                    }
                    None => text.windows(3).any(|three| three == b"-->"),
                }
            };
            let end = if no_more_ends[kind] {
                None
            } else {
                let rest = self.lines[index..].iter().enumerate();
                let mut ending = rest.filter(|(offset, other)| ends(other, *offset == 0));
                ending.next().map(|(offset, _)| index + offset)
            };
            let Some(end) = end else {
                // A longer fence may have no end although a shorter one has: only the shortest is
                // conclusive.
                no_more_ends[kind] |= fence(line).is_none_or(|(_, length)| length == 3);
                self.unclosed.push((index, what));
                index += 1;
                continue;
            };
            for hidden in &mut self.lines[index..=end] {
                hidden.is_text = false;
            }
            index = end + 1;
        }
    }

    /// Returns the line after the element that begins in a line, before `last`: a comment or a code
    /// block is one element.
    pub(super) fn end_of(&self, bytes: &[u8], line: usize, last: usize) -> usize {
        let lines = &self.lines;
        if lines[line].is_text {
            return line + 1;
        }
        let text = |line: usize| &bytes[lines[line].at.clone()];
        let is_comment = text(line).trim_ascii_start().starts_with(b"<!--");
        let mut hidden = (line..last).take_while(|line| !lines[*line].is_text);
        let ends = |line: &usize| is_comment && memchr::memmem::find(text(*line), b"-->").is_some();
        match hidden.find(ends) {
            Some(end) => end + 1,
            None => (line..last)
                .find(|line| lines[*line].is_text)
                .unwrap_or(last),
        }
    }

    fn find_headings(&mut self, bytes: &[u8]) {
        for (index, line) in self.lines.iter().enumerate() {
            if !line.is_text {
                continue;
            }
            let text = &bytes[line.at.clone()];
            // As in Markdown, up to three blanks may come before it.
            let indent = text.iter().take_while(|byte| **byte == b' ').count();
            let text = &text[indent.min(MOST_INDENT)..];
            let level = text.iter().take_while(|byte| **byte == b'#').count();
            let is_heading = (1..=6).contains(&level)
                && text
                    .get(level)
                    .is_none_or(|byte| matches!(byte, b' ' | b'\t'));
            if is_heading {
                let title = String::from_utf8_lossy(&text[level..]);
                self.headings.push(Heading {
                    level: level as u8,
                    title: title.trim().trim_end_matches('#').trim_end().to_owned(),
                    line: index,
                });
            }
        }
    }

    /// Returns a line's text.
    pub(super) fn text<'b>(&self, bytes: &'b [u8], line: usize) -> Cow<'b, str> {
        String::from_utf8_lossy(&bytes[self.lines[line].at.clone()])
    }
}

/// Returns the lines with their ends; those of a comment, and those of a block of code, as one.
pub(crate) fn whole_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let outline = Outline::of(bytes);
    let mut whole = Vec::new();
    let mut line = 0;
    while line < outline.lines.len() {
        let end = outline.end_of(bytes, line, outline.lines.len());
        whole.push(&bytes[outline.lines[line].at.start..outline.lines[end - 1].next]);
        line = end;
    }
    whole
}

/// Whether a line is one of those that git puts around and between the sides of a merge.
pub(super) fn is_mark_of_merge(line: &[u8]) -> bool {
    let marks = [&b"<<<<<<< "[..], b"||||||| ", b">>>>>>> "];
    line == b"=======" || marks.iter().any(|mark| line.starts_with(mark))
}

/// Returns the mark and the length of the fence that a line opens.
fn fence(line: &[u8]) -> Option<(u8, usize)> {
    let mark = *line.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = line.iter().take_while(|byte| **byte == mark).count();
    // Three backticks and a fourth later on the line are code within a sentence.
    let is_fence = length >= 3 && (mark == b'~' || !line[length..].contains(&b'`'));
    is_fence.then_some((mark, length))
}

fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let next = start + line.len();
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        lines.push(Line {
            at: start..start + content.len(),
            next,
            is_text: true,
            is_torn: false,
        });
        start = next;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        let outline = Outline::of(text.as_bytes());
        outline.headings.into_iter().map(|h| h.title).collect()
    }

    #[test]
    fn headings_in_code_and_comments_are_none() {
        let text = "# A\r\n```md\n# no\n```\n<!-- x\n# no\n-->\n## B ##\n<!-- one line -->\n   ### C\n#no\n    # no\n";
        assert_eq!(titles(text), ["A", "B", "C"]);
    }

    #[test]
    fn what_never_ends_hides_nothing_and_is_named() {
        let text = "# A\n````\n# B\n<!--\n# C\n```\n# D\n```\n";
        let outline = Outline::of(text.as_bytes());
        assert_eq!(titles("# A\n<!--\n# B\n"), ["A", "B"]);
        assert_eq!(titles(text), ["A", "B", "C"]);
        let lines: Vec<usize> = outline.unclosed.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3]);
        let hostile = "```\n".repeat(3) + &"<!--\n".repeat(200_000);
        assert_eq!(Outline::of(hostile.as_bytes()).unclosed.len(), 200_001);
    }

    #[test]
    fn a_merge_is_found_with_its_marks() {
        let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\nd\n<<<<<<< never\n";
        let outline = Outline::of(text.as_bytes());
        let torn: Vec<bool> = outline.lines.iter().map(|line| line.is_torn).collect();
        assert_eq!(torn, [false, true, true, true, true, true, false, false]);
        assert_eq!(outline.merges, [1]);
        assert_eq!(outline.unclosed, [(7, "an unterminated merge")]);
        let example = Outline::of(b"```\n<<<<<<< HEAD\n```\n");
        assert_eq!(example.unclosed, []);
    }
}
