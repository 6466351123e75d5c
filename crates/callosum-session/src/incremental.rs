//! [`LockedSession::synthesize`]: records the events since the last checkpoint while the context
//! still exists (Seed LOA §4.3).
//!
//! Decisions made through us are in all ledgers already. This module adds what the agent only
//! claimed in its trajectory and what its client saw it do. The same position is written once,
//! however often the caller asks for it.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    bead::{Bead, BeadId},
    budget::Zone,
    context_zone::zone_recorded,
    decide::bead_item,
    decision_history::{Recorded, claimed, words_of},
    notes::{Active, Decision, Notes},
    sanitize::{Redaction, one_line},
    timestamp::second,
    trajectory::Read,
    transaction::{BeadChange, Intent, LockedSession, NoteChange, Session, SessionError, Written},
};

/// The phase of its record.
pub(crate) const PHASE: &str = "delta_sync";

/// Most files that a record names; all are counted.
const MOST_FILES: usize = 50;

/// Contents of a client's transcript since the last checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Name of the transcript, which distinguishes sessions, and the position up to which it was
    /// read.
    pub position: Option<(String, u64)>,
    /// Position up to which the transcript had been read before it became shorter than that; `None`
    /// unless it did.
    pub shrunk_from: Option<u64>,
    /// Tokens that were added since the session's first request.
    pub tokens: Option<u64>,
    /// Fill level of the context.
    pub zone: Option<Zone>,
    /// Files that were written, from the root.
    pub files: Vec<String>,
    /// The agent's own description of its work.
    pub reasoning: Option<String>,
    /// The client's own name of the session.
    pub session_id: Option<String>,
}

/// A checkpoint that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synthesized {
    /// When.
    pub ts: String,
    /// Decisions since the last checkpoint that are in the notes, and older ones that are there again.
    pub decisions: usize,
    /// Those of them that the notes lacked until now: only trajectories and beads had them.
    pub taken_over: usize,
    /// The bead that was current.
    pub bead: Option<BeadId>,
    /// Files that were written.
    pub files: Vec<String>,
    /// The record's place in the trajectory.
    pub written: Written,
}

impl Session<'_> {
    /// Returns the position up to which a transcript of this name has been synthesized; 0 if it has
    /// not been.
    pub fn position(&self, transcript: &str) -> Result<u64, SessionError> {
        Ok(position_in(&self.trajectory().since_handoff()?, transcript))
    }
}

fn position_in(read: &Read, transcript: &str) -> u64 {
    read.positions.get(transcript).copied().unwrap_or(0)
}

