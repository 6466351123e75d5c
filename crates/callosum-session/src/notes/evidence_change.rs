//! [`EvidenceChange`]: the new evidence of a decision of the document.

use std::fmt::Write as _;

use callosum_citation::{self, Citation};
use serde::{Deserialize, Serialize};

use super::{
    decision::{ASSUMPTION, Decision, USER_INPUT},
    document::Notes,
    field_label::Label,
};
use crate::evidence::Evidence;

/// New evidence of a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceChange {
    /// The time of the decision; with its title, if another one has that time.
    pub ts: String,
    /// Citations that are added, as they are written.
    pub written: Vec<String>,
    /// Citations that no longer hold and are removed.
    #[serde(default)]
    pub replaced: Vec<Evidence>,
    /// Whether it is an assumption from now on.
    #[serde(default)]
    pub is_assumption: bool,
}

impl EvidenceChange {
    fn mark(&self) -> Option<&'static str> {
        self.is_assumption.then_some(ASSUMPTION)
    }
}

impl Notes {
    /// Returns the document with the new evidence of the decision. `None` if there is no such
    /// decision. Applying it twice changes nothing the second time.
    #[must_use]
    pub fn with_evidence(&self, change: &EvidenceChange) -> Option<Self> {
        let find = |notes: &Self| notes.named(&change.ts);
        let mut notes = self.clone();
        while let Some(without) = notes.without_one(&find(&notes)?, change) {
            notes = without;
        }
        let marked = notes.with_mark(&find(&notes)?, change.mark());
        Some(marked.with_further_evidence(&find(&marked)?, &change.written))
    }

    /// Returns the document without one of the citations that no longer hold, if there is one. A
    /// line with nothing else is removed as well; if a person has written more on it, the first new
    /// citation takes its place.
    fn without_one(&self, decision: &Decision, change: &EvidenceChange) -> Option<Self> {
        let is_replaced = |cited: &Citation| {
            let is_it = |old: &Evidence| {
                old.path == cited.path
                    && (old.first, old.last) == (cited.first_line, cited.last_line)
                    && old.quote == cited.quote
            };
            change.replaced.iter().any(is_it)
        };
        let lines = &self.outline.lines[decision.line..decision.last_line];
        lines.iter().find_map(|line| {
            let text = std::str::from_utf8(&self.bytes[line.at.clone()]).ok()?;
            let found = callosum_citation::find(text).into_iter();
            let cited = found.filter(is_replaced).map(|cited| cited.at).next()?;
            let rest = [&text[..cited.start], &text[cited.end..]].concat();
            if rest.trim_matches([' ', '\t', '-', '*']).is_empty() {
                return Some(self.spliced(line.at.start..line.next, ""));
            }
            let at = line.at.start + cited.start..line.at.start + cited.end;
            let new = change.written.first().map_or("", String::as_str);
            Some(self.spliced(at, new))
        })
    }

    /// Returns the document in which the words of the decision end with this mark, or with none.
    fn with_mark(&self, decision: &Decision, mark: Option<&str>) -> Self {
        let mut lines = decision.line..decision.last_line;
        let Some(first) = lines.find(|line| self.is_field(*line, "Decision")) else {
            return self.clone();
        };
        let last = lines
            .take_while(|line| !self.is_field(*line, "") && !self.is_blank_line(*line))
            .last()
            .unwrap_or(first);
        let at = self.outline.lines[last].at.clone();
        let text = self.bytes[at.clone()].trim_ascii_end();
        let bare = [ASSUMPTION, USER_INPUT]
            .iter()
            .find_map(|mark| text.strip_suffix(mark.as_bytes()))
            .map_or(text, <[u8]>::trim_ascii_end);
        let after = at.start + bare.len()..at.start + text.len();
        match mark {
            Some(mark) => self.spliced(after, &format!(" {mark}")),
            None if after.is_empty() => self.clone(),
            None => self.spliced(after, ""),
        }
    }

    fn with_further_evidence(&self, decision: &Decision, written: &[String]) -> Self {
        let lines = decision.line..decision.last_line;
        let missing: Vec<String> = {
            let there = String::from_utf8_lossy(
                &self.bytes[self.outline.lines[lines.start - 1].at.start
                    ..self.outline.lines[lines.end - 1].next],
            );
            let is_new = |cited: &&String| !there.contains(cited.as_str());
            written.iter().filter(is_new).cloned().collect()
        };
        if missing.is_empty() {
            return self.clone();
        }
        let eol = self.eol();
        let evidence = lines.clone().find(|line| self.is_field(*line, "Evidence"));
        let (after, mut text) = if let Some(heading) = evidence {
            let end = (heading + 1..lines.end)
                .find(|line| self.is_field(*line, "") || self.is_blank_line(*line))
                .unwrap_or(lines.end);
            (end, String::new())
        } else {
            let scenarios = lines
                .clone()
                .find(|line| self.is_field(*line, "Test Scenarios"));
            let end = scenarios.unwrap_or(lines.end);
            (end, format!("**Evidence**:{eol}"))
        };
        for cited in missing {
            let _ = write!(text, "- {cited}{eol}");
        }
        let at = self.line_start(after);
        self.spliced(at..at, &self.on_own_line(at, &text))
    }

