//! [`Grounding`]: the claims looked up and counted, and the lines that the seed's script prints.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    claim::{Claim, ClaimKind, claims},
    claim_records::ClaimRecords,
    manual_marks::Marked,
    ratio::{Threshold, shown_ratio},
};
use crate::{
    config::Enforcement,
    evidence::{EvidenceStatus, Tree},
};

/// A claim, and the status of its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounded {
    /// The claim.
    pub claim: Claim,
    /// One for each piece of evidence, in its order.
    pub standings: Vec<EvidenceStatus>,
}

/// The claims since the last hand-off, looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounding {
    /// Whether there is any trajectory.
    pub is_there: bool,
    /// All claims.
    pub claims: Vec<Grounded>,
    /// Lines of the trajectory that are no record.
    pub bad_lines: usize,
}

impl Grounded {
    /// Whether it says that it cites the tree, and every place that it cites holds.
    pub fn is_grounded(&self) -> bool {
        self.claim.cites() && self.standings.iter().all(EvidenceStatus::holds)
    }

    /// The same, with the kind that a person has marked it as, if it is not grounded.
    pub(super) fn marked(mut self, marked: &Marked) -> Self {
        if !self.is_grounded() {
            self.claim.kind = marked.kind_of(&self.claim);
        }
        self
    }

    /// Returns the reason why it is not grounded, on one line.
    pub fn complaint(&self) -> String {
        match self.claim.kind {
            ClaimKind::Assumption => return "[ASSUMPTION]".to_owned(),
            ClaimKind::UserInput => return "the user's word".to_owned(),
            ClaimKind::Citation | ClaimKind::Other => {}
        }
        if self.claim.unread > 0 {
            return format!(
                "{}: evidence without a place",
                EvidenceStatus::BadFormat.name()
            );
        }
        if self.claim.kind == ClaimKind::Other || self.standings.is_empty() {
            return "no evidence".to_owned();
        }
        let mut parts = Vec::new();
        for (evidence, standing) in self.claim.evidence.iter().zip(&self.standings) {
            if !standing.holds() {
                parts.push(format!("{} {standing}", evidence.identifier()));
            }
        }
        parts.join("; ")
    }
}

/// Returns the time, or the time and title, that name the first decision among `claims` that is not grounded, as a shell
/// hands it to `session cite`; the word `TIME` if none of them is a decision.
pub fn lacking_time<'c>(claims: impl IntoIterator<Item = &'c Grounded>) -> String {
    let mut lacking = claims.into_iter().filter(|claim| !claim.is_grounded());
    let time = lacking.find_map(|claim| claim.claim.decision.as_deref());
    let time = time.unwrap_or("TIME");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-:.+".contains(c);
    if time.chars().all(is_plain) {
        return time.to_owned();
    }
    format!("'{}'", time.replace('\'', r"'\''"))
}

impl Grounding {
    /// Checks the claims of the records that were read.
    pub fn of(read: &ClaimRecords, tree: &Tree<'_>) -> Self {
        let recorded = claims(&read.recorded.records).into_iter();
        let recorded = recorded.map(|claim| read.revised.applied(claim));
        let claims = recorded.chain(read.unrecorded.iter().cloned());
        let claims = claims.map(|claim| Self::look(claim, tree).marked(&read.marked));
        Self {
            is_there: read.recorded.is_there,
            claims: claims.collect(),
            bad_lines: read.recorded.bad_lines(),
        }
    }

    /// Looks up one claim.
    pub(super) fn look(claim: Claim, tree: &Tree<'_>) -> Grounded {
        let cited = claim.evidence.iter();
        Grounded {
            standings: cited.map(|evidence| tree.stand(evidence)).collect(),
            claim,
        }
    }

    /// Returns all claims.
    pub fn total(&self) -> usize {
        self.claims.len()
    }

    /// Returns those that are grounded.
    pub fn grounded(&self) -> usize {
        self.claims
            .iter()
            .filter(|claim| claim.is_grounded())
            .count()
    }

    /// Returns those of this kind.
    pub fn of_kind(&self, kind: ClaimKind) -> usize {
        self.claims
            .iter()
            .filter(|claim| claim.claim.kind == kind)
            .count()
    }

    /// Returns the claims that are not grounded and that `enforcement` does not admit without evidence.
    pub fn lacking(&self, enforcement: Enforcement) -> impl Iterator<Item = &Grounded> {
        let claims = self.claims.iter();
        claims.filter(move |claim| !claim.is_grounded() && !enforcement.admits(claim.claim.kind))
    }

    /// Whether the share of claims that lack nothing under `enforcement` reaches a threshold.
    pub fn passes_under(&self, threshold: &Threshold, enforcement: Enforcement) -> bool {
        let lacking = self.lacking(enforcement).count();
        threshold.is_reached(self.total() - lacking, self.total())
    }

    /// Whether the share that is grounded reaches a threshold. Of no claims, none is missing.
    pub fn passes(&self, threshold: &Threshold) -> bool {
        threshold.is_reached(self.grounded(), self.total())
    }

    /// Returns the ratio with two decimals, cut.
    pub fn ratio(&self) -> String {
        shown_ratio(self.grounded(), self.total())
    }

    /// Returns the lines of the seed's `grounding-check.sh` (Seed LOA §4.2). Numbers that the seed
    /// does not print have lines of their own, and only if they are not zero.
    pub fn lines(&self, threshold: &Threshold) -> String {
        if !self.is_there {
            return "No trajectory log found for today\n".to_owned();
        }
        let mut text = String::new();
        let total = self.total();
        if total > 0 {
            let _ = writeln!(text, "total_claims={total}");
            let _ = writeln!(text, "grounded_claims={}", self.grounded());
            let _ = writeln!(text, "assumptions={}", self.of_kind(ClaimKind::Assumption));
            let by_user = self.of_kind(ClaimKind::UserInput);
            if by_user > 0 {
                let _ = writeln!(text, "user_input={by_user}");
            }
        }
        if self.bad_lines > 0 {
            let _ = writeln!(text, "bad_lines={}", self.bad_lines);
        }
        let ratio = self.ratio();
        let _ = writeln!(text, "grounding_ratio={ratio}");
        if self.passes(threshold) {
            let _ = writeln!(text, "status=pass");
        } else {
            let _ = writeln!(text, "status=fail");
            let _ = writeln!(
                text,
                "message=Grounding ratio {ratio} below threshold {threshold}"
            );
        }
        text
    }

    /// Returns the record of a check (Seed LOA §5.3).
    pub fn record(&self, ts: &str, agent: &str, threshold: &Threshold) -> Value {
        let hundredths = (self.grounded() * 100)
            .checked_div(self.total())
            .unwrap_or(100);
        json!({
            "ts": ts, "agent": agent, "phase": "grounding_check", "total_claims": self.total(),
            "grounded_claims": self.grounded(), "assumptions": self.of_kind(ClaimKind::Assumption),
            "grounding_ratio": hundredths as f64 / 100.0, "threshold": threshold.as_f64(),
            "status": if self.passes(threshold) { "pass" } else { "fail" },
        })
    }
}

#[cfg(test)]
mod tests;
