//! The documents of two branches as one: the entries, rows and questions of both, by what they are and not by where they stand.

use std::collections::HashSet;

use super::{
    decision::Decision,
    document::{ACTIVE, IDENTIFIERS, LOG, Notes, QUESTIONS},
    edit::Field,
    evidence_change::EvidenceChange,
};
use crate::{evidence::Evidence, grounding::says_the_same, step::in_order};

/// An entry of a Decision Log with all that stands in it.
struct Entry {
    decision: Decision,
    text: String,
}

impl Entry {
    /// Whether another one is of the same decision; with `by_title`, also where its words were changed.
    fn is(&self, other: &Self, by_title: bool) -> bool {
        self.decision.ts == other.decision.ts
            && (says_the_same(self.decision.words(), other.decision.words())
                || by_title && self.decision.title == other.decision.title)
    }
}

impl Notes {
    /// Our document with what theirs has beside it. Of what both changed, ours stays; nothing that either wrote is lost but what
    /// stands in place of it: the value of a field of Active Context.
    #[must_use]
    pub(crate) fn merged(base: Option<&Self>, ours: &Self, theirs: &Self) -> Self {
        let made = ours.with_entries(base, theirs).with_fields(base, theirs);
        let rows = theirs.identifiers();
        let rows: Vec<(&str, &str, &str)> = rows
            .iter()
            .map(|row| (&*row.place, &*row.purpose, &*row.verified))
            .collect();
        let made = made.with_new_identifiers(&rows);
        let asked = base.map(Self::questions).unwrap_or_default();
        let questions = theirs.questions().into_iter();
        let made = questions
            .filter(|question| !asked.contains(question))
            .fold(made, |made, question| made.with_question(&question));
        made.with_texts(base, ours, theirs)
    }

    /// The entries, dated or not, in the order of the document.
    fn whole_entries(&self) -> Vec<Entry> {
        let entries = self.entries().into_iter();
        let whole = entries.filter_map(|(heading, lines)| {
            let lines = self.above_next(heading, &lines);
            let decision = match self.decision(heading, lines.clone()) {
                Some(decision) => decision,
                None if self.is_undated(heading, &lines) => {
                    let line = self.outline.headings[heading].line + 1;
                    self.undated()
                        .into_iter()
                        .find(|known| known.line == line)?
                }
                None => return None,
            };
            let first = self.outline.headings[heading].line;
            let last = lines.rev().find(|line| !self.is_blank_line(*line));
            let at = self.outline.lines[first].at.start
                ..self.outline.lines[last.unwrap_or(first)].at.end;
            Some(Entry {
                decision,
                text: String::from_utf8_lossy(&self.bytes[at]).into_owned(),
            })
        });
        whole.collect()
    }

    fn with_entries(&self, base: Option<&Self>, theirs: &Self) -> Self {
        let before = base.map(Self::whole_entries).unwrap_or_default();
        theirs
            .whole_entries()
            .iter()
            .fold(self.clone(), |made, new| {
                let was = before.iter().find(|entry| entry.is(new, true));
                let there = made.whole_entries();
                let known = there.iter().find(|entry| entry.is(new, was.is_some()));
                match (known, was) {
                    (Some(known), _) if known.text == new.text => made,
                    (Some(known), Some(was)) if known.text == was.text => {
                        made.with_text(known, new)
                    }
                    (Some(_), Some(was)) if new.text == was.text => made,
                    (Some(known), _) => made.with_evidence_of(known, new),
                    // It was taken back.
                    (None, Some(was)) if new.text == was.text => made,
                    (None, _) => made.with_entry(new),
                }
            })
    }

    fn with_text(&self, known: &Entry, new: &Entry) -> Self {
        let start = self.line_start(known.decision.line - 1);
        self.spliced(start..start + known.text.len(), &new.text)
    }

    fn with_evidence_of(&self, known: &Entry, new: &Entry) -> Self {
        let cited = new.decision.evidence.iter();
        let cited = cited.filter(|cited| !known.decision.evidence.contains(cited));
        let written: Vec<String> = cited.filter_map(Evidence::written).collect();
        if written.is_empty() {
            return self.clone();
        }
        let change = EvidenceChange {
            ts: known.decision.heading(),
            written,
            ..EvidenceChange::default()
        };
        self.with_evidence(&change).unwrap_or_else(|| self.clone())
    }

    /// The document with an entry before the first one of a later time, else at the end of the log.
    fn with_entry(&self, new: &Entry) -> Self {
        let eol = self.eol();
        let there = self.whole_entries();
        let is_later = |entry: &&Entry| {
            let decisions = [&entry.decision, &new.decision];
            decisions.iter().all(|made| made.is_dated())
                && in_order(&entry.decision.ts) > in_order(&new.decision.ts)
        };
        let made = match there.iter().find(is_later) {
            Some(later) => {
                let at = self.line_start(later.decision.line - 1);
                self.spliced(at..at, &format!("{}{eol}{eol}", new.text))
            }
            None => self.with_block(LOG, &new.text),
        };
        let is_read = |notes: &Self| {
            let entries = notes.whole_entries();
            entries.len() > there.len() && entries.iter().any(|entry| entry.is(new, false))
        };
        self.readable(LOG, made, &new.text, is_read)
    }

