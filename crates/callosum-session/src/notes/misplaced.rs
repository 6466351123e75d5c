//! Reports text that is written like a decision, but in a place or form in which none is read. It
//! is left as it is.

use std::{collections::HashSet, ops::Range};

use super::{
    decision::Decision,
    document::{LOG, Notes},
    field_label::Label,
};

/// Words of titles that people give to a decision log, in addition to the official one.
const OF_TITLES: [&str; 32] = [
    "log",
    "logs",
    "key",
    "made",
    "taken",
    "record",
    "records",
    "register",
    "history",
    "journal",
    "list",
    "notes",
    "today",
    "session",
    "this",
    "the",
    "our",
    "main",
    "major",
    "important",
    "recent",
    "latest",
    "last",
    "new",
    "current",
    "design",
    "technical",
    "architecture",
    "architectural",
    "project",
    "so",
    "far",
];

/// Words of titles below which people keep text that no longer holds.
const OF_WITHDRAWN: [&str; 16] = [
    "withdrawn",
    "superseded",
    "rejected",
    "revoked",
    "retired",
    "replaced",
    "reverted",
    "dropped",
    "undone",
    "obsolete",
    "outdated",
    "deprecated",
    "archive",
    "archived",
    "former",
    "old",
];

/// Message for a list item, a quote or a table row that is written like the heading of a decision.
const ITEM: &str = "a decision in a list, quote or table is not read: its heading must be `#### \
    2026-01-02T03:04:05Z - Title`";

/// Message for a line of text that is written like one.
const UNHEADED: &str = "a decision whose time and title are not a heading is not read: use `#### \
                        2026-01-02T03:04:05Z - Title`";

/// Message for a field without a heading above it.
const ALONE: &str =
    "a decision without a heading is not read: use `#### 2026-01-02T03:04:05Z - Title`";

/// Message for a heading that is a time and has neither a title nor the field of a decision.
const UNTITLED: &str =
    "a heading with a time but no title is not a decision: `#### 2026-01-02T03:04:05Z - Title`";

/// Message for another heading right below the log that has no such field either.
const UNSAID: &str = "a Decision Log heading without a time and without `**Decision**:` below it \
                      is not read: use `#### 2026-01-02T03:04:05Z - Title`";

/// Message for lines of the log above its first entry.
const LOOSE: &str = "text in the Decision Log above its first heading is not read: a decision is \
    `#### 2026-01-02T03:04:05Z - Title`";

/// Message for a heading without a space after its marks.
const UNPARTED: &str = "a heading needs a space after its `#`";

/// Message for a heading that ends the log.
const ENDING: &str = "a heading that is not nested below the Decision Log ends it: use `####`";

