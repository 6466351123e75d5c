//! [`Page`]: sections of statements, and the choice of those that fit a number of bytes.
//!
//! Statements are admitted in the order in which they are offered. Each is written whole or not at
//! all, its place first. A place is quoted and described once in a page: further statements about
//! it name the place alone. If something is left out, the page shows how much and how to see it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::citation::Cited;

/// Bytes kept free for the line with the number of omitted items of a section or group.
const ROOM_FOR_MORE: usize = 40;

/// Statements for a reader, before it is known how many fit.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// Lines that always stand on top.
    pub(super) head: Vec<String>,
    /// In order of reading.
    pub(super) sections: Vec<Section>,
}

/// Statements under one heading.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// Its name on a command line.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: String,
    /// Its share of the page before other sections have had theirs, in hundredths.
    pub(super) share: usize,
    /// The name of its groups when some are left out: "folders", "packages".
    pub(super) unit: &'static str,
    /// Number of lines of each group that are admitted together with its head; the others follow
    /// once every group has had these.
    pub(super) lines_at_first: usize,
    /// Its statements, what matters most first.
    pub(super) groups: Vec<Group>,
}

/// One fact: its place, the text at that place, and its meaning.
#[derive(Clone, Debug, Default)]
pub(super) struct Statement {
    /// The place that shows it; `None` for a count over many places.
    pub(super) cited: Option<Cited>,
    /// The rest of the quoted sentence on the next lines; written after the quote.
    pub(super) rest: String,
    /// Words about the place for this statement only.
    pub(super) words: String,
    /// The description of the place; written with its quote.
    pub(super) about: String,
    /// Another place that shows it, with the words before it.
    pub(super) evidence: Option<(&'static str, Cited)>,
}

impl Statement {
    /// A statement without a place.
    pub(super) fn text(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            ..Self::default()
        }
    }

    /// A place that speaks for itself.
    pub(super) fn at(cited: Cited) -> Self {
        Self {
            cited: Some(cited),
            ..Self::default()
        }
    }

    /// Adds words about the place, behind those that it has.
    #[must_use]
    pub(super) fn says(mut self, words: &str) -> Self {
        if !self.words.is_empty() && !words.is_empty() {
            self.words.push_str("; ");
        }
        self.words.push_str(words);
        self
    }

    /// Puts words about the place before those that it has.
    #[must_use]
    pub(super) fn led_by(mut self, words: &str) -> Self {
        let behind = std::mem::take(&mut self.words);
        words.clone_into(&mut self.words);
        self.says(&behind)
    }

    /// Sets the description of the place.
    #[must_use]
    pub(super) fn described(mut self, about: String) -> Self {
        self.about = about;
        self
    }

    /// Adds another place that shows it: `, as in` and the place.
    #[must_use]
    pub(super) fn shown_by(mut self, words: &'static str, cited: Option<Cited>) -> Self {
        self.evidence = cited.map(|cited| (words, cited));
        self
    }

    /// Writes it on one line; `None` if it has nothing that the page has not shown. Places in
    /// `quoted` are not quoted again.
    fn write(&self, quoted: &BTreeSet<String>) -> Option<String> {
        let mut line = String::new();
        let mut is_new = false;
        if let Some(cited) = &self.cited {
            is_new = !quoted.contains(&cited.place());
            line = if is_new {
                cited.leading()
            } else {
                cited.place()
            };
        }
        if is_new && !self.rest.is_empty() {
            let _ = write!(line, " {}", self.rest);
        }
        if !self.words.is_empty() {
            // A sentence that ran on needs an end before other words follow.
            let gap = if line.is_empty() {
                ""
            } else if is_new && !self.rest.is_empty() {
                "; "
            } else {
                " "
            };
            let _ = write!(line, "{gap}{}", self.words);
        } else if self.cited.is_some() && !is_new {
            return None;
        }
        if !self.about.is_empty() && (is_new || self.cited.is_none()) {
            let _ = write!(line, ": {}", self.about);
        }
        if let Some((words, cited)) = &self.evidence {
            let place = cited.place();
            let is_lead = self.cited.as_ref().is_some_and(|own| own.place() == place);
            if !is_lead {
                let evidence = if quoted.contains(&place) {
                    place
                } else {
                    cited.trailing()
                };
                let _ = write!(line, "{words} {evidence}");
            }
        }
        Some(line)
    }

