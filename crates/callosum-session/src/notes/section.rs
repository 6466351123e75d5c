//! Finds the place of an insertion: at the end of its section, which is created if there is none,
//! on a line of its own, and never within an unfinished merge.

use std::ops::Range;

use super::document::{CONTINUITY, Notes};

/// The level of our own sections; one of a person's that lies deeper is read, and not written into.
const DEEPEST: u8 = 3;

impl Notes {
    /// Returns the line end that the first line has.
    pub(super) fn eol(&self) -> &'static str {
        let first = self.outline.lines.first();
        match first.map(|line| line.next - line.at.end) {
            Some(2) => "\r\n",
            _ => "\n",
        }
    }

    /// Returns a block at the end of a section, with a blank line before it.
    pub(super) fn with_block(&self, section: &str, block: &str) -> Self {
        let eol = self.eol();
        match self.end_of(section) {
            Some(line) => {
                let at = self.line_start(line);
                let gap = if line > 0 && !self.is_blank_line(line - 1) {
                    eol
                } else {
                    ""
                };
                let text = self.on_own_line(at, &format!("{gap}{block}{eol}"));
                self.spliced(at..at, &text)
            }
            None => self.with_section(section, block),
        }
    }

    /// Returns a line at the end of a section.
    pub(super) fn with_line(&self, section: &str, line: &str) -> Self {
        let Some(end) = self.end_of(section) else {
            return self.with_section(section, line);
        };
        let at = self.line_start(end);
        let text = self.on_own_line(at, &format!("{line}{}", self.eol()));
        self.spliced(at..at, &text)
    }

    /// Returns the document with a new section at the end of Session Continuity. If that does not
    /// exist either, it is created below the document's title and all that a person has written
    /// under it, so that every line stays in its section. In a document without a title, it is
    /// created at the end.
    fn with_section(&self, section: &str, content: &str) -> Self {
        let eol = self.eol();
        let new = format!("{eol}### {section}{eol}{content}{eol}");
        if let Some(line) = self.end_of(CONTINUITY) {
            let at = self.line_start(line);
            return self.spliced(at..at, &self.on_own_line(at, &new));
        }
        let mut headings = self.outline.headings.iter();
        let is_titled = headings.next().is_some_and(|first| first.level == 1);
        let is_torn = |line: usize| self.outline.lines[line].is_torn;
        let next = headings.find(|next| next.level <= 2 && !is_torn(next.line));
        if let Some(next) = next.filter(|_| is_titled) {
            let at = self.line_start(next.line);
            let is_apart = next.line == 0 || self.is_blank_line(next.line - 1);
            let gap = if is_apart { "" } else { eol };
            return self.spliced(at..at, &format!("{gap}## {CONTINUITY}{eol}{new}{eol}"));
        }
        let at = self.bytes.len();
        let new = format!("{eol}## {CONTINUITY}{eol}{new}");
        self.spliced(at..at, &self.on_own_line(at, &new))
    }

    /// Returns the line before which additions to a section belong: after its last line that is not
    /// blank, and never in an unfinished merge. `None` if the section does not exist, or its
    /// heading is in such a merge, or is deeper than the addition, which would take the following
    /// text out of its own section.
    fn end_of(&self, section: &str) -> Option<usize> {
        let is_usable = |heading: &usize| {
            let heading = &self.outline.headings[*heading];
            !self.outline.lines[heading.line].is_torn && heading.level <= DEEPEST
        };
        let heading = self.outline.titled(section).find(is_usable)?;
        let body = self.outline.body(heading);
        let lines = &self.outline.lines;
        let torn = body.clone().find(|line| lines[*line].is_torn);
        let is_torn_at_end = body.end < lines.len() && lines[body.end].is_torn;
        let end = match torn {
            // Text after a merge within the section is as good a place as any.
            Some(_) if !is_torn_at_end => body.end,
            Some(first) => body
                .clone()
                .rev()
                .find(|line| !lines[*line].is_torn)
                .map_or(first, |last| last + 1)
                .max(body.start),
            None => body.end,
        };
        let filled = (body.start..end)
            .rev()
            .find(|line| !self.is_blank_line(*line));
        Some(filled.map_or(body.start, |line| line + 1))
    }

    pub(super) fn line_start(&self, line: usize) -> usize {
        match self.outline.lines.get(line) {
            Some(line) => line.at.start,
            None => self.bytes.len(),
        }
    }

    /// Returns a text that begins a line of its own, also if the line before has no end.
    pub(super) fn on_own_line(&self, at: usize, text: &str) -> String {
        if at > 0 && self.bytes[at - 1] != b'\n' {
            format!("{}{text}", self.eol())
        } else {
            text.to_owned()
        }
    }

    pub(super) fn spliced(&self, at: Range<usize>, text: &str) -> Self {
        let bytes = [
            &self.bytes[..at.start],
            text.as_bytes(),
            &self.bytes[at.end..],
        ]
        .concat();
        Self::read(bytes)
    }
}
