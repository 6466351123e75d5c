//! [`Decision`]: one entry of the Decision Log, as it is read and as it is written.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{field_label::Label, moment::moment};
use crate::evidence::Evidence;

/// Mark of a decision that nothing in the tree confirms (Seed LOA §4.2).
pub(super) const ASSUMPTION: &str = "[ASSUMPTION]";

/// Mark of a decision that is the user's own word.
pub(super) const USER_INPUT: &str = "[USER INPUT]";

/// Marks of a decision's kind of evidence if it has no places.
pub(crate) const MARKS: [&str; 2] = [ASSUMPTION, USER_INPUT];

/// One entry of the Decision Log (Seed LOA §5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// When it was made, as written: its name among the decisions of a project.
    pub ts: String,
    /// Its title.
    pub title: String,
    /// Text of the decision.
    pub decision: String,
    /// Reason for the decision.
    pub rationale: Option<String>,
    /// Evidence of the decision.
    pub evidence: Vec<Evidence>,
    /// Lines of evidence that name no place as they should.
    pub unread: usize,
    /// Scenarios to try before it counts as done.
    pub scenarios: Vec<String>,
    /// Whether it says of itself that it is an assumption.
    pub is_assumption: bool,
    /// Whether it says of itself that it is the user's word.
    #[serde(default)]
    pub is_user_input: bool,
    /// Line of its heading, counted from 1; 0 if it is not in a file yet.
    pub line: usize,
    /// The last line of its entry.
    pub last_line: usize,
}

impl Decision {
    /// Parses an entry from the words of its heading and the lines below it. `None` if the heading
    /// is not a time and a title.
    pub(super) fn read<'l>(heading: &str, body: impl Iterator<Item = &'l str>) -> Option<Self> {
        let marks = [" - ", " – ", " — ", ": "];
        let (ts, title) = marks.iter().find_map(|mark| {
            let (ts, title) = heading.split_once(mark)?;
            let as_written = Some(ts.trim().to_owned()).filter(|ts| is_time(ts));
            Some((as_written.or_else(|| moment(ts))?, title))
        })?;
        Some(Self::below(heading, ts, title, body))
    }

    /// Parses an entry whose heading is not a time and a title; the words of the heading are its
    /// name.
    pub(super) fn undated<'l>(heading: &str, body: impl Iterator<Item = &'l str>) -> Self {
        let name = if heading.is_empty() {
            "untitled"
        } else {
            heading
        };
        Self::below(heading, name.to_owned(), name, body)
    }

    /// Whether its heading says when it was made.
    pub(crate) fn is_dated(&self) -> bool {
        is_time(&self.ts)
    }

    fn below<'l>(
        heading: &str,
        ts: String,
        title: &str,
        body: impl Iterator<Item = &'l str>,
    ) -> Self {
        let mut decision = Self {
            ts,
            title: title.trim().to_owned(),
            is_assumption: heading.contains(ASSUMPTION),
            is_user_input: heading.contains(USER_INPUT),
            ..Self::default()
        };
        let mut field = String::new();
        for line in body {
            let line = line.trim();
            decision.is_assumption |= line.contains(ASSUMPTION);
            decision.is_user_input |= line.ends_with(USER_INPUT);
            let rest = match Label::of(line) {
                Some(label) => {
                    field = label.name.to_ascii_lowercase();
                    line[label.rest..].trim()
                }
                None => line,
            };
            if rest.is_empty() {
                continue;
            }
            decision.take(&field, rest);
        }
        decision
    }

    /// Returns its time and title, which distinguish it from others of the same time.
    pub(crate) fn heading(&self) -> String {
        format!("{} - {}", self.ts, self.title)
    }

    /// Whether this names it: its time, or that and its title.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.ts == name
            || name
                .strip_prefix(&self.ts)
                .and_then(|rest| rest.strip_prefix(" - "))
                .is_some_and(|title| title == self.title)
    }

    /// Returns the decision without the mark of its evidence.
    pub fn words(&self) -> &str {
        let words = self.decision.trim_end();
        let marked = words
            .strip_suffix(ASSUMPTION)
            .or_else(|| words.strip_suffix(USER_INPUT));
        marked.unwrap_or(words).trim_end()
    }

    fn take(&mut self, field: &str, line: &str) {
        let value = match field {
            "decision" => &mut self.decision,
            "rationale" => self.rationale.get_or_insert_default(),
            "evidence" => {
                let (found, bad) = Evidence::find(line);
                if found.is_empty() || bad > 0 {
                    self.unread += bad.max(1);
                }
                self.evidence.extend(found);
                return;
            }
            "test scenarios" => {
                let item = line
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .trim_start_matches(['.', ')', '-', '*'])
                    .trim();
                if !item.is_empty() {
                    self.scenarios.push(item.to_owned());
                }
                return;
            }
            _ => return,
        };
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(line);
    }

    /// Returns the entry as the seed writes it, without a final line end. `eol` ends its lines.
    ///
    /// Evidence that the grammar of citations cannot express is left out; the code that makes a
    /// decision rejects such evidence beforehand.
    pub fn written(&self, eol: &str) -> String {
        let mut text = format!("#### {} - {}", self.ts, self.title);
        let mark = match (self.is_assumption, self.is_user_input) {
            (true, _) => format!(" {ASSUMPTION}"),
            (_, true) => format!(" {USER_INPUT}"),
            _ => String::new(),
        };
        let _ = write!(text, "{eol}**Decision**: {}{mark}", self.words());
        if let Some(rationale) = &self.rationale {
            let _ = write!(text, "{eol}**Rationale**: {rationale}");
        }
        let evidence: Vec<String> = self.evidence.iter().filter_map(Evidence::written).collect();
        if !evidence.is_empty() {
            let _ = write!(text, "{eol}**Evidence**:");
        }
        for cited in evidence {
            let _ = write!(text, "{eol}- {cited}");
        }
        if !self.scenarios.is_empty() {
            let _ = write!(text, "{eol}**Test Scenarios**:");
        }
        for (scenario, number) in self.scenarios.iter().zip(1..) {
            let _ = write!(text, "{eol}{number}. {scenario}");
        }
        text
    }
}