impl Notes {
    /// Returns the lines, counted from 0, of text that is written like a decision and is none, each
    /// with its problem. Entries of a Decision Log that have a field of a decision are not
    /// included: their heading makes them decisions.
    pub(super) fn strays(&self) -> Vec<(usize, String)> {
        let mut strays: Vec<(usize, String)> = Vec::new();
        let mut stray = |line: usize, what: &str| strays.push((line, what.to_owned()));
        let entries = self.entries();
        let in_log: HashSet<usize> = entries.iter().map(|(heading, _)| *heading).collect();
        for (section, heading) in self.outline.headings.iter().enumerate() {
            if !is_of_decisions(&heading.title) || in_log.contains(&section) {
                continue;
            }
            let lines = self.outline.body(section);
            let below = self.outline.headings[section + 1..].iter();
            let mut headings = below.take_while(|entry| entry.line < lines.end);
            if headings.any(|entry| begins_with_time(&entry.title))
                || lines.clone().any(|line| self.is_field_of_decision(line))
                || lines
                    .clone()
                    .any(|line| self.unheaded(line, false).is_some())
            {
                let what = "a section of decisions that is not named `Decision Log` is not read";
                stray(heading.line, what);
            }
        }
        strays.extend(self.in_other_sections(&in_log));
        let mut stray = |line: usize, what: &str| strays.push((line, what.to_owned()));
        for (heading, lines) in &entries {
            let entry = &self.outline.headings[*heading];
            let is_read = Decision::read(&entry.title, std::iter::empty()).is_some();
            if !is_read && begins_with_time(&entry.title) && !self.is_undated(*heading, lines) {
                stray(entry.line, UNTITLED);
            }
        }
        for log in self.outline.titled(LOG) {
            let own = &self.outline.headings[log];
            let next = self.outline.headings[log + 1..].iter();
            let next = next.enumerate().find(|(_, next)| next.level <= own.level);
            if let Some((at, next)) = next
                && next.level == own.level
                && begins_with_time(&next.title)
                && !in_log.contains(&(log + 1 + at))
            {
                stray(next.line, ENDING);
            }
        }
        let first = entries
            .iter()
            .map(|(heading, _)| self.outline.headings[*heading].line);
        let first = first.min().unwrap_or(usize::MAX);
        for (line, what) in self.unread_in_log(&entries) {
            stray(line, what);
        }
        let mut is_named = false;
        for line in self.lines_of(LOG) {
            if let Some(what) = self.unheaded(line, line > first) {
                stray(line, what);
                is_named = true;
            } else if self.is_unparted(line) {
                stray(line, UNPARTED);
            } else if line < first && self.is_field_of_decision(line) && !is_named {
                stray(line, ALONE);
                is_named = true;
            }
        }
        strays
    }

    /// Returns the text next to a mark in lines of text, each once, with its line, counted from 1;
    /// for an entry, without its time and the names of fields.
    pub(crate) fn marked_with(&self, mark: &str) -> Vec<(usize, String)> {
        let mut marked: Vec<(usize, String)> = Vec::new();
        for (line, found) in self.outline.lines.iter().enumerate() {
            let text = self.outline.text(&self.bytes, line);
            if !found.is_text || !text.contains(mark) {
                continue;
            }
            let words = text
                .trim()
                .trim_start_matches(['#', '-', '*', '+', '>', ' ']);
            let words = match Decision::read(words, std::iter::empty()) {
                Some(entry) => entry.title,
                None => match Label::of(text.trim()) {
                    Some(label) => text.trim()[label.rest..].to_owned(),
                    None => words.to_owned(),
                },
            };
            let words = words.replace(mark, "");
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            if marked.iter().all(|(_, known)| *known != words) {
                marked.push((line + 1, words));
            }
        }
        marked
    }

    /// Returns headings right below a log that are no decisions, and the first line of text in a
    /// log above every heading, unless another problem of theirs is reported.
    fn unread_in_log(&self, entries: &[(usize, Range<usize>)]) -> Vec<(usize, &'static str)> {
        let mut unread = Vec::new();
        let headings = &self.outline.headings;
        for (heading, lines) in entries {
            let own = &headings[*heading];
            let around = headings[..*heading]
                .iter()
                .rev()
                .find(|above| above.level < own.level);
            let is_of_log = around.is_some_and(|above| above.title.eq_ignore_ascii_case(LOG));
            let is_read = self.heading(*heading).is_some() || self.is_undated(*heading, lines);
            if is_of_log && !is_read && !begins_with_time(&own.title) {
                unread.push((own.line, UNSAID));
            }
        }
        for log in self.outline.titled(LOG) {
            let lines = self.above_next(log, &self.outline.body(log));
            let mut texts = lines
                .clone()
                .filter(|line| self.outline.lines[*line].is_text && !self.is_blank_line(*line));
            let first = texts.next();
            let is_other = |line: usize| {
                self.unheaded(line, false).is_some()
                    || self.is_unparted(line)
                    || self.is_field_of_decision(line)
            };
            unread.extend(
                first
                    .filter(|_| !lines.clone().any(is_other))
                    .map(|line| (line, LOOSE)),
            );
        }
        unread
    }

