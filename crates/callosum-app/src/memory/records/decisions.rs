//! Decisions of a project, from its NOTES.md. The file is small, so a change has all of it read.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use callosum_memory::{Memory, Record, RecordKind, Speaker, Turn, UpdateReport};
use callosum_session::notes::{Decision, Notes};
use callosum_session::trajectory::Agent;
use jiff::Timestamp;

use super::{RecordError, Stamp, StoreUpdate};
use crate::context::Context;
use crate::session::session;

/// Returns the file.
pub(super) fn files(context: &Context) -> Vec<PathBuf> {
    vec![context.zones().notes()]
}

/// Reads the decisions.
pub(super) fn gather(
    update: StoreUpdate<'_>,
    memory: &mut Memory,
) -> Result<UpdateReport, RecordError> {
    let StoreUpdate {
        context,
        scope,
        name,
        watched,
        ..
    } = update;
    let zones = context.zones();
    let notes = session(context, &zones, Agent::default()).notes();
    let notes = notes.map_err(|error| RecordError::store(&error))?;
    // Decisions of the same moment are one record, since the moment is their name.
    let mut by_time: BTreeMap<String, Vec<Decision>> = BTreeMap::new();
    for decision in notes.iter().flat_map(Notes::decisions) {
        by_time
            .entry(decision.ts.clone())
            .or_default()
            .push(decision);
    }
    let folder = context.tree().to_str().map(str::to_owned);
    memory.write_records(scope, name, |writer| {
        let ids: HashSet<String> = by_time.keys().cloned().collect();
        for (ts, decisions) in by_time {
            let at: Option<Timestamp> = ts.parse().ok();
            let turns = decisions.iter().filter_map(|decision| {
                let speaker = if decision.is_user_input {
                    Speaker::User
                } else {
                    Speaker::Agent
                };
                Turn::new(speaker, at, &text(decision))
            });
            writer.put(Record {
                kind: RecordKind::Decision,
                turns: turns.collect(),
                id: ts,
                part: "",
                folder: folder.clone(),
                title: decisions.first().map(|decision| decision.title.clone()),
            })?;
        }
        writer.keep(&ids)?;
        Ok(Stamp::new(watched, &()).text())
    })
}

/// Returns a decision with its reason and its citations, which a search checks again.
fn text(decision: &Decision) -> String {
    let mut text = decision.title.clone();
    let words = decision.words();
    if words != decision.title {
        let _ = write!(text, "\n{words}");
    }
    if let Some(rationale) = &decision.rationale {
        let _ = write!(text, "\n{rationale}");
    }
    for evidence in &decision.evidence {
        let place = if evidence.first == evidence.last {
            format!("{}:{}", evidence.path, evidence.first)
        } else {
            format!("{}:{}-{}", evidence.path, evidence.first, evidence.last)
        };
        let _ = match &evidence.quote {
            Some(quote) => write!(text, "\n`{quote}` [{place}]"),
            None => write!(text, "\n[{place}]"),
        };
    }
    text
}
