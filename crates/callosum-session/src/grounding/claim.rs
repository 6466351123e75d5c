//! [`Claim`]: what a record of the phase `cite` says, and what it says it leans on.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    bead::evidence_of,
    evidence::{Evidence, Relative, Tree},
    fork::Source,
    trajectory::Record,
};

/// What a claim leans on, as it says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// Places in the tree.
    Citation,
    /// Nothing yet: it is an assumption.
    Assumption,
    /// The user's word.
    UserInput,
    /// Something else, or nothing.
    Other,
}

impl ClaimKind {
    /// The kind that a record names.
    pub(super) fn named(name: Option<&str>) -> Self {
        match name {
            Some("citation" | "code_reference") => Self::Citation,
            Some("assumption") => Self::Assumption,
            Some("user_input") => Self::UserInput,
            _ => Self::Other,
        }
    }
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its words.
    pub text: String,
    /// The time of the decision that it is, where it is one.
    pub decision: Option<String>,
    /// The bead that it belongs to.
    pub bead: Option<String>,
    /// What it leans on, as it says.
    pub kind: ClaimKind,
    /// The places that it cites.
    pub evidence: Vec<Evidence>,
    /// Places that are named in a way that nobody can look up.
    pub unread: usize,
    /// How often what the decision leans on was said anew before, across the files of all agents.
    pub revision: u32,
    /// Where its record stands: `file:line`; of a decision that no trajectory has, where it stands instead.
    pub place: String,
    /// What has it: a trajectory, else the notes or a bead.
    pub said_in: Source,
    /// What says something else of it than its record, and counts instead.
    pub revised_in: Option<Source>,
}

impl Claim {
    /// Whether it says that it cites the tree, and every place that it cites holds.
    pub(super) fn is_grounded(&self, tree: &Tree<'_>) -> bool {
        self.cites() && self.evidence.iter().all(|cited| tree.holds(cited))
    }

    /// Whether it says that it cites the tree, and names places that can be looked up.
    pub(super) fn cites(&self) -> bool {
        self.kind == ClaimKind::Citation && self.unread == 0 && !self.evidence.is_empty()
    }
}

/// The claims of records. A later record of the same decision stands in for the earlier one; of
/// two in files of different agents, the one of the higher revision, and of one revision, whose order
/// nobody knows, the one with more evidence.
pub fn claims(records: &[(String, Record)]) -> Vec<Claim> {
    let cited = records.iter();
    let cited = cited.filter(|(_, record)| record.phase() == "cite");
    merged(cited.map(|(file, record)| Claim {
        place: format!("{file}:{}", record.line),
        ..claim_of(record)
    }))
}

/// The claims, one for each decision.
pub(super) fn merged(all: impl Iterator<Item = Claim>) -> Vec<Claim> {
    fn file(claim: &Claim) -> Option<&str> {
        claim.place.rsplit_once(':').map(|(file, _)| file)
    }
    let mut claims: Vec<Claim> = Vec::new();
    let mut of_decision: HashMap<String, usize> = HashMap::new();
    for claim in all {
        let known = claim.decision.as_ref().and_then(|ts| of_decision.get(ts));
        if let Some(&known) = known {
            let before = &claims[known];
            let is_same_file = file(before) == file(&claim);
            let weight = |claim: &Claim| (claim.revision, claim.evidence.len());
            if is_same_file || weight(before) <= weight(&claim) {
                claims[known] = claim;
            }
            continue;
        }
        if let Some(ts) = &claim.decision {
            of_decision.insert(ts.clone(), claims.len());
        }
        claims.push(claim);
    }
    claims
}

/// What one record claims, without where it stands.
pub(crate) fn claim_of(record: &Record) -> Claim {
    let members = &record.members;
    let grounding = match members.get("grounding") {
        Some(Value::Object(inner)) => inner.get("type").and_then(Value::as_str),
        Some(value) => value.as_str(),
        None => None,
    };
    let kind = ClaimKind::named(grounding);
    let mut evidence = Vec::new();
    let mut unread = 0;
    let mut take = |found: Option<Evidence>| match found {
        Some(found) => evidence.push(found),
        None => unread += 1,
    };
    match members.get("evidence") {
        Some(Value::Array(items)) => {
            for item in items {
                match item {
                    Value::String(text) => {
                        let (found, bad) = Evidence::find(text);
                        if found.is_empty() || bad > 0 {
                            take(None);
                        }
                        for found in found {
                            take(Some(found));
                        }
                    }
                    item => take(evidence_of(item)),
                }
            }
        }
        Some(Value::Null) | None => {}
        Some(item @ Value::Object(_)) => take(evidence_of(item)),
        Some(_) => take(None),
    }
    // Other writers have the place and the quote beside the claim.
    let quote = members.get("quote").and_then(Value::as_str);
    if members.contains_key("path") {
        take(evidence_of(&Value::Object(members.clone())));
    } else if let Some(source) = members.get("source").and_then(Value::as_str) {
        let place = Evidence::parse(source, Relative::Refused);
        take(place.map(|place| Evidence {
            quote: quote.map(str::to_owned),
            ..place
        }));
    }
    let decision = record.text("decision");
    Claim {
        text: record.text("claim").to_owned(),
        bead: Some(record.text("bead_id").to_owned()).filter(|id| !id.is_empty()),
        decision: Some(decision.to_owned()).filter(|ts| !ts.is_empty()),
        kind,
        evidence,
        unread,
        revision: revision_of(record),
        place: String::new(),
        said_in: Source::Trajectory,
        revised_in: None,
    }
}

/// The revision that a record says it is; the first where it says none.
pub(crate) fn revision_of(record: &Record) -> u32 {
    let said = record.members.get("revision").and_then(Value::as_u64);
    said.and_then(|revision| u32::try_from(revision).ok())
        .unwrap_or_default()
}
