//! Ghosts: features that are documented as missing, with evidence from searches (Seed LOA §4.2).
//!
//! Start with [`LockedSession::ghost`]. An empty result is evidence only if two different queries
//! found nothing and a control, which is known to exist, was found: a search that never finds
//! anything would make a ghost of everything.

use serde_json::{Value, json};

use crate::{
    grounding::Claim,
    notes::Notes,
    sanitize::{Redaction, one_line},
    timestamp::second,
    trajectory::{Record, content_of, day_files, records},
    transaction::{Intent, LockedSession, Session, SessionError, Written},
};

/// Two queries that share more of their words than this are one query twice, in percent.
const MOST_ALIKE: usize = 50;

/// Score from which on a passage counts as found (Seed LOA §4.2).
pub const THRESHOLD: f64 = 0.4;

/// Mark that people and agents write next to a feature that is documented as missing
/// (Seed LOA §4.2).
pub(crate) const MARK: &str = "[UNVERIFIED GHOST]";

/// The phase of a feature that was looked for and is there after all.
const REFUTED: &str = "ghost_refuted";

/// A query, and how much it found from [`THRESHOLD`] on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GhostQuery {
    /// Search query.
    pub query: String,
    /// Number of passages found.
    pub results: usize,
}

/// A feature that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GhostSearch {
    /// The feature, as it is called.
    pub feature: String,
    /// Queries for the feature.
    pub queries: Vec<GhostQuery>,
    /// Query for something that is known to exist.
    pub control: GhostQuery,
}

/// Result of a search for a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ghosted {
    /// Whether it is not there.
    pub is_ghost: bool,
    /// The record's place in the trajectory.
    pub written: Written,
}

/// Error for a search that proves nothing. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum GhostError {
    /// It shows neither that the feature is there nor that it is not.
    #[error("the search does not prove that `{feature}` is missing: {why}")]
    ShowsNothing {
        /// The feature.
        feature: String,
        /// Cause.
        why: &'static str,
    },
    /// The files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl LockedSession<'_> {
    /// Records the result of a search for a feature: that it is missing, or that it exists after
    /// all, which also answers an earlier record of it.
    pub fn ghost(&self, search: &GhostSearch) -> Result<Ghosted, GhostError> {
        let session = &self.session;
        let mut redaction = Redaction::default();
        let mut asked = |asked: &GhostQuery| json!({"query": redaction.statement(&asked.query), "results": asked.results});
        let queries: Vec<Value> = search.queries.iter().map(&mut asked).collect();
        let control = asked(&search.control);
        let feature = redaction.statement(&search.feature);
        let is_there = search.queries.iter().any(|query| query.results > 0);
        let ts = second(session.clock.now());
        let phase = if is_there { REFUTED } else { "ghost" };
        let record = json!({
            "ts": ts, "agent": session.agent.as_str(), "phase": phase, "feature": feature,
            "queries": queries, "control": control, "threshold": THRESHOLD,
        });
        if !is_there && let Err(why) = shown(&record) {
            return Err(GhostError::ShowsNothing { feature, why });
        }
        let written = self.commit(&Intent {
            format: 1,
            agent: session.agent.to_string(),
            day: ts[..10].to_owned(),
            notes: Vec::new(),
            bead: None,
            records: vec![record],
        })?;
        Ok(Ghosted {
            is_ghost: !is_there,
            written,
        })
    }
}

