//! [`Notes`]: the document, read.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{decision::Decision, field_label::Label, outline::Outline};
use crate::timestamp::in_order;

/// Largest `NOTES.md` that is read, in bytes.
pub const LARGEST_NOTES: u64 = 64 * 1024 * 1024;

/// A new `NOTES.md` (Seed LOA §5.1), without the examples.
pub const TEMPLATE: &str = "\
# Agent Working Memory (NOTES.md)

## Session Continuity
<!-- CRITICAL: Load this section FIRST after /clear (~100 tokens) -->

### Active Context
- **Current Bead**: none
- **Last Checkpoint**: none
- **Reasoning State**: none

### Lightweight Identifiers
<!-- Absolute paths only - retrieve full content on-demand -->
| Identifier | Purpose | Last Verified |
|------------|---------|---------------|

### Decision Log
<!-- Decisions survive context wipes - permanent record -->

### Pending Questions
<!-- Carry forward across sessions -->

## Active Sub-Goals
<!-- Current objectives being pursued -->

## Discovered Technical Debt
<!-- Issues found during implementation -->

## Blockers & Dependencies
<!-- External factors affecting progress -->
";

pub(super) const CONTINUITY: &str = "Session Continuity";
pub(super) const ACTIVE: &str = "Active Context";
pub(super) const LOG: &str = "Decision Log";
pub(super) const IDENTIFIERS: &str = "Lightweight Identifiers";
pub(super) const QUESTIONS: &str = "Pending Questions";

/// The document; every byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    pub(super) bytes: Vec<u8>,
    pub(super) outline: Outline,
}

/// Fields of the section Active Context; `none` and an empty field are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// The id of the current bead.
    pub bead: Option<String>,
    /// Its title, as written after it.
    pub title: Option<String>,
    /// The time of the last checkpoint, as written.
    pub checkpoint: Option<String>,
    /// Reasoning in progress.
    pub reasoning: Option<String>,
}

/// A line of Active Context.
pub(crate) struct ActiveLine<'n> {
    /// Counted from 0.
    pub(super) line: usize,
    /// The words in bold.
    pub(super) name: &'n str,
    /// Range of the value.
    pub(super) value: Range<usize>,
}

/// A row of the table of identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    /// `${PROJECT_ROOT}/path:a-b`, as written.
    pub place: String,
    /// Purpose of the identifier.
    pub purpose: String,
    /// When it was last looked up, as written.
    pub verified: String,
    /// Its line, counted from 1.
    pub line: usize,
}

/// The decisions of a document, newest first.
pub(crate) struct Newest<'n> {
    notes: &'n Notes,
    /// The heading and the lines of each.
    entries: Vec<(usize, Range<usize>)>,
}

impl Newest<'_> {
    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// One of them, counted from the newest.
    pub(crate) fn nth(&self, index: usize) -> Option<Decision> {
        let (heading, lines) = self.entries.get(index)?.clone();
        self.notes.decision(heading, lines)
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Decision> + '_ {
        (0..self.len()).filter_map(|index| self.nth(index))
    }
}

impl Notes {
    /// Parses a document. Any bytes are accepted.
    pub fn read(bytes: Vec<u8>) -> Self {
        let outline = Outline::of(&bytes);
        Self { bytes, outline }
    }

    /// Returns every byte of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether there is nothing in it.
    pub fn is_blank(&self) -> bool {
        self.bytes
            .iter()
            .all(|byte| byte.is_ascii_whitespace() || *byte == 0)
    }

