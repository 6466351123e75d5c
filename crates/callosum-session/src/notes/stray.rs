//! What is written like a decision, and stands where or how none is read: it is named, and left as it is.

use super::{
    decision::Decision,
    document::{LOG, Notes},
    fault::UNDATED,
};

/// Titles of sections that people give to a log of decisions.
const OTHER_TITLES: [&str; 4] = ["Decisions", "Decision", "Decisions Log", "Decision Records"];

/// What is wrong with a list's item that is written like the heading of a decision.
const ITEM: &str =
    "a decision in a list is not read: its heading is `#### 2026-01-02T03:04:05Z - Title`";

/// What is wrong with a heading whose marks touch its words.
const UNPARTED: &str = "a heading without a blank behind its `#` is none";

impl Notes {
    /// Lines, counted from 0, of what is written like a decision and is none, with what is wrong with each. Entries of a
    /// Decision Log that have a field of a decision are not among them: they are decisions by their heading.
    pub(super) fn strays(&self) -> Vec<(usize, String)> {
        let mut strays: Vec<(usize, String)> = Vec::new();
        let mut stray = |line: usize, what: &str| strays.push((line, what.to_owned()));
        for title in OTHER_TITLES {
            for section in self.outline.titled(title) {
                let lines = self.outline.body(section);
                let below = self.outline.headings[section + 1..].iter();
                let mut headings = below.take_while(|entry| entry.line < lines.end);
                if headings.any(|entry| begins_with_time(&entry.title))
                    || lines.clone().any(|line| self.is_field_of_decision(line))
                    || lines.clone().any(|line| self.is_item(line))
                {
                    let what =
                        "a section of decisions that is not called `Decision Log` is not read";
                    stray(self.outline.headings[section].line, what);
                }
            }
        }
        for (heading, lines) in self.entries() {
            let entry = &self.outline.headings[heading];
            let is_read = Decision::read(&entry.title, std::iter::empty()).is_some();
            if !is_read && begins_with_time(&entry.title) && !self.is_undated(heading, &lines) {
                stray(entry.line, UNDATED);
            }
        }
        for line in self.lines_of(LOG) {
            if self.is_item(line) {
                stray(line, ITEM);
            } else if self.is_unparted(line) {
                stray(line, UNPARTED);
            }
        }
        strays
    }

    /// Whether a line is `- TIME - Title`.
    fn is_item(&self, line: usize) -> bool {
        let text = self.outline.text(&self.bytes, line);
        let words = text.trim_start().strip_prefix(['-', '*', '+']);
        let words = words.and_then(|words| words.strip_prefix([' ', '\t']));
        self.outline.lines[line].is_text
            && words.is_some_and(|words| {
                let words = words.trim().replace(['*', '_', '`'], "");
                // A time and a colon begin a line of a journal as well.
                let is_parted = [" - ", " – ", " — "]
                    .iter()
                    .any(|mark| words.contains(mark));
                is_parted && Decision::read(&words, std::iter::empty()).is_some()
            })
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

/// Whether the words of a heading begin with a time, whatever follows.
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
        assert_eq!(lines("## Decision Log\n####2026-01-02 - A\nwords\n"), [2]);
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

    #[test]
    fn what_is_no_decision_is_not_named() {
        for text in [
            "## Decision Log\n#### 2026-01-02: Read\n**Decision**: x\n**Evidence**:\n- `a` [${PROJECT_ROOT}/a.rs:1]\n",
            "## Decision Log\n#### Ideas - later\n- 3 tries\n- see 2026-01-02\n#2026\n",
            "## Decisions\nsee the [log](log.md)\n- one\n",
            "## Decisions of others\n#### 2026-01-02 - A\n",
            "## Decision Log\n```\n- 2026-01-02 - in code\n```\n<!-- ####2026-01-02 - A -->\n",
        ] {
            assert_eq!(lines(text), [0; 0], "{text}");
        }
    }
}
