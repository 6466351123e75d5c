//! [`Tally`]: the number of claims since the last hand-off, the number of unsupported ones, and the
//! first of those.

use super::{
    claim::{Claim, merged},
    ratio::Threshold,
    record_summary::Brief,
    report::{Grounded, Grounding},
};
use crate::{
    claim_scope::ClaimScope,
    config::Enforcement,
    evidence::Tree,
    trajectory::{Read, Record},
    transaction::{Session, SessionError},
    untracked_decisions::Unrecorded,
};

/// Counts of the claims since the last hand-off. The cost grows only with their number and the
/// length of their citations; a [`Grounding`] also has the reason why each of them is not grounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Number of claims.
    pub total: usize,
    /// Those that are not grounded, and that the project's settings do not admit without evidence.
    pub lacking: usize,
    /// The first of them.
    pub named: Vec<Grounded>,
    /// Whether some of them cite a file that is missing.
    pub cites_missing: bool,
    /// Lines of trajectories that are no record and may hide a claim, as `file:line`.
    pub unread: Vec<String>,
    /// The last hand-off of the session's own agent.
    pub handoff: Option<Record>,
}

impl Tally {
    /// Counts them, and looks at the first `most` that lack evidence which `enforcement` asks for.
    pub fn since_handoff(
        session: &Session<'_>,
        whose: ClaimScope,
        most: usize,
        enforcement: Enforcement,
    ) -> Result<Self, SessionError> {
        let read: Read<Brief> = session.kept_since_handoff(whose)?;
        let tree = Tree::new(session.disk, &session.zones.tree);
        let records = read.records.into_iter();
        let mut claims = merged(records.filter_map(|(file, brief)| brief.claim(&file)));
        let of_beads = claims.iter().map(|claim| {
            let bead = claim.bead.as_deref().unwrap_or_default();
            (claim.decision.as_deref().unwrap_or_default(), bead)
        });
        let revised = session.revised(of_beads)?;
        let claimed = claims
            .iter()
            .map(|claim| (claim.decision.as_deref().unwrap_or_default(), &*claim.text));
        let unrecorded = session.unrecorded(claimed)?;
        let revise = |claim| revised.applied(claim);
        claims = claims.into_iter().map(revise).collect();
        claims.extend(unrecorded.iter().map(Unrecorded::claim));
        let mut tally = Self {
            total: claims.len(),
            unread: read
                .unread
                .iter()
                .map(|unread| format!("{}:{}", unread.file, unread.line))
                .collect(),
            handoff: read.handoff.map(|(_, record)| record),
            ..Self::default()
        };
        let lacking: Vec<Claim> = claims
            .into_iter()
            .filter(|claim| !claim.is_grounded(&tree))
            .collect();
        if lacking.is_empty() {
            return Ok(tally);
        }
        let marked = session.marked()?;
        for claim in lacking {
            if enforcement.admits(marked.kind_of(&claim)) {
                continue;
            }
            tally.lacking += 1;
            tally.cites_missing |= claim.evidence.iter().any(|cited| tree.lacks(&cited.path));
            if tally.named.len() < most {
                tally
                    .named
                    .push(Grounding::look(claim, &tree).marked(&marked));
            }
        }
        Ok(tally)
    }

    /// Whether the share that is grounded reaches a threshold and no line may hide a claim. Of no claims, none is missing.
    pub fn passes(&self, threshold: &Threshold) -> bool {
        self.unread.is_empty() && threshold.is_reached(self.total - self.lacking, self.total)
    }
}