    /// Returns the fields of the section Active Context.
    pub fn active(&self) -> Active {
        let field = |name: &str| {
            self.active_lines()
                .find(|line| line.name.eq_ignore_ascii_case(name))
                .map(|line| String::from_utf8_lossy(&self.bytes[line.value]).into_owned())
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty() && !value.eq_ignore_ascii_case("none"))
        };
        let bead = field("Current Bead");
        let parts = bead.map(|value| {
            let (id, rest) = value.split_once([' ', '(']).unwrap_or((&value, ""));
            let title = rest.trim().trim_start_matches('(').strip_suffix(')');
            let title = title.filter(|title| !title.is_empty());
            (id.trim_matches('`').to_owned(), title.map(str::to_owned))
        });
        let (bead, title) = parts.unzip();
        Active {
            bead,
            title: title.flatten(),
            checkpoint: field("Last Checkpoint"),
            reasoning: field("Reasoning State"),
        }
    }

    /// Returns the lines `- **Name**: value` of Active Context.
    pub(crate) fn active_lines(&self) -> impl Iterator<Item = ActiveLine<'_>> + '_ {
        let body = self.lines_of(ACTIVE);
        body.into_iter().filter_map(|line| {
            let found = &self.outline.lines[line];
            let text = &self.bytes[found.at.clone()];
            let words = text.utf8_chunks().next()?.valid();
            let label = Label::of_item(words).filter(|_| found.is_text)?;
            let blank = usize::from(text.get(label.rest) == Some(&b' '));
            Some(ActiveLine {
                line,
                name: label.name,
                value: found.at.start + label.rest + blank..found.at.end,
            })
        })
    }

    /// Returns the lines of every section with this title, each once.
    pub(super) fn lines_of(&self, title: &str) -> Vec<usize> {
        let mut lines: Vec<usize> = Vec::new();
        for heading in self.outline.titled(title) {
            let read = lines.last().map_or(0, |last| last + 1);
            lines.extend(self.outline.body(heading).filter(|line| *line >= read));
        }
        lines
    }

    /// Returns the decisions of every Decision Log, in the order of the document.
    pub fn decisions(&self) -> Vec<Decision> {
        let entries = self.entries().into_iter();
        entries
            .filter_map(|(heading, lines)| self.decision(heading, lines))
            .collect()
    }

    /// Returns those of them whose time and title are wanted. No other is read beyond its heading.
    pub(crate) fn decisions_where(
        &self,
        mut wanted: impl FnMut(&str, &str) -> bool,
    ) -> Vec<Decision> {
        let entries = self.entries().into_iter();
        let entries = entries.filter(|(heading, _)| {
            self.heading(*heading)
                .is_some_and(|(ts, title)| wanted(&ts, &title))
        });
        entries
            .filter_map(|(heading, lines)| self.decision(heading, lines))
            .collect()
    }

    /// Returns the time and the title of each decision.
    pub(crate) fn headings(&self) -> Vec<(String, String)> {
        let entries = self.entries().into_iter();
        entries
            .filter_map(|(heading, _)| self.heading(heading))
            .collect()
    }

    /// Returns the time and the title of a heading; `None` if it is not that of a decision.
    pub(super) fn heading(&self, heading: usize) -> Option<(String, String)> {
        let title = &self.outline.headings[heading].title;
        let read = Decision::read(title, std::iter::empty())?;
        Some((read.ts, read.title))
    }

    /// Returns the decisions, newest first; of the same time, the last written first. None is read
    /// beyond its heading before it is asked for.
    pub(crate) fn newest(&self) -> Newest<'_> {
        let mut entries = self.entries();
        entries.reverse();
        let ts = |heading: usize| {
            let heading = Decision::read(&self.outline.headings[heading].title, std::iter::empty());
            heading.map(|heading| heading.ts)
        };
        let mut timed: Vec<(String, usize, Range<usize>)> = entries
            .into_iter()
            .filter_map(|(heading, lines)| Some((ts(heading)?, heading, lines)))
            .collect();
        timed.sort_by(|a, b| in_order(&b.0).cmp(in_order(&a.0)));
        let entries = timed.into_iter();
        Newest {
            notes: self,
            entries: entries
                .map(|(_, heading, lines)| (heading, lines))
                .collect(),
        }
    }

    /// Returns candidates for entries of a Decision Log: each heading, by its index in the list,
    /// and the lines below it.
    pub(super) fn entries(&self) -> Vec<(usize, Range<usize>)> {
        let mut entries = Vec::new();
        let mut read = HashSet::new();
        for log in self.outline.titled(LOG) {
            let body = self.outline.body(log);
            let all = self.outline.headings.iter().enumerate().skip(log + 1);
            for (index, _) in all.take_while(|(_, entry)| entry.line < body.end) {
                // A log within a log is read once.
                if read.insert(index) {
                    let lines = self.outline.body(index);
                    entries.push((index, lines.start..lines.end.min(body.end)));
                }
            }
            for index in self.behind(log, body.end) {
                if read.insert(index) {
                    entries.push((index, self.above_next(index, &self.outline.body(index))));
                }
            }
        }
        entries
    }

    /// Returns headings of decisions after a Decision Log that ends at this line because their
    /// level is not below it, and the headings below them.
    fn behind(&self, log: usize, end: usize) -> Vec<usize> {
        let headings = self.outline.headings.iter().enumerate();
        let behind = headings.filter(|(_, heading)| heading.line >= end);
        let is_entry = |index: usize, level: u8| {
            let is_deeper = level > self.outline.headings[log].level;
            self.heading(index).is_some()
                && (is_deeper || self.is_undated(index, &self.outline.body(index)))
        };
        let entries = behind.take_while(|(index, heading)| is_entry(*index, heading.level));
        entries.map(|(index, _)| index).collect()
    }

    /// Returns entries of a Decision Log that are written like decisions, and whose heading is not
    /// a time and a title: the words of the heading are the name of each.
    pub(crate) fn undated(&self) -> Vec<Decision> {
        let entries = self.entries().into_iter();
        let undated = entries.filter(|(heading, lines)| {
            self.heading(*heading).is_none() && self.is_undated(*heading, lines)
        });
        let read = undated.map(|(heading, lines)| {
            let lines = self.above_next(heading, &lines);
            let title = &self.outline.headings[heading].title;
            let texts: Vec<_> = lines
                .clone()
                .filter(|line| self.outline.lines[*line].is_text)
                .map(|line| self.outline.text(&self.bytes, line))
                .collect();
            let line = self.outline.headings[heading].line;
            let filled = lines.rev().find(|line| !self.is_blank_line(*line));
            Decision {
                line: line + 1,
                last_line: filled.unwrap_or(line) + 1,
                ..Decision::undated(title, texts.iter().map(AsRef::as_ref))
            }
        });
        read.collect()
    }

    /// Returns the decision of this name.
    pub(crate) fn named(&self, name: &str) -> Option<Decision> {
        let mut all = self.decisions().into_iter().chain(self.undated());
        all.find(|decision| decision.is_named(name))
    }

    /// Returns the lines of an entry up to the next heading of any level.
    pub(super) fn above_next(&self, heading: usize, lines: &Range<usize>) -> Range<usize> {
        let next = self.outline.headings.get(heading + 1);
        lines.start..next.map_or(lines.end, |next| next.line.min(lines.end))
    }

    /// Whether there is a field of a decision in an entry.
    pub(super) fn is_undated(&self, heading: usize, lines: &Range<usize>) -> bool {
        let mut lines = self.above_next(heading, lines);
        lines.any(|line| self.is_field_of_decision(line))
    }

    pub(super) fn is_field_of_decision(&self, line: usize) -> bool {
        let text = self.outline.text(&self.bytes, line);
        let words = text.trim_start();
        self.outline.lines[line].is_text
            && (words.starts_with("**Decision") || words.starts_with("__Decision"))
    }

    pub(super) fn decision(&self, heading: usize, lines: Range<usize>) -> Option<Decision> {
        let heading = &self.outline.headings[heading];
        let texts: Vec<_> = lines
            .clone()
            .filter(|line| self.outline.lines[*line].is_text)
            .map(|line| self.outline.text(&self.bytes, line))
            .collect();
        let decision = Decision::read(&heading.title, texts.iter().map(AsRef::as_ref))?;
        let filled = lines.rev().find(|line| !self.is_blank_line(*line));
        Some(Decision {
            line: heading.line + 1,
            last_line: filled.unwrap_or(heading.line) + 1,
            ..decision
        })
    }

    /// Returns the times in lines with a heading mark, anywhere in the file, with the number of
    /// such lines: also those of decisions that a person commented out or moved to another section.
    /// A last line without a line end is left out: a torn write may have left it.
    pub(crate) fn headed_times(&self) -> HashMap<&str, usize> {
        let end = self.bytes.iter().rposition(|byte| *byte == b'\n');
        let lines = self.bytes[..end.unwrap_or(0)].split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
        let is_of_time = |c: char| c.is_ascii_digit() || "-:TZ.+".contains(c);
        let mut times: HashMap<&str, usize> = HashMap::new();
        for (_, words) in lines.filter_map(|line| line.split_once('#')) {
            let words = words.split(|c| !is_of_time(c));
            let of_line: HashSet<&str> = words.filter(|word| word.len() >= 10).collect();
            for time in of_line {
                *times.entry(time).or_default() += 1;
            }
        }
        times
    }

    pub(super) fn is_blank_line(&self, line: usize) -> bool {
        let at = self.outline.lines[line].at.clone();
        self.bytes[at].trim_ascii().is_empty()
    }

    /// Returns the unanswered questions, in their order.
    pub fn questions(&self) -> Vec<String> {
        let body = self.lines_of(QUESTIONS).into_iter();
        let texts = body
            .filter(|line| self.outline.lines[*line].is_text)
            .map(|line| self.outline.text(&self.bytes, line));
        texts
            .filter_map(|text| {
                let rest = text
                    .trim_start()
                    .strip_prefix(['-', '*', '+'])?
                    .trim_start();
                let question = rest.strip_prefix("[ ]")?.trim();
                (!question.is_empty()).then(|| question.to_owned())
            })
            .collect()
    }

    /// Returns the rows of the table of identifiers.
    pub fn identifiers(&self) -> Vec<Identifier> {
        let body = self.lines_of(IDENTIFIERS).into_iter();
        body.filter_map(|line| {
            let text = self.outline.text(&self.bytes, line);
            let mut cells = text.trim().strip_prefix('|')?.split('|').map(str::trim);
            let place = cells.next()?.trim_matches('`');
            let is_place = place.contains(':') && !place.starts_with("--");
            is_place.then(|| Identifier {
                place: place.to_owned(),
                purpose: cells.next().unwrap_or_default().to_owned(),
                verified: cells.next().unwrap_or_default().to_owned(),
                line: line + 1,
            })
        })
        .collect()
    }

    /// Returns code blocks of more than ten lines, with the line where each begins, counted from 1.
    pub fn raw_blocks(&self) -> Vec<(usize, String)> {
        let lines = &self.outline.lines;
        let mut blocks = Vec::new();
        let mut line = 0;
        while line < lines.len() {
            let hidden = lines[line..]
                .iter()
                .take_while(|found| !found.is_text)
                .count();
            let is_code = self
                .outline
                .text(&self.bytes, line)
                .trim_start()
                .starts_with(['`', '~']);
            if hidden > LONGEST_BLOCK && is_code {
                let at = lines[line].at.start..lines[line + hidden - 1].next;
                let text = String::from_utf8_lossy(&self.bytes[at]).into_owned();
                blocks.push((line + 1, text));
            }
            line += hidden.max(1);
        }
        blocks
    }
}

/// Lines of a block of code, its fences included, that are not yet raw output.
const LONGEST_BLOCK: usize = 12;