impl LockedSession<'_> {
    /// Writes a checkpoint: claims that are in the trajectory alone to the notes and the bead, the
    /// time and the state of the reasoning to the notes, a `delta_sync` record to the trajectory.
    ///
    /// Returns `None`, and writes nothing, if nothing happened since the last one. A fuller zone
    /// counts as an event, and so does a transcript that became shorter.
    pub fn synthesize(&self, delta: &Delta) -> Result<Option<Synthesized>, SessionError> {
        let written = self.written(delta)?;
        if let (Some((name, _)), Some(zone)) = (&delta.position, delta.zone) {
            self.note_zone(name, zone)?;
        }
        Ok(written)
    }

    fn written(&self, delta: &Delta) -> Result<Option<Synthesized>, SessionError> {
        let session = &self.session;
        let read = session.trajectory().since_handoff()?;
        if let Some((name, at)) = &delta.position
            && let Some(known) = read.positions.get(name)
        {
            // A hook that runs at the same time may have written the same part.
            let has_shrunk = delta.shrunk_from == Some(*known);
            if known >= at && !has_shrunk {
                return Ok(None);
            }
        }
        let mut redaction = Redaction::default();
        let mut statement = |text: &str| redaction.statement(text);
        let last = read
            .records
            .iter()
            .rposition(|(_, record)| record.phase() == PHASE);
        let new = &read.records[last.map_or(0, |at| at + 1)..];
        let notes = session.notes()?.unwrap_or_else(|| Notes::read(Vec::new()));
        let recorded = if self.is_complete()? {
            Recorded::default()
        } else {
            session.recorded(&notes)?
        };
        let lost_bead = recorded.bead;
        let mut taken: Vec<Decision> = recorded
            .lost
            .into_iter()
            .map(|lost| lost.decision)
            .collect();
        let mut known = words_of(&notes.decisions());
        known.extend(words_of(&taken));
        let mut persisted: BTreeSet<String> = taken.iter().map(|lost| lost.ts.clone()).collect();
        let mut for_bead: Vec<Decision> = Vec::new();
        for (_, record) in new.iter().filter(|(_, record)| record.phase() == "cite") {
            let ts = record.text("decision");
            if !ts.is_empty() {
                if known.contains_key(ts) {
                    persisted.insert(ts.to_owned());
                }
            } else if let Some(decision) = claimed(record, &known, &mut statement) {
                known.insert(decision.ts.clone(), decision.decision.clone());
                persisted.insert(decision.ts.clone());
                for_bead.push(decision.clone());
                taken.push(decision);
            } else {
                let words = statement(record.text("claim"));
                for_bead.extend(taken.iter().find(|lost| lost.decision == words).cloned());
            }
        }
        let decisions = persisted.len();
        let active = notes.active();
        let reasoning = delta.reasoning.as_deref().map(&mut statement);
        let reasoning = reasoning
            .filter(|text| !text.is_empty() && active.reasoning.as_deref() != Some(text.as_str()));
        let mut records = read.records.iter().map(|(_, record)| record);
        let before = match &delta.position {
            Some((name, _)) => match session.zone_reached(name)? {
                Some(zone) => Some(zone),
                None => zone_recorded(records, name),
            },
            None => records
                .rfind(|record| record.phase() == PHASE)
                .and_then(|record| Zone::named(record.text("zone"))),
        };
        let risen = delta.zone > before.or(Some(Zone::Green));
        let nothing = decisions == 0 && delta.files.is_empty() && reasoning.is_none() && !risen;
        // The position of a transcript that became shorter is always written. It would be read from its start again, and
        // once it is longer than before, from the old position on.
        if nothing && delta.shrunk_from.is_none() {
            return Ok(None);
        }
        let ts = second(session.clock.now());
        let bead = active.bead.as_deref().and_then(BeadId::new);
        let bead = match bead.as_ref().map(|id| session.bead(id)) {
            Some(Ok(sheet)) if !Bead::of(sheet.members()).status.is_empty() => bead,
            Some(Err(SessionError::Zone(error))) => return Err(error.into()),
            _ => None,
        };
        let files: Vec<String> = delta.files.iter().map(|file| statement(file)).collect();
        let agent = session.agent.as_str();
        let mut record = json!({
            "ts": ts, "agent": agent, "phase": PHASE, "decisions_persisted": decisions,
            "bead_updated": bead.is_some() && decisions > 0, "notes_updated": true,
        });
        if let Some(tokens) = delta.tokens {
            record["tokens"] = tokens.into();
        }
        if let Some(zone) = delta.zone {
            record["zone"] = zone.name().into();
        }
        if let Some(id) = &bead {
            record["bead_id"] = id.as_str().into();
        }
        if !files.is_empty() {
            record["files"] = files[..files.len().min(MOST_FILES)].into();
            record["files_touched"] = files.len().into();
        }
        if let Some((name, at)) = &delta.position {
            record["transcript"] = name.as_str().into();
            record["position"] = (*at).into();
        }
        if let Some(id) = &delta.session_id {
            record["session_id"] = statement(id).into();
        }
        let mut changes: Vec<NoteChange> =
            taken.iter().cloned().map(NoteChange::Decision).collect();
        // Notes without any active context were lost: the current bead is set again.
        if active == Active::default()
            && let Some(id) = lost_bead
            && let Ok(sheet) = session.bead(&id)
        {
            let title = one_line(&Bead::of(sheet.members()).title);
            changes.push(NoteChange::Bead(format!("{id} ({title})")));
        }
        changes.push(NoteChange::Checkpoint(ts.clone()));
        changes.extend(reasoning.map(NoteChange::Reasoning));
        let of_bead = bead.as_ref().filter(|_| !for_bead.is_empty()).map(|id| {
            let items = for_bead.iter().map(bead_item).map(BeadChange::Decision);
            (id.to_string(), items.collect())
        });
        let written = self.commit(&Intent {
            format: 1,
            agent: agent.to_owned(),
            day: ts[..10].to_owned(),
            notes: changes,
            bead: of_bead,
            records: vec![record],
        })?;
        self.note_complete()?;
        Ok(Some(Synthesized {
            ts,
            decisions,
            taken_over: taken.len(),
            bead,
            files,
            written,
        }))
    }
}
