//! The changes that a session makes to the document: each leaves every other byte as it was.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    decision::Decision,
    document::{ACTIVE, CONTINUITY, IDENTIFIERS, LOG, Notes, QUESTIONS},
};

/// A line of Active Context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The current bead.
    Bead,
    /// The time of the last checkpoint.
    Checkpoint,
    /// Reasoning in progress.
    Reasoning,
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bead => "Current Bead",
            Self::Checkpoint => "Last Checkpoint",
            Self::Reasoning => "Reasoning State",
        }
    }
}

impl Notes {
    /// Returns the document with a decision at the end of the first Decision Log, which is created
    /// if there is none. If the decision is there already, nothing changes.
    #[must_use]
    pub fn with_decision(&self, decision: &Decision) -> Self {
        self.with_decisions(std::slice::from_ref(decision))
    }

    /// The same for several decisions, in time linear in all of it. An entry that a torn write has
    /// left incomplete is completed at its place.
    #[must_use]
    pub fn with_decisions(&self, decisions: &[Decision]) -> Self {
        let eol = self.eol();
        let known = self.decisions();
        let mut by_ts: HashMap<&str, Vec<&Decision>> = HashMap::new();
        for known in &known {
            by_ts.entry(&known.ts).or_default().push(known);
        }
        for decision in decisions {
            let mut of_its_time = by_ts.get(decision.ts.as_str()).into_iter().flatten();
            if let Some(at) = of_its_time.find_map(|torn| self.beginning(torn, decision)) {
                let end = if at.end == self.bytes.len() { eol } else { "" };
                let whole = self.spliced(at, &format!("{}{end}", decision.written(eol)));
                return whole.with_decisions(decisions);
            }
        }
        let name = |decision: &Decision| (decision.ts.clone(), decision.title.clone());
        let is_there: HashSet<(String, String)> = known.iter().map(name).collect();
        let new = decisions
            .iter()
            .filter(|new| !is_there.contains(&name(new)));
        let new: Vec<&Decision> = new.collect();
        if new.is_empty() {
            return self.clone();
        }
        let entries: Vec<String> = new.iter().map(|new| new.written(eol)).collect();
        let block = entries.join(&format!("{eol}{eol}"));
        self.readable(LOG, self.with_block(LOG, &block), &block, |notes| {
            let made = notes.decisions();
            let there: HashSet<(String, String)> = made.iter().map(name).collect();
            made.len() > known.len() && new.iter().all(|new| there.contains(&name(new)))
        })
    }

    /// Returns the place of an entry that a torn write left incomplete: it breaks off within its
    /// words, or at the end of the document within a line, or there with the sections below it. An
    /// entry that a person shortened does not count.
    pub(crate) fn beginning(&self, torn: &Decision, whole: &Decision) -> Option<Range<usize>> {
        let lines = &self.outline.lines;
        let at = lines[torn.line - 1].at.start..lines[torn.last_line - 1].at.end;
        let there = String::from_utf8_lossy(&self.bytes[at.clone()]).replace("\r\n", "\n");
        let written = whole.written("\n");
        let is_part = there.len() < written.len() && written.starts_with(there.trim_end());
        let is_last = self.bytes[at.end..].trim_ascii().is_empty();
        let is_without_the_rest = self.outline.titled(QUESTIONS).next().is_none();
        let breaks_off = torn.decision.is_empty()
            || at.end == self.bytes.len()
            || is_last && is_without_the_rest;
        (is_part && breaks_off).then_some(at)
    }

    /// Returns the document in which Active Context says this.
    #[must_use]
    pub fn with_active(&self, field: Field, value: &str) -> Self {
        let known = self.active_lines().find(|found| {
            found.name.eq_ignore_ascii_case(field.name()) && !self.outline.lines[found.line].is_torn
        });
        if let Some(at) = known.map(|known| known.value) {
            let gap = if self.bytes[..at.start].ends_with(b" ") {
                ""
            } else {
                " "
            };
            return self.spliced(at, &format!("{gap}{value}"));
        }
        self.with_line(ACTIVE, &format!("- **{}**: {value}", field.name()))
    }

    /// Returns the document with a row in the table of identifiers; a row of the same place is
    /// replaced.
    #[must_use]
    pub fn with_identifier(&self, place: &str, purpose: &str, verified: &str) -> Self {
        let row = row(place, purpose, verified);
        let known = self.identifiers();
        let Some(known) = known.iter().find(|known| known.place == place) else {
            return self.with_line(IDENTIFIERS, &row);
        };
        let at = self.outline.lines[known.line - 1].at.clone();
        self.spliced(at, &row)
    }