    fn with_fields(&self, base: Option<&Self>, theirs: &Self) -> Self {
        let value = |notes: &Self, field: Field| {
            let line = notes
                .active_lines()
                .find(|line| line.name.eq_ignore_ascii_case(field.name()))?;
            let value = String::from_utf8_lossy(&notes.bytes[line.value])
                .trim()
                .to_owned();
            Some(value).filter(|value| !value.is_empty() && !value.eq_ignore_ascii_case("none"))
        };
        let fields = [Field::Bead, Field::Checkpoint, Field::Reasoning];
        fields.into_iter().fold(self.clone(), |made, field| {
            let (ours, Some(new)) = (value(self, field), value(theirs, field)) else {
                return made;
            };
            let was = base.and_then(|base| value(base, field));
            let is_later = matches!(field, Field::Checkpoint) && ours.as_ref() < Some(&new);
            let is_theirs = ours.is_none() || is_later || base.is_some() && ours == was;
            if is_theirs && ours.as_ref() != Some(&new) {
                made.with_active(field, &new)
            } else {
                made
            }
        })
    }

    /// The document with the text that theirs has in a section which ours has as the base has it; `None` where that is not so.
    fn with_their_text(
        &self,
        base: Option<&Self>,
        ours: &Self,
        theirs: &Self,
        index: usize,
    ) -> Option<Self> {
        let title = &theirs.outline.headings[index].title;
        let is_kept = [ACTIVE, IDENTIFIERS, LOG, QUESTIONS];
        let is_kept = is_kept.iter().any(|kept| title.eq_ignore_ascii_case(kept));
        if is_kept || ours.own_lines(title) != base?.own_lines(title) {
            return None;
        }
        let only = |notes: &Self| {
            let mut all = notes.outline.titled(title);
            let only = all.next().filter(|_| all.next().is_none())?;
            let lines = notes.above_next(only, &notes.outline.body(only));
            Some(notes.line_start(lines.start)..notes.line_start(lines.end))
        };
        let (at, text) = (only(self)?, only(theirs)?);
        let text = String::from_utf8_lossy(&theirs.bytes[text]);
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            self.eol()
        };
        Some(self.spliced(at, &format!("{text}{end}")))
    }

    /// The document with the lines of text that theirs has in a section and neither ours nor the base has there.
    fn with_texts(&self, base: Option<&Self>, ours: &Self, theirs: &Self) -> Self {
        let entries: HashSet<usize> = theirs
            .entries()
            .into_iter()
            .map(|(heading, _)| heading)
            .collect();
        let headings = theirs.outline.headings.iter().enumerate();
        let texts = headings.filter(|(index, _)| !entries.contains(index));
        texts.fold(self.clone(), |made, (index, heading)| {
            let title = &heading.title;
            if let Some(made) = made.with_their_text(base, ours, theirs, index) {
                return made;
            }
            let known: HashSet<String> = [Some(ours), base]
                .into_iter()
                .flatten()
                .flat_map(|notes| notes.own_lines(title))
                .collect();
            let all = theirs.outline.body(index);
            let lines = theirs.above_next(index, &all);
            let lines = lines.map(|line| {
                theirs
                    .outline
                    .text(&theirs.bytes, line)
                    .trim_end()
                    .to_owned()
            });
            let new: Vec<String> = lines
                .filter(|line| {
                    !line.trim().is_empty() && !known.contains(line) && !is_kept(title, line)
                })
                .collect();
            let is_there = made.outline.titled(title).next().is_some();
            match (new.is_empty(), is_there) {
                (true, true) => made,
                (false, true) => made.with_block(title, &new.join(made.eol())),
                (_, false) => {
                    let eol = made.eol();
                    let marks = "#".repeat(usize::from(heading.level));
                    let text = format!("{eol}{marks} {title}{eol}{}{eol}", new.join(eol));
                    let at = made.bytes.len();
                    made.spliced(at..at, &made.on_own_line(at, &text))
                }
            }
        })
    }

    /// The lines of all sections of a title, down to their next headings.
    fn own_lines(&self, title: &str) -> Vec<String> {
        let sections = self.outline.titled(title).collect::<Vec<_>>().into_iter();
        let lines = sections.flat_map(|index| self.above_next(index, &self.outline.body(index)));
        let texts = lines.map(|line| self.outline.text(&self.bytes, line).trim_end().to_owned());
        texts.collect()
    }
}

/// Whether a line of a section is brought together in another way: a field, a row, an open question.
fn is_kept(title: &str, line: &str) -> bool {
    let line = line.trim_start();
    let is = |section: &str| title.eq_ignore_ascii_case(section);
    is(ACTIVE) && line.contains("**")
        || is(IDENTIFIERS) && line.starts_with('|')
        || is(QUESTIONS) && line.contains("[ ]")
}
