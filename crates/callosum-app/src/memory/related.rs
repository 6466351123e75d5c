//! Past turns about the work that a session begins with, for its digest.
//!
//! The index is asked as it is: an update may take longer than a session's start. A memory that is off, or has no index, costs a
//! look at a file. Deliberately not here: how the turns are shown.

use std::collections::BTreeSet;

use callosum_client::related::{CurrentWork, RelatedQuestion, RelatedTurn};
use callosum_config::MeshSettings;
use callosum_memory::{Memory, Origin, RecordKind, RelatedHit};
use callosum_search::Query;

use super::{INDEX, MemorySettings};
use crate::shell_word::shell_word;

/// Least share of a text's words, weighted by their rarity, that a turn must have.
const LEAST: f64 = 0.5;

/// Most turns.
const MOST: usize = 3;

/// Returns past turns about a session's work, the best first. What fails is no fault of the session's start: then there are none.
pub fn related_at_start(question: &RelatedQuestion<'_>) -> Vec<RelatedTurn> {
    let RelatedQuestion { disk, homes, .. } = question;
    let is_on = MemorySettings::read_in(disk, homes).is_ok_and(|settings| settings.on);
    if !is_on {
        return Vec::new();
    }
    let settings = MeshSettings::load(disk, &homes.user_config);
    if settings.is_ok_and(|settings| !settings.digest_related) {
        return Vec::new();
    }
    let mut work = question.work.clone();
    if let Some(tree) = question.folders.first() {
        work.or_branch(disk, tree);
    }
    let found = Memory::open_to_read(&homes.memory().join(INDEX));
    match found {
        Ok(Some(memory)) => hits(&memory, question, &work),
        Ok(None) => Vec::new(),
        Err(error) => {
            tracing::debug!(error = error.to_string(), "no related turns");
            Vec::new()
        }
    }
}

fn hits(memory: &Memory, question: &RelatedQuestion<'_>, work: &CurrentWork) -> Vec<RelatedTurn> {
    let texts: BTreeSet<&String> = work.texts.iter().collect();
    // A quote would ask for an exact text.
    let texts = texts
        .iter()
        .map(|text| Query::read(&text.replace('"', " ")));
    let texts: Vec<Query> = texts.collect();
    let hits = memory.related(&texts, &question.folders, LEAST, 2 * MOST);
    let mut found: Vec<RelatedHit> = Vec::new();
    for hit in hits.unwrap_or_default() {
        let is_own = question.session == Some(hit.session.as_str());
        let is_task =
            hit.origin == Origin::Record(RecordKind::Task) && work.tasks.contains(&hit.session);
        let is_known = found
            .iter()
            .any(|known| (known.origin, &known.session) == (hit.origin, &hit.session));
        if !is_own && !is_task && !is_known {
            found.push(hit);
        }
    }
    found.truncate(MOST);
    found.into_iter().map(turn).collect()
}

fn turn(hit: RelatedHit) -> RelatedTurn {
    let words = hit.origin.command(&hit.session);
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    RelatedTurn {
        origin: hit.origin.name().to_owned(),
        day: hit.at.map(|at| at.strftime("%Y-%m-%d").to_string()),
        text: hit.text,
        command: words.join(" "),
    }
}