    /// Returns the document with a row for each of these that has none, in time linear in all of
    /// it.
    #[must_use]
    pub(crate) fn with_new_identifiers(&self, new: &[(&str, &str, &str)]) -> Self {
        let known = self.identifiers();
        let mut known: HashSet<&str> = known.iter().map(|known| known.place.as_str()).collect();
        let new = new.iter().filter(|(place, _, _)| known.insert(place));
        let rows: Vec<String> = new
            .map(|(place, purpose, verified)| row(place, purpose, verified))
            .collect();
        if rows.is_empty() {
            return self.clone();
        }
        self.with_line(IDENTIFIERS, &rows.join(self.eol()))
    }

    /// Returns the document with a question that waits for an answer; one that is there changes
    /// nothing.
    #[must_use]
    pub fn with_question(&self, question: &str) -> Self {
        if self.questions().iter().any(|known| known == question) {
            return self.clone();
        }
        let line = format!("- [ ] {question}");
        self.readable(
            QUESTIONS,
            self.with_line(QUESTIONS, &line),
            &line,
            |notes| notes.questions().iter().any(|known| known == question),
        )
    }

    /// Returns the new document, if its addition can be read in it; otherwise one with the section
    /// at its end: a comment or a merge may hide the regular place.
    pub(super) fn readable(
        &self,
        section: &str,
        made: Self,
        content: &str,
        is_read: impl Fn(&Self) -> bool,
    ) -> Self {
        if is_read(&made) {
            return made;
        }
        let eol = self.eol();
        let at = self.bytes.len();
        let new = format!("{eol}## {CONTINUITY}{eol}{eol}### {section}{eol}{content}{eol}");
        self.spliced(at..at, &self.on_own_line(at, &new))
    }
}

