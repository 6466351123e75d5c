//! Forks: places where code, bead, notes and trajectory contradict each other.
//!
//! The higher source wins (Seed LOA §2.2): code, then beads, then notes, then trajectory, then
//! design documents. Nothing is changed here; a fork is shown.

use std::collections::{HashMap, HashSet};

use callosum_redact::secrets::mask;

pub use crate::source::Source;
use crate::{
    bead::{Bead, is_closed},
    evidence::{Evidence, Tree},
    grounding::{Claim, time_of},
    notes::{Decision, Notes},
    sanitize::{MOST_TITLE_WORDS, cut_to, one_line},
};

/// Two that do not say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Source that is believed.
    pub wins: Source,
    /// Source that is not believed.
    pub loses: Source,
    /// The difference.
    pub what: String,
}

/// Compares these beads, each with its id, the notes, the claims and the tree with one another.
pub fn forks(
    beads: &[(String, Bead)],
    notes: &Notes,
    claims: &[Claim],
    tree: &Tree<'_>,
) -> Vec<Fork> {
    let mut forks = Vec::new();
    let mut fork = |wins, loses, what| forks.push(Fork { wins, loses, what });
    let decisions = notes.decisions();
    let mut by_ts: HashMap<&str, Vec<&Decision>> = HashMap::new();
    for known in &decisions {
        by_ts.entry(&known.ts).or_default().push(known);
    }
    // Of several of one time, the one is meant that has the words.
    let known_as = |ts: &str, words: &str| {
        let of_its_time = by_ts.get(ts)?;
        let with_words = of_its_time.iter().find(|known| known.words() == words);
        with_words.or_else(|| of_its_time.first()).copied()
    };
    let current = notes.active().bead;
    let mut claimed: HashMap<&str, Vec<&str>> = HashMap::new();
    for claim in claims {
        if claim.said_in != Source::Trajectory {
            continue;
        }
        if let Some(id) = claim.bead.as_deref() {
            let ts = claim.decision.as_deref().unwrap_or_default();
            claimed.entry(id).or_default().push(ts);
        }
    }
    let mut in_beads: HashSet<&str> = HashSet::new();
    for (id, bead) in beads {
        if current.as_deref() == Some(id) && is_closed(&bead.status) {
            let what = format!("{id} is {}, but is still the current bead", bead.status);
            fork(Source::Bead, Source::Notes, what);
        }
        let in_bead: HashSet<&str> = bead.decisions.iter().map(|made| made.ts.as_str()).collect();
        for made in &bead.decisions {
            match known_as(&made.ts, &made.decision) {
                None => {
                    let what = format!("the decision of {} in {id} is not in the notes", made.ts);
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(known) if known.words() != made.decision => {
                    let (ts, parted) = (&made.ts, parted(&made.decision, known.words()));
                    let what =
                        format!("the decision of {ts} has a different text in {id}: {parted}");
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(known)
                    if made
                        .evidence
                        .iter()
                        .any(|cited| !known.evidence.contains(cited)) =>
                {
                    let what = format!(
                        "the decision of {} has fewer citations than in {id}",
                        made.ts
                    );
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(_) => {}
            }
        }
        for ts in claimed.get(id.as_str()).into_iter().flatten() {
            if !in_bead.contains(time_of(ts)) {
                let what = format!("the decision of {ts} is not in {id}");
                fork(Source::Bead, Source::Trajectory, what);
            }
        }
        in_beads.extend(in_bead);
    }
    let (recorded, unrecorded): (Vec<&Claim>, Vec<&Claim>) = claims
        .iter()
        .partition(|claim| claim.said_in == Source::Trajectory);
    for claim in unrecorded {
        let ts = claim.decision.as_deref().unwrap_or_default();
        let what = format!("the decision of {ts} is not in the trajectory");
        fork(claim.said_in, Source::Trajectory, what);
    }
    // Names that are more than a time, if any is recorded.
    let mut names = recorded
        .iter()
        .filter_map(|claim| claim.decision.as_deref());
    let by_title: HashSet<String> = if names.any(|name| name.contains(' ')) {
        let undated = notes.undated().into_iter().map(|entry| entry.ts);
        decisions
            .iter()
            .map(Decision::heading)
            .chain(undated)
            .collect()
    } else {
        HashSet::new()
    };
    for claim in recorded {
        let Some(ts) = claim.decision.as_deref() else {
            continue;
        };
        if let Some(wins) = claim.revised_in {
            let what = format!(
                "the decision of {ts} has a different text or other evidence in the trajectory"
            );
            fork(wins, Source::Trajectory, what);
        }
        if !by_ts.contains_key(ts) && !by_title.contains(ts) {
            let what = format!("the decision of {ts} is not in the notes");
            fork(Source::Notes, Source::Trajectory, what);
        }
    }
    let mut stale = |loses, of: &str, evidence: &[Evidence]| {
        for cited in evidence {
            let standing = tree.stand(cited);
            if !standing.holds() {
                let what = format!(
                    "the decision of {of} cites {}: {standing}",
                    cited.identifier()
                );
                fork(Source::Code, loses, what);
            }
        }
    };
    for (id, bead) in beads {
        for made in &bead.decisions {
            stale(
                Source::Bead,
                &format!("{} in {id}", made.ts),
                &made.evidence,
            );
        }
    }
    let elsewhere = decisions
        .iter()
        .filter(|known| !in_beads.contains(known.ts.as_str()));
    for known in elsewhere {
        stale(Source::Notes, &known.ts, &known.evidence);
    }
    forks
}

/// Number of words shown before the first difference of two texts.
const SHARED_BEFORE: usize = 3;

/// Returns both texts from shortly before the first word in which they differ.
fn parted(believed: &str, other: &str) -> String {
    let [believed, other] = [believed, other].map(|text| one_line(&mask(text).text));
    let pairs = believed.split(' ').zip(other.split(' '));
    let shared = pairs.take_while(|(one, other)| one == other).count();
    let from = shared.saturating_sub(SHARED_BEFORE);
    let excerpt = |text: &str| {
        let words: Vec<&str> = text.split(' ').skip(from).collect();
        let begun = if from > 0 { "…" } else { "" };
        format!("{begun}{}", cut_to(&words.join(" "), MOST_TITLE_WORDS))
    };
    format!("`{}`, not `{}`", excerpt(&believed), excerpt(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-TRUTH-1: of two sources that differ, both texts are shown from the place where they
    /// part.
    #[test]
    fn both_texts_are_shown_from_where_they_part() {
        for (one, other, expected) in [
            (
                "Use three pagers",
                "Use one pager",
                "`Use three pagers`, not `Use one pager`",
            ),
            ("a b c d e f", "a b c d e\ng", "`…c d e f`, not `…c d e g`"),
            ("a", "", "`a`, not ``"),
            ("a b", "a b c", "`a b`, not `a b c`"),
        ] {
            assert_eq!(parted(one, other), expected);
        }
        let long = format!("now {}", "word ".repeat(80));
        assert!(
            parted(&long, "then").len() < 99,
            "{}",
            parted(&long, "then")
        );
    }
}
