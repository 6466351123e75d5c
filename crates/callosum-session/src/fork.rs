//! Forks: places where code, bead, notes and trajectory do not say the same.
//!
//! The higher of two wins (Seed LOA §2.2): code, then beads, then notes, then trajectory. Nothing is
//! changed here; a fork is shown.

use std::fmt;

use crate::{
    bead::{Bead, is_closed},
    evidence::{Evidence, Tree},
    grounding::Claim,
    notes::Notes,
};

/// Where something is said; the first is believed before the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The tree as it is.
    Code,
    /// A bead.
    Bead,
    /// `NOTES.md`.
    Notes,
    /// The trajectory.
    Trajectory,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "code",
            Self::Bead => "bead",
            Self::Notes => "NOTES.md",
            Self::Trajectory => "trajectory",
        })
    }
}

/// Two that do not say the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Which is believed.
    pub wins: Source,
    /// Which is not.
    pub loses: Source,
    /// What they differ in.
    pub what: String,
}

/// Compares what is said of one bead, or of none.
pub fn forks(
    bead: Option<(&str, &Bead)>,
    notes: &Notes,
    claims: &[Claim],
    tree: &Tree<'_>,
) -> Vec<Fork> {
    let mut forks = Vec::new();
    let mut fork = |wins, loses, what| forks.push(Fork { wins, loses, what });
    let decisions = notes.decisions();
    if let Some((id, bead)) = bead {
        let is_current = notes.active().bead.as_deref() == Some(id);
        if is_current && is_closed(&bead.status) {
            let what = format!("{id} is {}, and stands as the current bead", bead.status);
            fork(Source::Bead, Source::Notes, what);
        }
        for made in &bead.decisions {
            match decisions.iter().find(|known| known.ts == made.ts) {
                None => {
                    let what = format!("the decision of {} is not in the notes", made.ts);
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(known)
                    if known.decision.trim_end_matches(" [ASSUMPTION]") != made.decision =>
                {
                    let what = format!("the decision of {} has other words", made.ts);
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(_) => {}
            }
        }
        let is_of_bead = |claim: &&Claim| claim.bead.as_deref() == Some(id);
        for claim in claims.iter().filter(is_of_bead) {
            let ts = claim.decision.as_deref().unwrap_or_default();
            if !bead.decisions.iter().any(|made| made.ts == ts) {
                let what = format!("the decision of {ts} is not in {id}");
                fork(Source::Bead, Source::Trajectory, what);
            }
        }
    }
    for ts in claims.iter().filter_map(|claim| claim.decision.as_deref()) {
        if !decisions.iter().any(|known| known.ts == ts) {
            let what = format!("the decision of {ts} is not in the notes");
            fork(Source::Notes, Source::Trajectory, what);
        }
    }
    let mut stale = |loses, ts: &str, evidence: &[Evidence]| {
        for cited in evidence {
            let standing = tree.stand(cited);
            if !standing.holds() {
                let what = format!(
                    "the decision of {ts} cites {}: {standing}",
                    cited.identifier()
                );
                fork(Source::Code, loses, what);
            }
        }
    };
    for made in bead.iter().flat_map(|(_, bead)| &bead.decisions) {
        stale(Source::Bead, &made.ts, &made.evidence);
    }
    let is_in_bead =
        |ts: &str| bead.is_some_and(|(_, bead)| bead.decisions.iter().any(|made| made.ts == ts));
    for known in decisions.iter().filter(|known| !is_in_bead(&known.ts)) {
        stale(Source::Notes, &known.ts, &known.evidence);
    }
    forks
}