    /// The places that it quotes.
    fn places(&self) -> impl Iterator<Item = String> + '_ {
        let evidence = self.evidence.as_ref().map(|(_, cited)| cited);
        self.cited.iter().chain(evidence).map(Cited::place)
    }
}

/// A statement, and those that belong under it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The statement that opens it.
    pub(super) head: Statement,
    /// The statements under it, most important first.
    pub(super) lines: Vec<Statement>,
}

impl Group {
    /// A statement with nothing under it.
    pub(super) fn of(head: Statement) -> Self {
        Self {
            head,
            lines: Vec::new(),
        }
    }
}

impl Section {
    /// A section without statements yet.
    pub(super) fn new(
        id: &'static str,
        title: impl Into<String>,
        share: usize,
        unit: &'static str,
    ) -> Self {
        Self {
            id,
            title: title.into(),
            share,
            unit,
            lines_at_first: 2,
            groups: Vec::new(),
        }
    }

    /// Adds a statement of its own.
    pub(super) fn say(&mut self, statement: Statement) {
        self.groups.push(Group::of(statement));
    }

    /// Adds a statement with others under it.
    pub(super) fn say_with(&mut self, head: Statement, lines: Vec<Statement>) {
        self.groups.push(Group { head, lines });
    }

    /// The order in which its statements are admitted: every group's head with its first lines,
    /// then round by round one more line of each. `None` is a head.
    fn order(&self) -> Vec<(usize, Option<usize>)> {
        let mut order = Vec::new();
        let longest = self.groups.iter().map(|g| g.lines.len()).max().unwrap_or(0);
        for (at, group) in self.groups.iter().enumerate() {
            order.push((at, None));
            order.extend(
                (0..group.lines.len().min(self.lines_at_first)).map(|line| (at, Some(line))),
            );
        }
        for line in self.lines_at_first..longest {
            let with_more = self
                .groups
                .iter()
                .enumerate()
                .filter(|(_, g)| line < g.lines.len());
            order.extend(with_more.map(|(at, _)| (at, Some(line))));
        }
        order
    }
}

/// A page cut to size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rendered {
    /// The page.
    pub(super) text: String,
    /// Number of statements that were left out.
    pub(super) left_out: usize,
}

impl Page {
    /// Writes the page in at most `limit` bytes.
    ///
    /// Each section first takes its share; the unused rest goes to those that have more statements,
    /// in proportion to their shares. The head is cut at a line if even it is too long. A page that
    /// leaves something out ends with a line about how to see it.
    pub(super) fn render(&self, limit: usize) -> Rendered {
        let whole = self.render_sections(limit);
        if whole.left_out == 0 {
            return whole;
        }
        let Some(room) = limit
            .checked_sub(LONGEST_TAIL)
            .filter(|room| *room > LEAST_WITH_TAIL)
        else {
            return whole;
        };
        let mut cut = self.render_sections(room);
        let noun = if cut.left_out == 1 {
            "statement"
        } else {
            "statements"
        };
        let _ = write!(
            cut.text,
            "\n{} {noun} left out: `callosum delegate` prints them with `--all`, one section with `--section NAME`\n",
            cut.left_out
        );
        cut
    }

    fn render_sections(&self, limit: usize) -> Rendered {
        let head = fitting_head(&self.head, limit);
        let mut budget = limit.saturating_sub(head.len());
        let mut quoted = BTreeSet::new();
        let mut admissions: Vec<Admission> = self
            .sections
            .iter()
            .filter(|section| !section.groups.is_empty())
            .map(Admission::new)
            .collect();
        // Each round gives what is left to those who still want some; a few rounds suffice, the
        // last one in order of reading.
        for round in 0..6 {
            let wanting: usize = admissions
                .iter()
                .filter(|admission| !admission.is_done())
                .map(|admission| admission.section.share)
                .sum();
            if wanting == 0 {
                break;
            }
            let whole = budget;
            for admission in &mut admissions {
                let allowance = match round {
                    5 => budget,
                    _ => budget.min(whole.saturating_mul(admission.section.share) / wanting),
                };
                budget -= admission.take(allowance, &mut quoted);
            }
        }
        let admitted = write_all(&head, &admissions);
        // Places were quoted in the order of admission: where there is room, the first mention that a
        // reader meets has the quote.
        let mut quoted = BTreeSet::new();
        for admission in &mut admissions {
            admission.word_again(&mut quoted);
        }
        let reread = write_all(&head, &admissions);
        if reread.text.len() <= limit {
            reread
        } else {
            admitted
        }
    }
}

