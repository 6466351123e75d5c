//! [`Page`]: sections of statements, and the choice of which of them fit a number of bytes.
//!
//! What is offered first is said first. A statement is said whole or not at all, and wherever
//! something was left out, the page says how much.

use std::fmt::Write;

/// Kept free for the line that says how much a section or group leaves out.
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
    /// Its heading.
    pub(super) title: String,
    /// How much of the page it may take before others have had theirs, in hundredths.
    pub(super) share: usize,
    /// What its groups are called when some are left out: "folders", "packages".
    pub(super) unit: &'static str,
    /// How many lines of each group are admitted together with its head; the others follow once
    /// every group has had these.
    pub(super) lines_at_first: usize,
    /// Its statements, what matters most first.
    pub(super) groups: Vec<Group>,
}

/// A statement, and those that belong under it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The statement that opens it.
    pub(super) head: String,
    /// What belongs under it, what matters most first.
    pub(super) lines: Vec<String>,
    /// What is not even offered: already known to be too much.
    pub(super) beyond: usize,
}

impl Group {
    /// A statement with nothing under it.
    pub(super) fn of(head: String) -> Self {
        Self {
            head,
            lines: Vec::new(),
            beyond: 0,
        }
    }
}

impl Section {
    /// A section without statements yet.
    pub(super) fn new(title: impl Into<String>, share: usize, unit: &'static str) -> Self {
        Self {
            title: title.into(),
            share,
            unit,
            lines_at_first: 2,
            groups: Vec::new(),
        }
    }

    /// Adds a statement of its own.
    pub(super) fn say(&mut self, statement: String) {
        self.groups.push(Group::of(statement));
    }

    /// Adds a statement with others under it.
    pub(super) fn say_with(&mut self, head: String, lines: Vec<String>) {
        self.groups.push(Group {
            head,
            lines,
            beyond: 0,
        });
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
    /// How many statements were left out.
    pub(super) left_out: usize,
}

impl Page {
    /// Writes the page in at most `limit` bytes.
    ///
    /// Each section first takes its share; what some leave over goes to those that have more to
    /// say, in proportion to their shares. The head is cut at a line where even it is too long.
    pub(super) fn render(&self, limit: usize) -> Rendered {
        let head = fitting_head(&self.head, limit);
        let mut budget = limit.saturating_sub(head.len());
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
                    _ => budget.min(whole * admission.section.share / wanting),
                };
                budget -= admission.take(allowance);
            }
        }
        let mut text = head;
        let mut left_out = 0;
        for admission in &admissions {
            left_out += admission.write(&mut text);
        }
        Rendered { text, left_out }
    }
}

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

/// How much of one section is admitted so far.
struct Admission<'a> {
    section: &'a Section,
    order: Vec<(usize, Option<usize>)>,
    admitted: usize,
    saved: usize,
}

impl<'a> Admission<'a> {
    fn new(section: &'a Section) -> Self {
        Self {
            section,
            order: section.order(),
            admitted: 0,
            saved: 0,
        }
    }

    fn is_done(&self) -> bool {
        self.admitted == self.order.len()
    }

    /// Admits what fits `allowance` and what was saved before; returns what it took from the
    /// former.
    fn take(&mut self, allowance: usize) -> usize {
        if self.is_done() {
            return 0;
        }
        let mut room = self.saved + allowance;
        while let Some(&next) = self.order.get(self.admitted) {
            let cost = self.cost(next);
            if cost > room {
                break;
            }
            room -= cost;
            self.admitted += 1;
        }
        // What could not be spent goes back to the page.
        let spent = (self.saved + allowance - room).saturating_sub(self.saved);
        self.saved = 0;
        spent
    }

    fn cost(&self, (group, line): (usize, Option<usize>)) -> usize {
        let opening = if self.admitted == 0 {
            self.section.title.len() + "\n## \n".len() + ROOM_FOR_MORE
        } else {
            0
        };
        let group = &self.section.groups[group];
        opening
            + match line {
                None if group.lines.is_empty() => group.head.len() + "- \n".len(),
                None => group.head.len() + "- \n".len() + ROOM_FOR_MORE,
                Some(line) => group.lines[line].len() + "  - \n".len(),
            }
    }

    /// Writes what was admitted; returns how many statements were not.
    fn write(&self, text: &mut String) -> usize {
        let missing = self.order.len() - self.admitted;
        let beyond: usize = self.section.groups.iter().map(|group| group.beyond).sum();
        if self.admitted == 0 {
            return missing + beyond;
        }
        let admitted = &self.order[..self.admitted];
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n## {}", self.section.title);
        let mut groups_left = 0;
        for (at, group) in self.section.groups.iter().enumerate() {
            if !admitted.contains(&(at, None)) {
                groups_left += 1;
                continue;
            }
            let _ = writeln!(text, "- {}", group.head);
            let shown = (0..group.lines.len())
                .take_while(|line| admitted.contains(&(at, Some(*line))))
                .count();
            for line in &group.lines[..shown] {
                let _ = writeln!(text, "  - {line}");
            }
            let more = group.lines.len() - shown + group.beyond;
            // A head that nothing was to follow at once stands for its group alone.
            if more > 0 && (shown > 0 || self.section.lines_at_first > 0) {
                let _ = writeln!(text, "  - +{more} more");
            }
        }
        if groups_left > 0 {
            let _ = writeln!(text, "- +{groups_left} more {}", self.section.unit);
        }
        missing + beyond
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
                let mut section = Section::new(format!("Section {at}"), 10, "things");
                for statement in 0..*size {
                    section.say(format!("statement {statement} of section {at}"));
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
    fn all_is_said_where_all_fits() {
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
        let said = rendered.text.matches("- statement").count();
        assert_eq!(rendered.left_out, 503 - said);
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
        let mut section = Section::new("S", 10, "groups");
        for group in 0..3 {
            let lines = (0..9).map(|line| format!("line {group}.{line}")).collect();
            section.say_with(format!("group {group}"), lines);
        }
        let page = Page {
            head: Vec::new(),
            sections: vec![section],
        };
        let rendered = page.render(330);
        assert!(rendered.text.contains("line 2.1"), "{}", rendered.text);
        assert!(rendered.text.contains("more"), "{}", rendered.text);
    }
}