    /// Whether a line begins a field such as `**Evidence**`.
    fn is_field(&self, line: usize, name: &str) -> bool {
        let text = self.outline.text(&self.bytes, line);
        let is_label = |label: Label<'_>| label.name.starts_with(name);
        text.trim_start().starts_with(&format!("**{name}"))
            || Label::of(&text).is_some_and(is_label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::TEMPLATE;

    const TS: &str = "2026-01-01T00:00:00Z";

    fn cited(quote: &str) -> Evidence {
        Evidence {
            path: "src/a.rs".to_owned(),
            first: 3,
            last: 3,
            quote: Some(quote.to_owned()),
        }
    }

    fn with(evidence: Vec<Evidence>) -> Notes {
        Notes::read(TEMPLATE.into()).with_decision(&Decision {
            ts: TS.to_owned(),
            title: "Use pools".to_owned(),
            decision: "Use one pool".to_owned(),
            evidence,
            scenarios: vec!["one".to_owned()],
            ..Decision::default()
        })
    }

    fn change(written: &[&str], replaced: &[&str]) -> EvidenceChange {
        EvidenceChange {
            ts: TS.to_owned(),
            written: written
                .iter()
                .filter_map(|quote| cited(quote).written())
                .collect(),
            replaced: replaced.iter().map(|quote| cited(quote)).collect(),
            is_assumption: false,
        }
    }

    fn text(notes: &Notes) -> String {
        String::from_utf8(notes.bytes().to_vec()).unwrap()
    }

    #[test]
    fn evidence_is_added_to_the_decision_that_it_is_for() {
        let once = with(Vec::new())
            .with_evidence(&change(&["fn pool()"], &[]))
            .unwrap();
        assert_eq!(once.decisions()[0].evidence, [cited("fn pool()")]);
        let again = once.with_evidence(&change(&["fn pool()"], &[])).unwrap();
        assert_eq!(again, once);
        let twice = once.with_evidence(&change(&["fn loop()"], &[])).unwrap();
        assert_eq!(twice.decisions()[0].evidence.len(), 2);
        assert_eq!(twice.decisions()[0].scenarios, ["one"]);
        let other = EvidenceChange {
            ts: "2026".to_owned(),
            ..EvidenceChange::default()
        };
        assert_eq!(twice.with_evidence(&other), None);
    }

    /// LOA-GRD-1: evidence that no longer holds is removed with its line, and a person's words
    /// stay.
    #[test]
    fn what_holds_no_more_is_replaced_and_a_persons_words_stay() {
        let notes = with(vec![cited("fn old()"), cited("fn kept()")]);
        let change = change(&["fn new()"], &["fn old()"]);
        let made = notes.with_evidence(&change).unwrap();
        assert_eq!(
            made.decisions()[0].evidence,
            [cited("fn kept()"), cited("fn new()")]
        );
        assert_eq!(made.with_evidence(&change).unwrap(), made);
        let old = cited("fn old()").written().unwrap();
        let by_hand = text(&notes).replace(&old, &format!("see {old}, which is mine"));
        let made = Notes::read(by_hand.into()).with_evidence(&change).unwrap();
        let new = cited("fn new()").written().unwrap();
        assert!(
            text(&made).contains(&format!("- see {new}, which is mine\n")),
            "{}",
            text(&made)
        );
        assert_eq!(made.with_evidence(&change).unwrap(), made);
    }

    /// LOA-MARK-1: an assumption says so until something shows it.
    #[test]
    fn an_assumption_is_marked_until_it_is_cited() {
        let assumed = EvidenceChange {
            is_assumption: true,
            ..change(&[], &["fn old()"])
        };
        let made = with(vec![cited("fn old()")])
            .with_evidence(&assumed)
            .unwrap();
        assert!(text(&made).contains("**Decision**: Use one pool [ASSUMPTION]\n"));
        let decision = &made.decisions()[0];
        assert!(decision.is_assumption && decision.evidence.is_empty());
        assert_eq!(made.with_evidence(&assumed).unwrap(), made);
        let shown = made.with_evidence(&change(&["fn new()"], &[])).unwrap();
        let decision = &shown.decisions()[0];
        assert!(!decision.is_assumption && decision.words() == "Use one pool");
    }
}
