//! [`at_start`]: the first text that a new session reads, before any request.
//!
//! Whole records only: the current task and its next step, decisions with reason and place, open
//! questions, and the ids of what else exists: decisions that had no room, other open beads,
//! entries of the ledger. For the shorter text that `session recover --level 1` prints, see
//! [`level_1`](super::level_1).

use callosum_citation::tokens::estimate;
use callosum_redact::secrets;

use super::current_state::{Recollected, Recollection};
use crate::{bead::Bead, evidence::Evidence, sanitize::one_line};

/// Most places that are named of one decision.
const MOST_PLACES: usize = 3;

/// Most ids of further decisions that are named; the rest are counted.
const MOST_IDS: usize = 6;

/// Most ids of other beads that are named; the rest are counted.
const MOST_BEADS: usize = 5;

/// The part of the budget, as its divisor, that ids of beads and entries may take.
const LARGEST_PART: u64 = 3;

/// The variable for the project's root in a stored place.
const ROOT: &str = "${PROJECT_ROOT}/";

/// Returns the text for a session that starts, a record on each line, in at most `budget` tokens as [`estimate`] counts them.
///
/// In this order: the current task, its next step, decisions that the task names and then the newest, open questions. A
/// record that does not fit is left out, never shortened. The last line has the ids of decisions that were left out, of
/// other open beads and of entries of the ledger.
/// The same recollection gives the same text.
pub fn at_start(recollection: &Recollection, budget: u64) -> String {
    let mut lines = Lines {
        text: String::new(),
        budget,
    };
    if let Some((id, bead)) = &recollection.bead {
        let task = match bead {
            Some(bead) => format!("Task: {id} {} ({})", bead.title, bead.status),
            None => format!("Task: {id} (its file cannot be read)"),
        };
        // Without room for its title, the task's id alone shows where to look.
        if !lines.add(&task) {
            lines.add(&format!("Task: {id}"));
        }
    }
    if let Some(next) = recollection.next_step() {
        lines.add(&format!("Next: {next}"));
    }
    let bead = recollection
        .bead
        .as_ref()
        .and_then(|(_, bead)| bead.as_ref());
    let mut decisions: Vec<&Recollected> = recollection.decisions.iter().collect();
    decisions.sort_by_key(|made| !bead.is_some_and(|bead| names(bead, made)));
    // The line of ids comes last, and its room is reserved until then.
    let ids: Vec<&str> = decisions
        .iter()
        .map(|made| made.decision.ts.as_str())
        .collect();
    let others = others(recollection, budget);
    let most = further(&ids, recollection.older, &others);
    let most = most.map_or(0, |line| estimate(&format!("{line}\n")));
    lines.budget = budget.saturating_sub(most);
    let left: Vec<&str> = decisions
        .into_iter()
        .filter(|made| !lines.add(&decided(made)))
        .map(|made| made.decision.ts.as_str())
        .collect();
    for question in &recollection.questions {
        lines.add(&format!("Open: {question}"));
    }
    lines.budget = budget;
    if let Some(line) = further(&left, recollection.older, &others) {
        lines.add(&line);
    }
    lines.text
}

/// The lines so far, and how many tokens they may take.
struct Lines {
    text: String,
    budget: u64,
}

impl Lines {
    /// Adds a record on one line, secrets masked, if there is room; returns whether there was.
    fn add(&mut self, record: &str) -> bool {
        let line = one_line(&secrets::mask(record).text);
        let longer = format!("{}{line}\n", self.text);
        let fits = estimate(&longer) <= self.budget;
        if fits {
            self.text = longer;
        }
        fits
    }
}

/// Whether a bead lists a decision as its own.
fn names(bead: &Bead, made: &Recollected) -> bool {
    let mut own = bead.decisions.iter();
    own.any(|own| own.ts == made.decision.ts)
}

/// Returns a decision with its reason, its places and how far it can be relied on.
fn decided(made: &Recollected) -> String {
    let decision = &made.decision;
    let mut text = format!("Decided: {}", decision.title);
    let because = decision.rationale.as_deref().unwrap_or_default().trim();
    if !because.is_empty() {
        text.push_str(". Because: ");
        text.push_str(because.trim_end_matches('.'));
    }
    let places = decision.evidence.iter().map(Evidence::identifier);
    let places: Vec<String> = places
        .take(MOST_PLACES)
        .map(|place| place.trim_start_matches(ROOT).to_owned())
        .collect();
    if !places.is_empty() {
        text.push_str(" (");
        text.push_str(&places.join(", "));
        text.push(')');
    }
    format!("{text} [{}]", made.trust.name())
}

/// Returns the line of other ids, if there are any: decisions without room, then `others`.
fn further(ids: &[&str], older: usize, others: &[String]) -> Option<String> {
    let all = ids.len() + older;
    let named = &ids[..ids.len().min(MOST_IDS)];
    let what = if all == 1 { "decision" } else { "decisions" };
    let ids = match named {
        [] => String::new(),
        named => format!(" ({})", named.join(", ")),
    };
    let decisions =
        (all > 0).then(|| format!("{all} more {what}{ids}: `callosum session recover --level 2`"));
    let parts: Vec<String> = decisions
        .into_iter()
        .chain(others.iter().cloned())
        .collect();
    (!parts.is_empty()).then(|| format!("Also: {}", parts.join("; ")))
}