/// Whether a text begins like a time: `2024-01-15` and more, or nothing. A day or an hour that there is not makes it none.
pub(crate) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_form = bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && !text.contains(' ');
    let number =
        |at: std::ops::Range<usize>| text.get(at).and_then(|digits| digits.parse::<i8>().ok());
    let is_day = || {
        let year = text[..4].parse::<i16>().ok();
        let day = year.zip(number(5..7)).zip(number(8..10));
        day.is_some_and(|((year, month), day)| jiff::civil::Date::new(year, month, day).is_ok())
    };
    // After a `T`, hour and minute are checked if they are written as two digits each.
    let is_within = |at, most| number(at).is_none_or(|number| (0..=most).contains(&number));
    has_form
        && is_day()
        && (bytes.get(10) != Some(&b'T') || is_within(11..13, 24) && is_within(14..16, 59))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-FMT-1: the seed's own entry.
    #[test]
    fn the_entry_of_the_seed_is_read_and_written_back() {
        let body = "**Decision**: Use sliding window expiration with 15-minute grace period\n\
                    **Rationale**: Balances security with UX\n\
                    **Evidence**:\n\
                    - `export function isTokenExpired(token: Token, graceMs = 900000)` [${PROJECT_ROOT}/src/auth/jwt.ts:52]\n\
                    **Test Scenarios**:\n\
                    1. Token expires exactly at boundary -> grace period applies\n\
                    2. Token expires beyond grace -> forced refresh";
        let heading = "2024-01-15T14:30:00Z - Token Expiry Handling";
        let decision = Decision::read(heading, body.lines()).unwrap();
        assert_eq!(decision.title, "Token Expiry Handling");
        assert_eq!(decision.evidence[0].path, "src/auth/jwt.ts");
        assert_eq!(decision.scenarios.len(), 2);
        assert_eq!(decision.written("\n"), format!("#### {heading}\n{body}"));
    }

    /// LOA-FMT-1: an impossible time is not accepted, so that a typo never sorts before every later
    /// decision.
    #[test]
    fn a_day_or_an_hour_that_there_is_not_is_no_time() {
        for time in [
            "2026-13-45T00:00:00Z",
            "2026-11-31",
            "2026-02-29T10:00:00Z",
            "2026-01-02T25:00:00Z",
        ] {
            assert!(!is_time(time), "{time}");
            assert_eq!(Decision::read(&format!("{time} - Title"), "".lines()), None);
        }
        for time in [
            "2026-01-02",
            "2024-02-29T10:00",
            "2026-01-02T03:04:05.678Z",
            "2026-01-02T03:04:05+01:00",
        ] {
            assert!(is_time(time), "{time}");
        }
    }

    #[test]
    fn an_entry_of_a_person_is_read_as_far_as_it_goes() {
        let decision = Decision::read(
            "2024-01-15 - Other - dashes",
            "free words\n**Decision:** a\n  b\n**Evidence**: see src/a.rs:3\n- `x y z` [src/a.rs:3]\n[ASSUMPTION]"
                .lines(),
        )
        .unwrap();
        assert_eq!(decision.title, "Other - dashes");
        assert_eq!(decision.decision, "a b");
        assert_eq!(decision.unread, 3);
        assert!(decision.is_assumption);
        assert_eq!(Decision::read("Ideas - later", "".lines()), None);
        let with_colon = Decision::read("2024-01-15 10:00: Use a - b", "".lines()).unwrap();
        assert_eq!(
            (&*with_colon.ts, &*with_colon.title),
            ("2024-01-15T10:00", "Use a - b")
        );
    }
}
