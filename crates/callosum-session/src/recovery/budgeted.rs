//! [`level_1`] and [`level_2`]: whole records, as many as fit.

use std::fmt::Write as _;

use callosum_evidence::{secrets, tokens::estimate};

use super::recollection::{Recollected, Recollection, Trust};
use crate::{
    evidence::Evidence,
    notes::Decision,
    pickup::Waiting,
    statement::{one_line, title_of},
};

/// So many decisions are told at level 1 (Seed LOA §4.1).
const LAST_DECISIONS: usize = 3;

/// Where things stand, in at most `budget` tokens, estimated: bead, checkpoint, next step, the last
/// three decisions, open questions. Of the decisions, those that can be relied on come first.
pub fn level_1(recollection: &Recollection, budget: u64) -> String {
    let mut records = Vec::new();
    if let Some((id, bead)) = &recollection.bead {
        records.push(match bead {
            // A title that does not fit must not take the bead's id with it.
            Some(bead) => {
                let title = title_of(&one_line(&bead.title));
                one_line(&format!("Bead: {id} {title} ({})", bead.status))
            }
            None => one_line(&format!("Bead: {id} (its file cannot be read)")),
        });
    }
    let line =
        |name: &str, text: &Option<String>| text.as_ref().map(|text| format!("{name}: {text}"));
    records.extend(line("Checkpoint", &recollection.checkpoint));
    records.extend(line("Next", &recollection.next_step()));
    let mut last: Vec<&Recollected> = recollection.decisions.iter().take(LAST_DECISIONS).collect();
    last.sort_by_key(|made| made.trust != Trust::Verified);
    for made in last {
        let title = one_line(&made.decision.title);
        records.push(format!("Decided: {title} [{}]", made.trust.name()));
    }
    records.extend(
        recollection
            .questions
            .iter()
            .map(|question| format!("Open: {question}")),
    );
    let records: Vec<Record> = records.into_iter().map(Record::of).collect();
    fitted(&records, records.len(), budget)
}

/// The last hand-off and the newest decisions, in at most `budget` tokens, estimated.
pub fn level_2(recollection: &Recollection, budget: u64) -> String {
    // The last hand-off alone is where things stand; older ones are found by their words.
    let handed = recollection
        .handoffs
        .iter()
        .find(|one| one.reasoning.is_some());
    let handed = handed.map(|one| Record::of(handed_over(one, budget)));
    let decided = recollection.decisions.iter().map(whole);
    let records: Vec<Record> = handed.into_iter().chain(decided).collect();
    let all = records.len() + recollection.older;
    fitted(&records, all, budget)
}

/// What is told on a line of its own, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// All of it.
    whole: String,
    /// What it is about and where it stands, for where there is no room for all of it.
    brief: Option<String>,
}

impl Record {
    /// A record that is told whole.
    pub(super) fn of(whole: String) -> Self {
        Self { whole, brief: None }
    }

    /// The same with what looks like a secret masked: a person may have written one into the notes.
    fn masked(&self) -> Self {
        let mask = |text: &String| secrets::mask(text).text;
        Self {
            whole: mask(&self.whole),
            brief: self.brief.as_ref().map(mask),
        }
    }
}

/// A hand-off with all its words, or with those that half of the budget has room for.
pub(super) fn handed_over(made: &Waiting, budget: u64) -> String {
    let to = made.to.as_ref().map(|to| format!(" to {to}"));
    let within = made.repository.as_ref().map(|path| format!(" in {path}"));
    let head = format!(
        "Handed over{} by {} at {}{}",
        to.unwrap_or_default(),
        made.from,
        made.ts,
        within.unwrap_or_default()
    );
    let reasoning = made.reasoning.as_deref().unwrap_or_default();
    let text = one_line(&format!("{head}: {reasoning}"));
    if estimate(&text) <= budget / 2 {
        return text;
    }
    let words: Vec<&str> = reasoning.split(' ').take(budget as usize).collect();
    let cut = |many: &usize| {
        one_line(&format!(
            "{head}: {} … (NOTES.md)",
            words[..*many].join(" ")
        ))
    };
    let fitting = (0..words.len())
        .rev()
        .find(|many| estimate(&cut(many)) <= budget / 2);
    cut(&fitting.unwrap_or(0))
}