    /// Returns entries outside of every Decision Log, by their section; not those of a section that
    /// is named as a whole, or that says that they no longer hold.
    fn in_other_sections(&self, in_log: &HashSet<usize>) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        // The sections that contain the heading, outermost first.
        let mut within: Vec<usize> = Vec::new();
        for (index, heading) in self.outline.headings.iter().enumerate() {
            let is_around = |above: &usize| self.outline.headings[*above].level < heading.level;
            within.retain(is_around);
            let mut titles = within
                .iter()
                .map(|above| &*self.outline.headings[*above].title);
            let is_known = |title: &str| is_of_decisions(title) || is_of_withdrawn(title);
            let is_entry = !in_log.contains(&index)
                && self.heading(index).is_some()
                && self.is_undated(index, &self.outline.body(index));
            if is_entry && !titles.clone().any(is_known) {
                let section = titles.next_back().filter(|title| !title.is_empty());
                let section = section.map(|title| format!(" below `{title}`"));
                found.push((
                    heading.line,
                    format!(
                        "a decision{} is not read: move it below `### {LOG}`",
                        section.unwrap_or_default()
                    ),
                ));
            }
            within.push(index);
        }
        found
    }

    /// Returns the problem of a line that is written like the heading of a decision and is none: in
    /// a list, a quote or a table; or text that is followed by a field of a decision or an
    /// underline, is all bold, or is below no entry.
    fn unheaded(&self, line: usize, is_below_entry: bool) -> Option<&'static str> {
        let text = self.outline.text(&self.bytes, line);
        let text = text.trim();
        if !self.outline.lines[line].is_text || text.starts_with('#') {
            return None;
        }
        let (words, is_marked) = without_marks(text);
        let plain = words.replace(['*', '_', '`'], "");
        Decision::read(plain.trim(), std::iter::empty())?;
        let below = (line + 1..self.outline.lines.len()).find(|next| !self.is_blank_line(*next));
        let is_followed = below.is_some_and(|next| self.is_field_of_decision(next));
        if is_marked {
            // A time and a colon begin a line of a journal as well.
            let is_parted = [" - ", " – ", " — "]
                .iter()
                .any(|mark| plain.contains(mark));
            return (is_parted || is_followed).then_some(ITEM);
        }
        let is_rule = |next: &str| {
            next.len() > 1 && ["-", "="].iter().any(|c| next.replace(c, "").is_empty())
        };
        let under = self.outline.lines.get(line + 1);
        let under = under.map(|_| self.outline.text(&self.bytes, line + 1));
        let is_underlined = under.is_some_and(|next| is_rule(next.trim()));
        let is_bold = text.starts_with("**") && text.ends_with("**");
        (is_followed || is_underlined || is_bold || !is_below_entry).then_some(UNHEADED)
    }

    /// Whether a line is `####TIME`.
    fn is_unparted(&self, line: usize) -> bool {
        let text = self.outline.text(&self.bytes, line);
        let words = text.trim_start_matches('#');
        let is_marked = (1..=6).contains(&(text.len() - words.len()));
        self.outline.lines[line].is_text
            && is_marked
            && !words.starts_with([' ', '\t'])
            && begins_with_time(words)
    }
}

/// Returns the words of a line without the marks of an item, a quote or a table row, and whether
/// there were any.
fn without_marks(text: &str) -> (String, bool) {
    if let Some(row) = text.strip_prefix('|') {
        let cells = row
            .split('|')
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        return (cells.collect::<Vec<_>>().join(" - "), true);
    }
    let mut words = text;
    loop {
        let number = words.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = (1..=3).contains(&(words.len() - number.len()));
        let item = if is_numbered {
            number.strip_prefix(['.', ')'])
        } else {
            words.strip_prefix(['-', '*', '+'])
        };
        let item = item.filter(|rest| rest.starts_with([' ', '\t']));
        let boxed = || {
            ["[ ] ", "[x] ", "[X] "]
                .iter()
                .find_map(|mark| words.strip_prefix(mark))
        };
        let headed = || words.strip_prefix('#').filter(|_| words.len() < text.len());
        let Some(rest) = item
            .or_else(|| words.strip_prefix('>'))
            .or_else(boxed)
            .or_else(headed)
        else {
            return (words.to_owned(), words.len() < text.len());
        };
        words = rest.trim_start();
    }
}

