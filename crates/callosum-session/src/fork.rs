//! Forks: places where code, bead, notes and trajectory do not say the same.
//!
//! The higher of two wins (Seed LOA §2.2): code, then beads, then notes, then trajectory, then what was
//! designed. Nothing is
//! changed here; a fork is shown.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use crate::{
    bead::{Bead, is_closed},
    evidence::{Evidence, Tree},
    grounding::Claim,
    notes::{Decision, Notes},
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
    /// A design document.
    Design,
    /// A document that nobody keeps up any more.
    Legacy,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "code",
            Self::Bead => "bead",
            Self::Notes => "NOTES.md",
            Self::Trajectory => "trajectory",
            Self::Design => "design",
            Self::Legacy => "legacy document",
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
    let by_ts: HashMap<&str, &Decision> = decisions
        .iter()
        .rev()
        .map(|known| (known.ts.as_str(), known))
        .collect();
    let in_bead: HashSet<&str> = bead
        .iter()
        .flat_map(|(_, bead)| &bead.decisions)
        .map(|made| made.ts.as_str())
        .collect();
    if let Some((id, bead)) = bead {
        let is_current = notes.active().bead.as_deref() == Some(id);
        if is_current && is_closed(&bead.status) {
            let what = format!("{id} is {}, and stands as the current bead", bead.status);
            fork(Source::Bead, Source::Notes, what);
        }
        for made in &bead.decisions {
            match by_ts.get(made.ts.as_str()) {
                None => {
                    let what = format!("the decision of {} is not in the notes", made.ts);
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(known) if known.words() != made.decision => {
                    let what = format!("the decision of {} has other words", made.ts);
                    fork(Source::Bead, Source::Notes, what);
                }
                Some(_) => {}
            }
        }
        let is_of_bead = |claim: &&Claim| claim.bead.as_deref() == Some(id);
        for claim in claims.iter().filter(is_of_bead) {
            let ts = claim.decision.as_deref().unwrap_or_default();
            if !in_bead.contains(ts) {
                let what = format!("the decision of {ts} is not in {id}");
                fork(Source::Bead, Source::Trajectory, what);
            }
        }
    }
    for ts in claims.iter().filter_map(|claim| claim.decision.as_deref()) {
        if !by_ts.contains_key(ts) {
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
    for known in decisions
        .iter()
        .filter(|known| !in_bead.contains(known.ts.as_str()))
    {
        stale(Source::Notes, &known.ts, &known.evidence);
    }
    forks
}
