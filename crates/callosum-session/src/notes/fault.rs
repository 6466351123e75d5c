//! [`NotesFinding`]: a part of the document that was not understood, by line: [`Notes::faults`].

use std::collections::{HashMap, hash_map::Entry};

use crate::sanitize::comparable;

use super::{
    document::{ACTIVE, CONTINUITY, IDENTIFIERS, LOG, Notes, QUESTIONS},
    edit::Field,
    outline::{Line, OPEN_MERGE},
};

/// Message for an entry whose heading is not a time and a title.
pub(super) const UNDATED: &str = "a decision whose heading is not a time and a title is named by \
                                  its heading: `#### 2026-01-02T03:04:05Z - Title` has a time";

/// Message for an item that is written like a question.
const UNASKED: &str =
    "a Pending Questions item without `[ ]` before its text is not read: `- [ ] question`";

/// Message for a line in which CR alone hides further lines.
const OLD_END: &str = "lines that end with CR alone are not read: end them with LF";

/// Message for the first line of an unfinished merge.
const MERGE: &str = "an unfinished merge";

/// Most faults of one kind that are reported.
const MOST_FAULTS: usize = 20;

/// Something in the document that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotesFinding {
    /// The line, counted from 1.
    pub line: usize,
    /// Description of the problem.
    pub what: String,
}

impl Notes {
    /// Returns the parts that were not understood, by line.
    pub fn faults(&self) -> Vec<NotesFinding> {
        let mut faults = Vec::new();
        let mut fault = |line: usize, what: String| {
            faults.push(NotesFinding {
                line: line + 1,
                what,
            });
        };
        if std::str::from_utf8(&self.bytes).is_err() {
            let odd = self.outline.lines.iter();
            let mut odd = odd
                .enumerate()
                .filter(|(_, line)| std::str::from_utf8(&self.bytes[line.at.clone()]).is_err());
            if let Some((line, _)) = odd.next() {
                fault(line, "bytes that are not UTF-8".to_owned());
            }
        }
        if let Some(at) = self.bytes.iter().position(|byte| *byte == 0) {
            let line = self.outline.lines.iter().position(|line| line.next > at);
            fault(line.unwrap_or(0), "NUL bytes".to_owned());
        }
        for (line, what) in self.outline.unclosed.iter().take(MOST_FAULTS) {
            fault(*line, (*what).to_owned());
        }
        for line in self.old_ends().take(MOST_FAULTS) {
            fault(line, OLD_END.to_owned());
        }
        for line in self.outline.merges.iter().take(MOST_FAULTS) {
            fault(*line, MERGE.to_owned());
        }
        for title in [CONTINUITY, ACTIVE, LOG, IDENTIFIERS, QUESTIONS] {
            let mut all = self.outline.titled(title);
            let Some(first) = all.next() else {
                fault(0, format!("the section `{title}` is missing"));
                continue;
            };
            for further in all.take(MOST_FAULTS) {
                let known = self.outline.headings[first].line + 1;
                fault(
                    self.outline.headings[further].line,
                    format!("a second section `{title}`; the first is at line {known}"),
                );
            }
        }
        for (line, what) in self.doubled_fields() {
            fault(line, what);
        }
        for line in self.unasked().into_iter().take(MOST_FAULTS) {
            fault(line, UNASKED.to_owned());
        }
        let stumps = self.outline.lines.iter().enumerate().filter(|(_, line)| {
            let text = self.bytes[line.at.clone()].trim_ascii();
            let is_open = text.starts_with(b"**") && !text[2..].windows(2).any(|two| two == b"**");
            line.is_text && is_open
        });
        let stumps: Vec<usize> = stumps.map(|(line, _)| line).take(MOST_FAULTS).collect();
        for line in stumps {
            fault(line, "an incomplete field".to_owned());
        }
        for (line, what) in self.odd_entries().into_iter().take(MOST_FAULTS) {
            fault(line, what);
        }
        for decision in self
            .decisions()
            .iter()
            .filter(|found| found.unread > 0)
            .take(MOST_FAULTS)
        {
            fault(
                decision.line - 1,
                "a decision whose evidence does not name a place as `quote` \
                 [${PROJECT_ROOT}/path:line]"
                    .to_owned(),
            );
        }
        faults.sort_by_key(|fault| fault.line);
        faults
    }

    /// Returns the obstacles to reading the document as intended, with lines counted from 1:
    /// unfinished merges, and headings or decisions after a CR alone, which ends no line.
    pub(crate) fn unsettled(&self) -> Vec<NotesFinding> {
        let old = self.old_ends().map(|line| (line, OLD_END));
        let lines = self
            .open_merges()
            .chain(old)
            .map(|(line, what)| NotesFinding {
                line: line + 1,
                what: what.to_owned(),
            });
        lines.collect()
    }