fn write_all(head: &str, admissions: &[Admission<'_>]) -> Rendered {
    let mut text = head.to_owned();
    let mut left_out = 0;
    for admission in admissions {
        left_out += admission.write(&mut text);
    }
    Rendered { text, left_out }
}

/// Bytes kept free for the line about how to see the omitted statements.
const LONGEST_TAIL: usize = 128;

/// A page with less room has no such line.
const LEAST_WITH_TAIL: usize = 1024;

fn fitting_head(lines: &[String], limit: usize) -> String {
    let mut head = String::new();
    for line in lines {
        if head.len() + line.len() + 1 > limit {
            break;
        }
        head.push_str(line);
        head.push('\n');
    }
    head
}

/// Admitted part of one section so far.
struct Admission<'a> {
    section: &'a Section,
    order: Vec<(usize, Option<usize>)>,
    admitted: usize,
    /// The admitted statements as written; `None` for those that add nothing to the page.
    written: BTreeMap<(usize, Option<usize>), Option<String>>,
}

impl<'a> Admission<'a> {
    fn new(section: &'a Section) -> Self {
        Self {
            section,
            order: section.order(),
            admitted: 0,
            written: BTreeMap::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.admitted == self.order.len()
    }

    /// Admits what fits `allowance`; returns the bytes that it took. `quoted` are the places that
    /// the page has quoted.
    fn take(&mut self, allowance: usize, quoted: &mut BTreeSet<String>) -> usize {
        let mut room = allowance;
        while let Some(&next) = self.order.get(self.admitted) {
            let (statement, text) = self.word(next, quoted);
            let cost = text.as_ref().map_or(0, |text| self.cost(next, text));
            if cost > room {
                break;
            }
            room -= cost;
            if text.is_some() {
                quoted.extend(statement.places());
            }
            self.written.insert(next, text);
            self.admitted += 1;
        }
        allowance - room
    }

    /// Returns a statement and its text; `None` if it adds nothing to the page.
    fn word(
        &self,
        (at, line): (usize, Option<usize>),
        quoted: &BTreeSet<String>,
    ) -> (&'a Statement, Option<String>) {
        let group = &self.section.groups[at];
        let statement = line.map_or(&group.head, |line| &group.lines[line]);
        let text = match statement.write(quoted) {
            // A head with lines under it stays, to hold them.
            None if line.is_none() && !group.lines.is_empty() => {
                statement.cited.as_ref().map(Cited::place)
            }
            text => text,
        };
        (statement, text)
    }

    /// Writes again what was admitted, in the order of reading.
    fn word_again(&mut self, quoted: &mut BTreeSet<String>) {
        let admitted: Vec<(usize, Option<usize>)> = self.written.keys().copied().collect();
        for next in admitted {
            let (statement, text) = self.word(next, quoted);
            if text.is_some() {
                quoted.extend(statement.places());
            }
            self.written.insert(next, text);
        }
    }

    fn cost(&self, (group, line): (usize, Option<usize>), text: &str) -> usize {
        let opening = if self.written.values().all(Option::is_none) {
            self.section.title.len() + "\n## \n".len() + ROOM_FOR_MORE
        } else {
            0
        };
        let group = &self.section.groups[group];
        opening
            + text.len()
            + match line {
                None if group.lines.is_empty() => "- \n".len(),
                None => "- \n".len() + ROOM_FOR_MORE,
                Some(_) => "  - \n".len(),
            }
    }

    /// Writes what was admitted; returns how many statements were not.
    fn write(&self, text: &mut String) -> usize {
        let missing = self.order.len() - self.admitted;
        if self.written.values().all(Option::is_none) {
            return missing;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n## {}", self.section.title);
        let mut groups_left = 0;
        for (at, group) in self.section.groups.iter().enumerate() {
            match self.written.get(&(at, None)) {
                None => {
                    groups_left += 1;
                    continue;
                }
                Some(None) => {}
                Some(Some(head)) => {
                    let _ = writeln!(text, "- {head}");
                }
            }
            let mut more = 0;
            let mut shown = 0;
            for line in 0..group.lines.len() {
                match self.written.get(&(at, Some(line))) {
                    None => more += 1,
                    Some(None) => {}
                    Some(Some(line)) => {
                        shown += 1;
                        let _ = writeln!(text, "  - {line}");
                    }
                }
            }
            // The head alone represents a group if no line was to follow it at once.
            if more > 0 && (shown > 0 || self.section.lines_at_first > 0) {
                let _ = writeln!(text, "  - +{more} more");
            }
        }
        if groups_left > 0 {
            let _ = writeln!(text, "- +{groups_left} more {}", self.section.unit);
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(sizes: &[usize]) -> Page {
        let sections = sizes
            .iter()
            .enumerate()
            .map(|(at, size)| {
                let mut section = Section::new("part", format!("Section {at}"), 10, "things");
                for statement in 0..*size {
                    section.say(Statement::text(format!(
                        "statement {statement} of section {at}"
                    )));
                }
                section
            })
            .collect();
        Page {
            head: vec!["# page".to_owned()],
            sections,
        }
    }

    #[test]
    fn everything_is_shown_if_it_fits() {
        let rendered = page(&[2, 1]).render(10_000);
        insta::assert_snapshot!(rendered.text, @r"
        # page

        ## Section 0
        - statement 0 of section 0
        - statement 1 of section 0

        ## Section 1
        - statement 0 of section 1
        ");
        assert_eq!(rendered.left_out, 0);
    }

    #[test]
    fn a_long_section_leaves_room_for_others_and_counts_what_it_drops() {
        let rendered = page(&[500, 3]).render(600);
        assert!(rendered.text.len() <= 600);
        assert!(rendered.text.contains("statement 2 of section 1"));
        assert!(rendered.text.contains("more things"));
        let quoted = rendered.text.matches("- statement").count();
        assert_eq!(rendered.left_out, 503 - quoted);
    }

    #[test]
    fn no_limit_is_ever_exceeded() {
        for limit in 0..900 {
            let rendered = page(&[30, 1, 7]).render(limit);
            assert!(rendered.text.len() <= limit, "{limit}");
            assert!(rendered.text.lines().all(|line| !line.ends_with("of sect")));
        }
    }

    #[test]
    fn every_group_gets_a_line_before_any_gets_a_third() {
        let mut section = Section::new("s", "S", 10, "groups");
        for group in 0..3 {
            let lines = (0..9).map(|line| Statement::text(format!("line {group}.{line}")));
            section.say_with(Statement::text(format!("group {group}")), lines.collect());
        }
        let page = Page {
            head: Vec::new(),
            sections: vec![section],
        };
        let rendered = page.render(330);
        assert!(rendered.text.contains("line 2.1"), "{}", rendered.text);
        assert!(rendered.text.contains("more"), "{}", rendered.text);
    }

    fn cited(line: u32) -> Statement {
        Statement::at(Cited::of_line("src/a.rs", line, "pub fn lend() {}").unwrap())
    }

    #[test]
    fn a_place_is_quoted_and_described_once() {
        let mut first = Section::new("first", "First", 10, "facts");
        first.say(cited(1).described("Lends a book".to_owned()));
        first.say(cited(2));
        let mut second = Section::new("second", "Second", 10, "facts");
        second.say(cited(1));
        second.say(
            cited(1)
                .says("named in 3 files")
                .described("Lends a book".to_owned()),
        );
        second.say(
            cited(3)
                .says("new")
                .shown_by(", as in", Some(cited(2).cited.unwrap())),
        );
        let page = Page {
            head: Vec::new(),
            sections: vec![first, second],
        };
        let rendered = page.render(10_000);
        insta::assert_snapshot!(rendered.text, @r"

        ## First
        - src/a.rs:1 `pub fn lend() {}`: Lends a book
        - src/a.rs:2 `pub fn lend() {}`

        ## Second
        - src/a.rs:1 named in 3 files
        - src/a.rs:3 `pub fn lend() {}` new, as in src/a.rs:2
        ");
        assert_eq!(rendered.left_out, 0);
    }

    #[test]
    fn a_cut_page_says_how_to_see_the_rest() {
        let rendered = page(&[500]).render(2_000);
        assert!(rendered.text.len() <= 2_000);
        let tail = rendered.text.lines().last().unwrap();
        assert!(
            tail.contains("left out") && tail.contains("--all"),
            "{tail}"
        );
        assert!(!page(&[5]).render(2_000).text.contains("--all"));
    }
}