impl Session<'_> {
    /// Returns features marked as ghosts in the notes or in these claims, without the mark, each
    /// with its place, that were never searched for: no record names a feature contained in the
    /// text.
    ///
    /// If anything is marked, reads all trajectories.
    pub(crate) fn unlooked(
        &self,
        notes: &Notes,
        claims: &[Claim],
    ) -> Result<Vec<(String, String)>, SessionError> {
        let file = self.zones.named(&self.zones.notes());
        let in_notes = notes.marked_with(MARK).into_iter();
        let mut marked: Vec<(String, String)> = in_notes
            .map(|(line, words)| (words, format!("{file}:{line}")))
            .collect();
        for claim in claims.iter().filter(|claim| claim.text.contains(MARK)) {
            let words = one_line(&claim.text.replace(MARK, ""));
            if marked.iter().all(|(known, _)| *known != words) {
                marked.push((words, claim.place.clone()));
            }
        }
        if marked.is_empty() {
            return Ok(marked);
        }
        let mut features: Vec<String> = Vec::new();
        for file in day_files(self.disk, self.zones)? {
            let Some(bytes) = content_of(self.disk, &file)? else {
                continue;
            };
            let there = records(&bytes).records;
            let there: Vec<&Record> = there.iter().collect();
            let looked_for = last_of_each(&there).into_iter().filter(|record| {
                record.phase() == REFUTED || shown(&Value::Object(record.members.clone())).is_ok()
            });
            features.extend(looked_for.map(|record| record.text("feature").to_lowercase()));
        }
        features.retain(|feature| !feature.trim().is_empty());
        marked.retain(|(words, _)| {
            let words = words.to_lowercase();
            !features
                .iter()
                .any(|feature| words.contains(feature.as_str()))
        });
        Ok(marked)
    }
}

/// Returns the features that records say are not there and that nothing shows, each with why. The
/// last record of a feature counts.
pub(crate) fn unverified(records: &[&Record]) -> Vec<(String, &'static str)> {
    let last = last_of_each(records).into_iter();
    last.filter(|record| record.phase() != REFUTED)
        .filter_map(|record| {
            let why = shown(&Value::Object(record.members.clone())).err()?;
            Some((record.text("feature").to_owned(), why))
        })
        .collect()
}

/// Returns the command that looks for a feature, to be pasted after its queries are filled in.
pub(crate) fn search_command(feature: &str) -> String {
    let feature = match one_line(feature).as_str() {
        "" => "FEATURE".to_owned(),
        feature => format!("'{}'", feature.replace('\'', r"'\''")),
    };
    format!("callosum session ghost {feature} --query QUERY --query QUERY --control QUERY")
}

/// Returns the last record of each feature that was called missing.
fn last_of_each<'r>(records: &[&'r Record]) -> Vec<&'r Record> {
    let mut last: Vec<&Record> = Vec::new();
    for &record in records {
        let is_flag = matches!(
            record.phase(),
            "ghost" | "ghost_feature" | "negative_grounding" | REFUTED
        );
        if is_flag {
            last.retain(|known| known.text("feature") != record.text("feature"));
            last.push(record);
        }
    }
    last
}

/// Whether a record shows that a feature is not there.
fn shown(record: &Value) -> Result<(), &'static str> {
    let queries = record.get("queries").and_then(Value::as_array);
    let queries: Vec<&Value> = queries.into_iter().flatten().collect();
    let text = |query: &Value| {
        query
            .get("query")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let found_nothing = |query: &&Value| query.get("results").and_then(Value::as_u64) == Some(0);
    if queries.len() < 2 {
        return Err("fewer than two queries were run");
    }
    if !queries.iter().all(found_nothing) {
        return Err("a query found something");
    }
    let texts: Vec<String> = queries.iter().map(|query| text(query)).collect();
    let differ = texts.iter().enumerate().any(|(at, one)| {
        texts[at + 1..]
            .iter()
            .any(|other| alike(one, other) <= MOST_ALIKE)
    });
    if !differ {
        return Err("the queries are too similar");
    }
    let control = record
        .get("control")
        .and_then(|control| control.get("results"));
    match control.and_then(Value::as_u64) {
        Some(results) if results > 0 => Ok(()),
        _ => Err("no positive control found what is known to exist"),
    }
}

/// Returns the share of words that two queries have in common, in percent.
fn alike(one: &str, other: &str) -> usize {
    let words = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        words.sort_unstable();
        words.dedup();
        words
    };
    let (one, other) = (words(one), words(other));
    let shared = one.iter().filter(|word| other.contains(word)).count();
    (shared * 200)
        .checked_div(one.len() + other.len())
        .unwrap_or(100)
}
