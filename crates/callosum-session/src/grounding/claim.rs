//! [`Claim`]: the content of a record of the phase `cite`, and the evidence that it gives.

use std::collections::HashMap;

use serde_json::Value;

use super::same_time::{ClaimKey, SameTime};
use crate::{
    bead::evidence_of,
    evidence::{Evidence, Relative, Tree},
    notes::is_time,
    sanitize::title_of,
    source::Source,
    trajectory::Record,
};

/// Kind of evidence, as the claim declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// Places in the tree.
    Citation,
    /// No evidence yet: it is an assumption.
    Assumption,
    /// The user's word.
    UserInput,
    /// Something else, or nothing.
    Other,
}

impl ClaimKind {
    /// Returns the kind that a record names.
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
    /// Its title, if one is recorded.
    pub title: String,
    /// Time of the decision, if it is one.
    pub decision: Option<String>,
    /// The bead that it belongs to.
    pub bead: Option<String>,
    /// Kind of evidence, as declared.
    pub kind: ClaimKind,
    /// The places that it cites.
    pub evidence: Vec<Evidence>,
    /// Number of cited places in a form that cannot be looked up.
    pub unread: usize,
    /// Number of earlier times that the decision's evidence was restated, across the files of all
    /// agents.
    pub revision: u32,
    /// Place of its record: `file:line`; for a decision that is in no trajectory, its place
    /// elsewhere.
    pub place: String,
    /// Source that has it: a trajectory, or else the notes or a bead.
    pub said_in: Source,
    /// Source whose wording differs from the record's and counts instead.
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

/// Returns the claims of records. A later record of the same decision replaces the earlier one. Of
/// two in files of different agents, the one of the higher revision counts; of the same revision,
/// whose order is unknown, the one with more evidence.
///
/// Decisions are the same if they have the same time and words; a restatement only needs the same
/// time or title.
pub fn claims(records: &[(String, Record)]) -> Vec<Claim> {
    let cited = records.iter();
    let cited = cited.filter(|(_, record)| record.phase() == "cite");
    merged(cited.map(|(file, record)| Claim {
        place: format!("{file}:{}", record.line),
        ..claim_of(record)
    }))
}

/// Returns the claims, one for each decision. Two checkouts may make decisions in the same second:
/// those that share a time are named by time and title.
pub(super) fn merged(all: impl Iterator<Item = Claim>) -> Vec<Claim> {
    let mut merged = Merged::default();
    let mut restated = Vec::new();
    for (order, claim) in all.enumerate() {
        // A restatement belongs to the first statement, whichever file is read first.
        if claim.revision > 0 && claim.decision.is_some() {
            restated.push((order, claim));
        } else {
            merged.take(order, claim);
        }
    }
    for (order, claim) in restated {
        merged.take(order, claim);
    }
    merged.claims()
}

/// Claims as they come together.
#[derive(Default)]
struct Merged {
    /// Each with its place among all records.
    claims: Vec<(usize, Claim)>,
    /// Those of one time, by that.
    of_time: HashMap<String, SameTime>,
}

impl Merged {
    fn take(&mut self, order: usize, claim: Claim) {
        let Some(name) = claim.decision.as_deref() else {
            self.claims.push((order, claim));
            return;
        };
        let time = time_of(name).to_owned();
        let key = ClaimKey::new(&claim, &time);
        let of_time = self.of_time.entry(time.clone()).or_default();
        let Some(known) = of_time.same(&key, claim.revision) else {
            of_time.insert(self.claims.len(), key);
            self.claims.push((order, claim));
            return;
        };
        let (first, before) = &mut self.claims[known];
        *first = order.min(*first);
        let is_same_file = file(before) == file(&claim);
        let weight = |claim: &Claim| (claim.revision, claim.evidence.len());
        if is_same_file || weight(before) <= weight(&claim) {
            of_time.remove(known, &ClaimKey::new(before, &time));
            of_time.insert(known, key);
            *before = claim;
        }
    }

    fn claims(mut self) -> Vec<Claim> {
        for (time, sharing) in &self.of_time {
            if sharing.all.len() < 2 {
                continue;
            }
            for at in &sharing.all {
                let claim = &mut self.claims[*at].1;
                if claim.decision.as_deref() == Some(time) {
                    let title = match claim.title.as_str() {
                        "" => title_of(&claim.text),
                        title => title.to_owned(),
                    };
                    claim.decision = Some(format!("{time} - {title}"));
                }
            }
        }
        self.claims.sort_by_key(|(order, _)| *order);
        self.claims.into_iter().map(|(_, claim)| claim).collect()
    }
}

fn file(claim: &Claim) -> Option<&str> {
    claim.place.rsplit_once(':').map(|(file, _)| file)
}

/// Returns the time in the name of a decision, which may have a title after it; the whole name if
/// it has no time.
pub(crate) fn time_of(name: &str) -> &str {
    let parts = name.split_once(" - ");
    let time = parts.map(|(ts, _)| ts).filter(|ts| is_time(ts));
    time.unwrap_or(name)
}

/// Returns the claim of one record, without its place.
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
    // Other writers put the place and the quote next to the claim.
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
        title: record.text("title").to_owned(),
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

/// Returns the revision number of a record; 0 if it has none.
pub(crate) fn revision_of(record: &Record) -> u32 {
    let stored = record.members.get("revision").and_then(Value::as_u64);
    stored
        .and_then(|revision| u32::try_from(revision).ok())
        .unwrap_or_default()
}