/// Returns a row of the table of identifiers.
fn row(place: &str, purpose: &str, verified: &str) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    format!("| {} | {} | {verified} |", cell(place), cell(purpose))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{evidence::Evidence, notes::TEMPLATE};

    fn decision(ts: &str) -> Decision {
        Decision {
            ts: ts.to_owned(),
            title: "Use pools".to_owned(),
            decision: "Use one pool".to_owned(),
            rationale: Some("fewer sockets".to_owned()),
            evidence: vec![Evidence {
                path: "src/a.rs".to_owned(),
                first: 3,
                last: 3,
                quote: Some("fn pool()".to_owned()),
            }],
            scenarios: vec!["one".to_owned()],
            ..Decision::default()
        }
    }

    fn read(text: &str) -> Notes {
        Notes::read(text.as_bytes().to_vec())
    }

    fn text(notes: &Notes) -> String {
        String::from_utf8(notes.bytes().to_vec()).unwrap()
    }

    /// Returns the inserted bytes, if the new document is the old one with one insertion.
    fn inserted(before: &[u8], after: &[u8]) -> Option<Vec<u8>> {
        let extra = after.len().checked_sub(before.len())?;
        let same = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        (0..=same).rev().find_map(|at| {
            (before[at..] == after[at + extra..]).then(|| after[at..at + extra].to_vec())
        })
    }

    /// LOA-FMT-1: a decision goes to the end of the log, and is read back as it was made.
    #[test]
    fn a_decision_is_put_at_the_end_of_the_log_once() {
        let one = read(TEMPLATE).with_decision(&decision("2026-01-01T00:00:00Z"));
        let two = one.with_decision(&decision("2026-01-02T00:00:00Z"));
        assert_eq!(two, two.with_decision(&decision("2026-01-01T00:00:00Z")));
        let found = two.decisions();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].evidence, decision("").evidence);
        assert!(text(&two).contains("1. one\n\n#### 2026-01-02"));
        assert!(text(&two).contains("1. one\n\n### Pending Questions"));
        assert_eq!(two.faults(), []);
    }

    /// LOA-FMT-1: what is written like a decision and is not read as one is named with its line.
    #[test]
    fn entries_that_are_not_read_are_named() {
        let ts = "2026-01-01T00:00:00Z";
        let notes = format!(
            "### Decision Log\n#### not a time\n**Decision**: x\n#### {ts} - A\n**Decision**: a\n\
             #### {ts} - C\n**Decision**: a\n#### {ts} - B\n**Decisi\n#### Ideas\nwords\n"
        );
        let faults = read(&notes).faults();
        let named = |line: usize, what: &str| {
            faults
                .iter()
                .any(|fault| fault.line == line && fault.what.contains(what))
        };
        assert!(named(2, "is named by its heading"), "{faults:?}");
        assert!(named(10, "is not read"), "{faults:?}");
        assert!(named(
            6,
            "a second decision of 2026-01-01T00:00:00Z; the first is at line 4"
        ));
        assert!(named(9, "an incomplete field"));
        assert!(
            !faults
                .iter()
                .any(|fault| fault.line == 8 || fault.line > 10)
        );
    }

    #[test]
    fn missing_sections_are_made_where_they_belong() {
        let made =
            read("# Mine\nwords\n## Other\n").with_decision(&decision("2026-01-01T00:00:00Z"));
        let begins = "# Mine\nwords\n\n## Session Continuity\n\n### Decision Log\n#### 2026-01-01";
        assert!(text(&made).starts_with(begins), "{}", text(&made));
        assert!(text(&made).ends_with("1. one\n\n## Other\n"));
        assert_eq!(made.decisions().len(), 1);
        let made = read("").with_active(Field::Bead, "bd-1");
        assert_eq!(made.active().bead.as_deref(), Some("bd-1"));
    }

    #[test]
    fn active_context_is_changed_in_place() {
        let notes = read(TEMPLATE)
            .with_active(Field::Bead, "bd-x7y8 (Implementing JWT refresh)")
            .with_active(Field::Checkpoint, "2026-01-01T00:00:00Z");
        let active = notes.active();
        assert_eq!(active.bead.as_deref(), Some("bd-x7y8"));
        assert_eq!(active.checkpoint.as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(active.reasoning, None);
        assert_eq!(text(&notes).lines().count(), TEMPLATE.lines().count());
    }

    /// LOA-FMT-1: lines that a formatter has changed are read, and changed in place; of two lines
    /// the second is reported.
    #[test]
    fn active_context_is_read_however_it_is_spelled() {
        for (from, to) in [
            ("- **", "* **"),
            ("- **", "+ **"),
            ("- **", "-\t**"),
            ("**:", ":**"),
            ("**", "__"),
        ] {
            let spelled = TEMPLATE.replace(from, to);
            let made = read(&spelled).with_active(Field::Bead, "bd-1 (one)");
            let active = made.active();
            assert_eq!(active.bead.as_deref(), Some("bd-1"), "{spelled}");
            assert_eq!(active.title.as_deref(), Some("one"));
            assert_eq!(text(&made).lines().count(), TEMPLATE.lines().count());
            assert_eq!(made.faults(), []);
        }
        let twice = TEMPLATE.replace(
            "### Lightweight",
            "* __Current Bead__: bd-2\n### Lightweight",
        );
        let faults = read(&twice).faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert_eq!(faults[0].line, 11);
        assert!(
            faults[0]
                .what
                .contains("a second `Current Bead`; the first, at line 7")
        );
    }

    #[test]
    fn identifiers_are_a_row_each_and_questions_wait() {
        let notes = read(TEMPLATE)
            .with_identifier("${PROJECT_ROOT}/a.rs:1", "a|b", "10:00Z")
            .with_identifier("${PROJECT_ROOT}/b.rs:1", "b", "10:00Z")
            .with_identifier("${PROJECT_ROOT}/a.rs:1", "a", "11:00Z")
            .with_question("why?")
            .with_question("why?");
        let rows = notes.identifiers();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].purpose.as_str(), rows[0].verified.as_str()),
            ("a", "11:00Z")
        );
        assert_eq!(notes.questions(), ["why?"]);
    }

    /// LOA-FMT-1: an unfinished merge is neither written into nor lost.
    #[test]
    fn nothing_is_written_into_a_merge() {
        let torn = "## Session Continuity\n### Decision Log\n<<<<<<< a\n#### 2026-01-01 - x\n=======\n### Pending Questions\n>>>>>>> b\n";
        let notes = read(torn).with_decision(&decision("2026-01-02T00:00:00Z"));
        let written = text(&notes);
        let at = written.find("#### 2026-01-02").unwrap();
        assert!(at < written.find("<<<<<<<").unwrap(), "{written}");
        assert!(
            notes
                .decisions()
                .iter()
                .any(|found| found.ts.starts_with("2026-01-02"))
        );
        assert!(
            notes
                .faults()
                .iter()
                .any(|fault| fault.what.contains("merge"))
        );
        let inside = "<<<<<<< a\n## Session Continuity\n### Decision Log\n=======\n>>>>>>> b\n";
        let notes = read(inside).with_decision(&decision("2026-01-02T00:00:00Z"));
        assert!(text(&notes).contains("#### 2026-01-02"));
        assert!(text(&notes).contains(inside));
    }

    #[test]
    fn a_file_of_twenty_megabytes_is_written_to() {
        let mut large = TEMPLATE.to_owned();
        large.push_str(&"#### note\n<<<<<<< \n```x\n".repeat(20_000_000 / 23));
        let notes = read(&large).with_decision(&decision("2026-01-02T00:00:00Z"));
        assert_eq!(notes.decisions().len(), 1);
    }

    /// Whether the lines of one document are in another, in their order and each below the same
    /// headings. Lines in an unfinished merge are below no certain heading.
    fn keeps_its_sections(before: &Notes, after: &Notes) -> bool {
        fn placed(notes: &Notes) -> Vec<(Vec<String>, String)> {
            let outline = &notes.outline;
            let mut above: Vec<(u8, String)> = Vec::new();
            let lines = (0..outline.lines.len()).map(|line| {
                if let Some(own) = outline.headings.iter().find(|own| own.line == line) {
                    above.retain(|(level, _)| *level < own.level);
                    above.push((own.level, own.title.clone()));
                }
                let below = above.iter().map(|(_, title)| title.clone()).collect();
                let text = outline.text(&notes.bytes, line).trim().to_owned();
                (!outline.lines[line].is_torn).then_some((below, text))
            });
            lines.flatten().collect()
        }
        let after = placed(after);
        let mut after = after.iter();
        let before = placed(before);
        let mut before = before.iter().filter(|(_, text)| !text.is_empty());
        before.all(|line| after.any(|other| other == line))
    }

    /// LOA-FMT-1: text that a person has written below the title stays below it, and does not
    /// become part of ours.
    #[test]
    fn an_intro_and_its_list_stay_whole() {
        let mine = "# My notes\n\nThis is an intro.\n- an item\n- another\n\n## Ideas\nlater\n";
        let made = [Field::Bead, Field::Checkpoint, Field::Reasoning]
            .into_iter()
            .fold(read(mine), |notes, field| notes.with_active(field, "none"))
            .with_decision(&decision("2026-01-02T00:00:00Z"));
        let written = text(&made);
        let (intro, rest) = mine.split_once("## Ideas").unwrap();
        assert!(
            written.starts_with(intro) && written.ends_with(rest),
            "{written}"
        );
        assert!(keeps_its_sections(&read(mine), &made));
        let short = read("# my notes\nhello\n").with_decision(&decision("2026-01-02T00:00:00Z"));
        assert!(text(&short).starts_with("# my notes\nhello\n\n## Session Continuity\n"));
        assert_eq!(
            short.decisions()[0].written("\n"),
            decision("2026-01-02T00:00:00Z").written("\n")
        );
    }

    const PIECES: &[&str] = &[
        "# Notes",
        "- an item",
        "#### Mine",
        "##### Decision Log",
        "#### Session Continuity",
        "## Session Continuity",
        "### Decision Log",
        "### Active Context",
        "- **Current Bead**: bd-1",
        "- **Last Checkpoint**:",
        "#### 2026-01-01T00:00:00Z - Old",
        "**Evidence**:",
        "- `a b c` [${PROJECT_ROOT}/a:1]",
        "```",
        "<!--",
        "-->",
        "<<<<<<< a",
        "=======",
        ">>>>>>> b",
        "",
        "words\tand \u{e9}",
        "| ${PROJECT_ROOT}/a:1 | x | y |",
        "### Lightweight Identifiers",
        "### Pending Questions",
        "- [ ] q",
    ];

    proptest! {
        /// LOA-FMT-1: our changes keep every foreign byte outside of them.
        #[test]
        fn a_decision_is_inserted_and_nothing_else_changes(
            lines in proptest::collection::vec((proptest::sample::select(PIECES), any::<bool>()), 0..24),
            cut in any::<bool>(), odd in any::<bool>(),
        ) {
            let mut bytes = Vec::new();
            for (line, is_crlf) in lines {
                bytes.extend_from_slice(line.as_bytes());
                bytes.extend_from_slice(if is_crlf { b"\r\n" } else { b"\n" });
            }
            if odd {
                bytes.extend_from_slice(b"\xff\xfe");
            } else if cut {
                bytes.pop();
            }
            let notes = Notes::read(bytes.clone());
            let made = notes.with_decision(&decision("2026-01-02T00:00:00Z"));
            let put_in = inserted(&bytes, made.bytes());
            prop_assert!(put_in.is_some(), "{}", String::from_utf8_lossy(made.bytes()));
            let is_there = |notes: &Notes| notes.decisions().iter().any(|d| d.ts == "2026-01-02T00:00:00Z");
            prop_assert!(is_there(&made), "{}", String::from_utf8_lossy(made.bytes()));
            prop_assert!(keeps_its_sections(&notes, &made), "{}", String::from_utf8_lossy(made.bytes()));
            let asked = notes.with_question("what now?");
            prop_assert!(keeps_its_sections(&notes, &asked), "{}", String::from_utf8_lossy(asked.bytes()));
            let active = [Field::Bead, Field::Checkpoint, Field::Reasoning];
            let lacks = notes.active_lines().next().is_none();
            if lacks {
                let begun = active.into_iter().fold(notes.clone(), |notes, field| notes.with_active(field, "none"));
                prop_assert!(keeps_its_sections(&notes, &begun), "{}", String::from_utf8_lossy(begun.bytes()));
            }
            prop_assert!(inserted(&bytes, asked.bytes()).is_some());
            prop_assert!(asked.questions().contains(&"what now?".to_owned()) );
        }
    }
}