    /// Returns the lines, counted from 0, that have a heading or a decision after a CR.
    fn old_ends(&self) -> impl Iterator<Item = usize> + '_ {
        let lines = self.outline.lines.iter().enumerate();
        let hides_one = |line: &&(usize, &Line)| {
            let parts = self.bytes[line.1.at.clone()].split(|byte| *byte == b'\r');
            let mut behind = parts.skip(1).map(<[u8]>::trim_ascii_start);
            behind.any(|part| part.starts_with(b"#") || part.starts_with(b"**Decision"))
        };
        let old = lines.filter(move |line| hides_one(&line));
        old.map(|(line, _)| line)
    }

    /// Whether it contains an unfinished merge.
    pub(crate) fn has_merge(&self) -> bool {
        self.open_merges().next().is_some()
    }

    fn open_merges(&self) -> impl Iterator<Item = (usize, &'static str)> + '_ {
        let merges = self.outline.merges.iter().map(|line| (*line, MERGE));
        let open = self.outline.unclosed.iter();
        merges.chain(open.filter(|(_, what)| *what == OPEN_MERGE).copied())
    }

    /// Returns the kind of text, if it is not one that can be read.
    pub(crate) fn foreign(&self) -> Option<&'static str> {
        /// Number of bytes from which the encoding is detected.
        const LOOKED_AT: usize = 4096;
        let marks = [b"\xff\xfe", b"\xfe\xff"];
        let is_marked = marks.iter().any(|mark| self.bytes.starts_with(*mark));
        // Without a mark: of each two bytes of Latin letters one is zero, and always the same one.
        let zeros = |first: usize| {
            let bytes = self.bytes.iter().take(LOOKED_AT).skip(first).step_by(2);
            bytes.filter(|byte| **byte == 0).count()
        };
        let (even, odd) = (zeros(0), zeros(1));
        let is_wide =
            is_marked || even.min(odd) == 0 && even.max(odd) * 4 > self.bytes.len().min(LOOKED_AT);
        is_wide.then_some("UTF-16 text is not read: save it as UTF-8")
    }

    /// Returns text that is written like decisions but does not parse as one of its own, with lines
    /// counted from 1.
    pub(crate) fn unread(&self) -> Vec<NotesFinding> {
        let undated = self.undated().into_iter();
        let undated = undated.map(|entry| NotesFinding {
            line: entry.line,
            what: UNDATED.to_owned(),
        });
        let strays = self.strays().into_iter();
        let strays = strays.map(|(line, what)| NotesFinding {
            line: line + 1,
            what,
        });
        let mut unread: Vec<NotesFinding> = undated.chain(strays).collect();
        unread.sort_by_key(|fault| fault.line);
        unread
    }

    /// Items of Pending Questions, by their lines, counted from 0, that are no questions.
    fn unasked(&self) -> Vec<usize> {
        let mut unasked = self.lines_of(QUESTIONS);
        unasked.retain(|line| {
            let text = self.outline.text(&self.bytes, *line);
            let text = text.trim_start();
            let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let item = if number.len() < text.len() {
                number.strip_prefix(['.', ')'])
            } else {
                text.strip_prefix(['-', '*', '+'])
            };
            let item = item.filter(|rest| rest.starts_with([' ', '\t']));
            let is_read = number.len() == text.len()
                && item.is_some_and(|rest| {
                    let rest = rest.trim_start();
                    ["[ ]", "[x]", "[X]"]
                        .iter()
                        .any(|mark| rest.starts_with(mark))
                });
            self.outline.lines[*line].is_text && item.is_some() && !is_read
        });
        unasked
    }

    /// Returns lines of Active Context, counted from 0, that repeat the field of an earlier one;
    /// only the first is read.
    fn doubled_fields(&self) -> Vec<(usize, String)> {
        let mut doubled = Vec::new();
        for field in [Field::Bead, Field::Checkpoint, Field::Reasoning] {
            let name = field.name();
            let lines = self.active_lines();
            let mut lines = lines
                .filter(|found| found.name.eq_ignore_ascii_case(name))
                .filter(|found| !self.outline.lines[found.line].is_torn);
            let Some(first) = lines.next() else { continue };
            let known = first.line + 1;
            doubled.extend(lines.take(MOST_FAULTS).map(|further| {
                let what = format!("a second `{name}`; the first, at line {known}, is used");
                (further.line, what)
            }));
        }
        doubled
    }

    /// Returns entries that are written like decisions and are not read as one, or are read as
    /// another one's, each with the line of its heading, counted from 0.
    fn odd_entries(&self) -> Vec<(usize, String)> {
        let mut lines_of: HashMap<(String, String), usize> = HashMap::new();
        let mut odd = self.strays();
        for (heading, lines) in self.entries() {
            let line = self.outline.headings[heading].line;
            let Some(decision) = self.decision(heading, lines.clone()) else {
                if self.is_undated(heading, &lines) {
                    odd.push((line, UNDATED.to_owned()));
                }
                continue;
            };
            // Two that two checkouts made within one second are two.
            let words = comparable(decision.words());
            match lines_of.entry((decision.ts, words)) {
                Entry::Occupied(first) => {
                    let (ts, _) = first.key();
                    let known = first.get() + 1;
                    let what = format!("a second decision of {ts}; the first is at line {known}");
                    odd.push((line, what));
                }
                Entry::Vacant(first) => {
                    first.insert(line);
                }
            }
        }
        odd
    }
}