/// Whether a title is one that people give to a log of decisions, and not ours.
fn is_of_decisions(title: &str) -> bool {
    let words = title.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    let (says, others): (Vec<String>, Vec<String>) =
        words.partition(|word| matches!(&**word, "decision" | "decisions" | "adr" | "adrs"));
    let is_known =
        |word: &String| OF_TITLES.contains(&&**word) || word.chars().all(|c| c.is_ascii_digit());
    !says.is_empty() && others.iter().all(is_known) && !title.eq_ignore_ascii_case(LOG)
}

/// Whether a title says that the text below it no longer holds.
fn is_of_withdrawn(title: &str) -> bool {
    let mut words = title.split(|c: char| !c.is_alphanumeric());
    words.any(|word| OF_WITHDRAWN.contains(&&*word.to_lowercase()))
}

/// Whether the words of a heading begin with a time.
fn begins_with_time(words: &str) -> bool {
    let first = words.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches([':', '-', '–', '—']);
    first.starts_with(|c: char| c.is_ascii_digit() || c == '[')
        && Decision::read(&format!("{first} - title"), std::iter::empty()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let notes = Notes::read(text.as_bytes().to_vec());
        let strays = notes.strays().into_iter();
        strays.map(|(line, _)| line + 1).collect()
    }

    /// LOA-FMT-1: what is written like a decision in a way that is not read is named by its line.
    #[test]
    fn what_is_written_like_a_decision_and_is_none_is_named() {
        let log =
            "### Decision Log\n#### 2026-01-02 - Read\n**Decision**: x\n- 2026-01-02 - in a list\n";
        assert_eq!(lines(log), [4]);
        assert_eq!(
            lines(&format!(
                "{log}- **2026/01/02** - bold\n- 2026-01-02: seen\n"
            )),
            [4, 5]
        );
        assert_eq!(lines("## Decision Log\n#### 2026-01-02\nwords\n"), [2]);
        for text in [
            "#### Ideas - later\n- 3 tries\n- see 2026-01-02\n#2026\n##### of whom\n",
            "- 2026-11-24T10:00:00Z: use tabs\n",
            "- 2026-01-01 use tabs\n- and blanks\n",
            "- **Decision**: use tabs\n",
            "We decided on Postgres.\n\nFor now.\n",
        ] {
            assert_eq!(lines(&format!("## Decision Log\n{text}")), [2], "{text}");
        }
        assert_eq!(lines("## Decision Log\n####2026-01-02 - A\nwords\n"), [2]);
        for (text, named) in [
            ("2026-01-02 - a\n------\n", 2),
            ("1. 2026-01-02 - a\n**Decision**: a\n", 2),
            ("* 2026-01-02: a\n**Decision**: a\n", 2),
            ("**2026-01-02 - a**\n\nwe do\n", 2),
            ("2026-01-02 - a\n**Decision**: a\n", 2),
            ("> #### 2026-01-02 - a\n", 2),
            ("- [x] 2026-01-02 - a\n", 2),
            ("| when | what |\n|---|---|\n| 2026-01-02 | a |\n", 4),
            ("**Decision**: a\n**Rationale**: b\n", 2),
            (
                "#### 2026-01-02 - A\n**Decision**: a\n**2026-01-03 - b**\n",
                4,
            ),
            ("#### 2026-01-02 - A\nwords\n### 2026-01-03 - b\nwords\n", 4),
        ] {
            assert_eq!(
                lines(&format!("### Decision Log\n{text}")),
                [named],
                "{text}"
            );
        }
        for title in [
            "### Key Decisions",
            "### Decision Log (today)",
            "### Decision-Log",
            "## Decisions Made",
            "### ADR",
            "## Decisions 2026-01-02",
        ] {
            let text = format!("{title}\n#### 2026-01-02 - A\n**Decision**: a\n");
            assert_eq!(lines(&text), [1], "{title}");
        }
        for section in [
            "#### 2026-01-02 - A\n",
            "#### A\n**Decision**: a\n",
            "- 2026-01-02 - a\n",
        ] {
            assert_eq!(
                lines(&format!("## Notes\n### Decisions\n{section}## Next\n")),
                [2]
            );
        }
    }

    /// LOA-FMT-1: an entry in a section that is not ours is named by its line and that section,
    /// unless the section says that its text no longer holds.
    #[test]
    fn an_entry_in_another_section_is_named() {
        let entry = "#### 2026-01-02 - A\n**Decision**: a\n";
        let log = format!("### Decision Log\n{entry}\n");
        for (above, named) in [
            ("## Plans\n\n", " below `Plans`"),
            ("## Plans\n### Soon\n", " below `Soon`"),
            ("### Pending Questions\n", " below `Pending Questions`"),
            ("## Decisions of others\n", " below `Decisions of others`"),
        ] {
            let notes = Notes::read(format!("{log}{above}{entry}").into_bytes());
            let strays = notes.strays();
            let line = log.lines().count() + above.lines().count();
            let what = format!("a decision{named} is not read: move it below `### Decision Log`");
            assert_eq!(strays, [(line, what)]);
        }
        assert_eq!(lines(entry), [1]);
        for title in [
            "## Withdrawn",
            "## Decisions that were superseded",
            "### Old decisions",
        ] {
            let text = format!("{log}{title}\n{entry}#### 2026-01-03 - B\n**Decision**: b\n");
            let named = lines(&text);
            assert!(named.is_empty(), "{title}: {named:?}");
        }
        let twice = format!("{log}## Decisions\n{entry}");
        assert_eq!(lines(&twice), [5]);
    }

    #[test]
    fn what_is_no_decision_is_not_named() {
        for text in [
            "## Decision Log\n#### 2026-01-02: Read\n**Decision**: x\n**Evidence**:\n- `a` [${PROJECT_ROOT}/a.rs:1]\n",
            "## Decisions\nsee the [log](log.md)\n- one\n",
            "## Decisions of others\n#### 2026-01-02 - A\n",
            "## Decision Log\n#### 2026-01-02 - A\n**Decision**: a\n**Rationale**: of\n2026-01-03 - the day after\n1. 2026-01-04: seen\n",
            "## Decision Log\n   #### 2026-01-02 - A\n**Decision**: a\n",
            "### Decision Log\n### 2026-01-02 - A\n**Decision**: a\n### Pending Questions\n",
            "### Decision Log\n### 2026-01-02 - A\n**Decision**: a\n#### 2026-01-03 - B\nb\n### Pending Questions\n",
            "### Decision Log\n## 2026-01-02 - a day\nwords\n",
            "## Decision Log\n```\n- 2026-01-02 - in code\n```\n<!-- ####2026-01-02 - A -->\n",
        ] {
            assert_eq!(lines(text), [0; 0], "{text}");
        }
    }

    /// LOA-FMT-1: entries that are not below the log are read as far as they follow one another.
    #[test]
    fn entries_behind_the_log_are_read() {
        let text = "### Decision Log\n#### 2026-01-01 - O\no\n### 2026-01-02 - A\n**Decision**: a\n#### 2026-01-03 - B\nb\n\
                    ### Pending Questions\n#### 2026-01-04 - C\n**Decision**: c\n";
        let notes = Notes::read(text.as_bytes().to_vec());
        let read = notes.decisions().into_iter();
        assert_eq!(
            read.map(|made| made.title).collect::<Vec<_>>(),
            ["O", "A", "B"]
        );
    }
}