/// A decision with all that is known of it; in brief its title and its lines in the notes.
pub(super) fn whole(made: &Recollected) -> Record {
    let (decision, mark) = (&made.decision, format!("[{}]", made.trust.name()));
    let (ts, title) = (&decision.ts, title_of(&decision.title));
    let (first, last) = (decision.line, decision.last_line);
    let brief = format!("{ts} {title} {mark} (NOTES.md:{first}-{last})");
    Record {
        whole: said(decision, &mark),
        brief: Some(one_line(&brief)),
    }
}

/// A decision with all that is known of it, and a mark behind its title.
pub(super) fn said(decision: &Decision, mark: &str) -> String {
    let (ts, title, words) = (&decision.ts, &decision.title, decision.words());
    let mut text = format!("{ts} {title} {mark}: {words}");
    if let Some(rationale) = &decision.rationale {
        text.push_str(" Because: ");
        text.push_str(rationale);
    }
    let cited: Vec<String> = decision.evidence.iter().map(Evidence::identifier).collect();
    if !cited.is_empty() {
        text.push_str(" See: ");
        text.push_str(&cited.join(" "));
    }
    one_line(&text)
}

/// As many records as fit, in their order, a line each: one for which there is no room, in brief; how many
/// did not fit is the last line. There are `all`, of which the records are the first.
pub(super) fn fitted(records: &[Record], all: usize, budget: u64) -> String {
    let told = |kept: &[&str]| {
        let mut text = String::new();
        for line in kept {
            text.push_str(line);
            text.push('\n');
        }
        let left = all - kept.len();
        if left > 0 {
            let _ = writeln!(text, "+{left} more");
        }
        text
    };
    let records: Vec<Record> = records.iter().map(Record::masked).collect();
    let mut kept: Vec<&str> = Vec::new();
    // Each line's estimate is rounded up, so that the sum is too high by less than one for each.
    let mut sum = 0;
    for record in &records {
        for line in std::iter::once(&record.whole).chain(&record.brief) {
            let cost = estimate(&format!("{line}\n"));
            kept.push(line);
            let left = all - kept.len();
            let most = sum + cost + estimate(&format!("+{left} more\n"));
            let least = most.saturating_sub(kept.len() as u64 + 1);
            let fits = most <= budget || least <= budget && estimate(&told(&kept)) <= budget;
            if fits {
                sum += cost;
                break;
            }
            kept.pop();
        }
    }
    let text = told(&kept);
    if estimate(&text) <= budget {
        text
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bead::Bead;

    fn made(ts: &str, title: &str, trust: Trust) -> Recollected {
        Recollected {
            decision: Decision {
                ts: ts.to_owned(),
                title: title.to_owned(),
                decision: format!("{title}, really"),
                rationale: Some("it is so".to_owned()),
                ..Decision::default()
            },
            trust,
        }
    }

    fn recollection() -> Recollection {
        let bead = Bead {
            title: "Implement JWT refresh".to_owned(),
            status: "in_progress".to_owned(),
            next_steps: vec!["Tolerate clock skew".to_owned()],
            ..Bead::default()
        };
        Recollection {
            bead: Some(("bd-x7y8".to_owned(), Some(bead))),
            checkpoint: Some("2024-01-15T14:30:00Z".to_owned()),
            reasoning: None,
            handoffs: Vec::new(),
            decisions: vec![
                made("2024-01-04", "Newest", Trust::Stale),
                made("2024-01-03", "Sliding expiry", Trust::Verified),
                made("2024-01-02", "Rotate tokens", Trust::Verified),
                made("2024-01-01", "Oldest", Trust::Verified),
            ],
            older: 0,
            questions: vec!["Per client?".to_owned()],
        }
    }

    /// LOA-REC-1: the order of level 1, those to rely on first, stale ones flagged.
    #[test]
    fn level_1_tells_where_things_stand_in_its_order() {
        assert_eq!(
            level_1(&recollection(), 100),
            "Bead: bd-x7y8 Implement JWT refresh (in_progress)\nCheckpoint: 2024-01-15T14:30:00Z\n\
             Next: Tolerate clock skew\nDecided: Sliding expiry [verified]\n\
             Decided: Rotate tokens [verified]\nDecided: Newest [stale]\nOpen: Per client?\n"
        );
        assert_eq!(level_1(&recollection(), 60).lines().last(), Some("+2 more"));
        assert_eq!(level_1(&Recollection::default(), 100), "");
        assert_eq!(level_1(&recollection(), 0), "");
    }

    /// LOA-REC-1: however long a bead's title is, level 1 names the bead.
    #[test]
    fn a_long_title_is_cut_and_the_bead_still_named() {
        let mut state = recollection();
        if let Some((_, Some(bead))) = &mut state.bead {
            bead.title = "word ".repeat(80);
        }
        let told = level_1(&state, 100);
        assert!(told.starts_with("Bead: bd-x7y8 word word"), "{told}");
        assert!(told.contains("word… (in_progress)\n"), "{told}");
    }

    /// LOA-REC-1: what is left out is counted, also what was never looked at.
    #[test]
    fn level_2_tells_the_newest_and_how_many_more_there_are() {
        let mut state = recollection();
        assert_eq!(level_2(&state, 500).lines().count(), 4);
        state.older = 7;
        assert_eq!(level_2(&state, 500).lines().last(), Some("+7 more"));
        assert_eq!(level_2(&state, 40).lines().last(), Some("+10 more"));
    }

    /// LOA-REC-1: a decision that is longer than there is room for is told by its title and its lines in the
    /// notes, and takes no other's place.
    #[test]
    fn level_2_tells_of_a_decision_that_is_too_long_where_it_stands() {
        let mut state = recollection();
        for made in &mut state.decisions[..2] {
            made.decision.decision = "word ".repeat(3_000);
            (made.decision.line, made.decision.last_line) = (12, 30);
        }
        let told = level_2(&state, 500);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "2024-01-04 Newest [stale] (NOTES.md:12-30)");
        assert_eq!(
            lines[1],
            "2024-01-03 Sliding expiry [verified] (NOTES.md:12-30)"
        );
        assert!(lines[2].starts_with("2024-01-02 Rotate tokens [verified]: "));
        assert_eq!(lines.len(), 4);
        assert!(estimate(&told) <= 500);
        // A heading by hand may be as long.
        state.decisions[0].decision.title = "word ".repeat(3_000);
        let told = level_2(&state, 500);
        assert!(told.starts_with("2024-01-04 word word"), "{told}");
        assert!(told.contains("word… [stale] (NOTES.md:12-30)\n"), "{told}");
    }

    proptest! {
        /// LOA-REC-1: recovery never exceeds its budget, and tells records whole or not at all.
        #[test]
        fn no_level_exceeds_its_budget(
            titles in proptest::collection::vec(any::<String>(), 0..6),
            questions in proptest::collection::vec("[a-z0-9 .?\u{e9}]{0,200}", 0..12),
            budget in 0_u64..300,
        ) {
            let mut state = recollection();
            state.decisions = titles.iter().map(|title| made("2024-01-01", title, Trust::Stale)).collect();
            state.questions = questions;
            for told in [level_1(&state, budget), level_2(&state, budget)] {
                prop_assert!(estimate(&told) <= budget);
            }
            let all = level_1(&state, u64::MAX);
            let told = level_1(&state, budget);
            for line in told.lines() {
                prop_assert!(all.lines().any(|known| known == line) || line.starts_with('+'));
            }
            prop_assert_eq!(told, level_1(&state.clone(), budget));
        }
    }
}