/// Returns the ids of other beads and of entries of the ledger, within their part of the budget.
fn others(recollection: &Recollection, budget: u64) -> Vec<String> {
    let beads = &recollection.other_beads;
    let named = &beads[..beads.len().min(MOST_BEADS)];
    let more = match beads.len() - named.len() {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    let beads = (!named.is_empty())
        .then(|| format!("beads {}{more}: `callosum bead show ID`", named.join(", ")));
    let entries = &recollection.entries;
    let entries = (!entries.is_empty())
        .then(|| format!("ledger {}: `callosum ledger show ID`", entries.join(", ")));
    let mut others: Vec<String> = beads.into_iter().chain(entries).collect();
    while !others.is_empty() && estimate(&others.join("; ")) > budget / LARGEST_PART {
        others.pop();
    }
    others
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{bead::BeadDecision, notes::Decision, recovery::Trust};

    fn made(ts: &str, title: &str, because: &str) -> Recollected {
        Recollected {
            decision: Decision {
                ts: ts.to_owned(),
                title: title.to_owned(),
                rationale: Some(because.to_owned()),
                ..Decision::default()
            },
            trust: Trust::QuoteFound,
        }
    }

    fn recollection() -> Recollection {
        let bead = Bead {
            title: "Rotate tokens".to_owned(),
            status: "in_progress".to_owned(),
            next_steps: vec!["Allow for clock skew".to_owned()],
            decisions: vec![BeadDecision {
                ts: "2026-01-01T00:00:00Z".to_owned(),
                ..BeadDecision::default()
            }],
            ..Bead::default()
        };
        Recollection {
            bead: Some(("bd-1".to_owned(), Some(bead))),
            decisions: vec![
                made(
                    "2026-01-03T00:00:00Z",
                    "Use one connection pool for all tenants",
                    "two ran out of sockets",
                ),
                made("2026-01-02T00:00:00Z", "Sliding expiry", ""),
                made(
                    "2026-01-01T00:00:00Z",
                    "Refresh tokens rotate on each use",
                    "stolen ones are found",
                ),
            ],
            questions: vec!["Per client?".to_owned()],
            ..Recollection::default()
        }
    }

    /// LOA-REC-1: task and next step first, then the task's own decisions, then the newest, each whole with its reason.
    #[test]
    fn whole_decisions_of_the_task_come_first_and_then_the_newest() {
        assert_eq!(
            at_start(&recollection(), 250),
            "Task: bd-1 Rotate tokens (in_progress)\n\
             Next: Allow for clock skew\n\
             Decided: Refresh tokens rotate on each use. Because: stolen ones are found [quote found]\n\
             Decided: Use one connection pool for all tenants. Because: two ran out of sockets [quote found]\n\
             Decided: Sliding expiry [quote found]\n\
             Open: Per client?\n"
        );
        assert_eq!(at_start(&Recollection::default(), 250), "");
        assert_eq!(at_start(&recollection(), 0), "");
    }

    /// LOA-REC-1: a decision without room is named by its id, and never cut.
    #[test]
    fn a_decision_without_room_is_named_by_its_id() {
        let mut state = recollection();
        state.decisions[0].decision.title = "word ".repeat(400);
        state.older = 2;
        let text = at_start(&state, 250);
        assert!(!text.contains("word"), "{text}");
        let last =
            "Also: 3 more decisions (2026-01-03T00:00:00Z): `callosum session recover --level 2`\n";
        assert!(text.ends_with(last), "{text}");
    }

    /// LOA-REC-1: beads and entries that are not shown are listed by their ids, on one line with
    /// the decisions.
    #[test]
    fn what_else_exists_is_named_on_the_last_line() {
        let mut state = recollection();
        state.other_beads = (2..9).map(|at| format!("bd-{at}")).collect();
        let text = at_start(&state, 300);
        let beads = "beads bd-2, bd-3, bd-4, bd-5, bd-6, 2 more: `callosum bead show ID`";
        assert!(
            text.ends_with(&format!("Open: Per client?\nAlso: {beads}\n")),
            "{text}"
        );
        state.entries = vec!["cal_1".to_owned(), "cal_2".to_owned()];
        state.older = 1;
        let text = at_start(&state, 300);
        let last = format!(
            "Also: 1 more decision: `callosum session recover --level 2`; {beads}; \
             ledger cal_1, cal_2: `callosum ledger show ID`\n"
        );
        assert!(text.ends_with(&last), "{text}");
        // They never take the room of records that are shown whole.
        assert!(!at_start(&state, 60).contains("bd-2"));
        let alone = Recollection {
            other_beads: vec!["bd-2".to_owned()],
            ..Recollection::default()
        };
        assert_eq!(
            at_start(&alone, 250),
            "Also: beads bd-2: `callosum bead show ID`\n"
        );
    }

    proptest! {
        /// LOA-REC-1: the budget holds, and each decision is whole, named or counted.
        #[test]
        fn no_text_exceeds_its_budget(
            titles in proptest::collection::vec("[a-zé ]{1,120}", 0..9), older in 0_usize..9, budget in 0_u64..400,
            beads in 0_usize..9,
        ) {
            let mut state = recollection();
            state.decisions = titles.iter().map(|title| made("2026-01-01", title, "b")).collect();
            state.older = older;
            state.other_beads = (0..beads).map(|at| format!("bd-{at}")).collect();
            state.entries = vec!["cal_2026_01_02_0001".to_owned()];
            let text = at_start(&state, budget);
            prop_assert!(estimate(&text) <= budget);
            for line in text.lines().filter_map(|line| line.strip_prefix("Decided: ")) {
                let is_whole = state.decisions.iter().any(|made| one_line(&decided(made)) == format!("Decided: {line}"));
                prop_assert!(is_whole, "{}", line);
            }
        }
    }
}
