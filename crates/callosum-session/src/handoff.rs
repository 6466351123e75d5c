//! [`LockedSession::hand_off`]: the end of a session, written to bead, trajectory and notes in one
//! step.

use std::{collections::HashSet, fmt::Write as _};

use callosum_redact::secrets::Kind;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    bead::{Bead, BeadId},
    checkpoint::{Checked, CheckpointRequest},
    claim_scope::ClaimScope,
    config::Config,
    decision_history::NOT_CURRENT,
    grounding::{Brief, Threshold},
    notes::Notes,
    sanitize::Redaction,
    timestamp::second,
    trajectory::{Agent, COVERS, RecordForm, covers},
    transaction::{BeadChange, Intent, LockedSession, NoteChange, SessionError, Written},
};

/// A hand-off that is about to be made.
#[derive(Clone, Debug, Default)]
pub struct NewHandoff {
    /// Agent that should continue.
    pub to: Option<Agent>,
    /// Bead that receives it; the current one if none is named.
    pub bead: Option<BeadId>,
    /// Root of another repository, whose next session should continue.
    pub repository: Option<String>,
    /// Reasoning in progress.
    pub reasoning: Option<String>,
    /// The client's own name of the session; a number if there is none.
    pub session_id: Option<String>,
    /// Scope of the claims that end with it.
    pub whose: ClaimScope,
    /// Whether it is made although the checkpoint blocks; that is written down.
    pub is_forced: bool,
}

/// Error while making a hand-off. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum HandoffError {
    /// The checkpoint blocks.
    #[error("the checkpoint blocks: {}", .0.blocking())]
    Blocked(Box<Checked>),
    /// The files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// A hand-off that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOff {
    /// When.
    pub ts: String,
    /// The name of the session.
    pub session_id: String,
    /// The bead that has it.
    pub bead: Option<BeadId>,
    /// The share of claims that are grounded, with two decimals, cut.
    pub ratio: String,
    /// Result of the checkpoint.
    pub checked: Checked,
    /// Places of the session's decisions in the notes.
    pub notes_refs: Vec<String>,
    /// The record's place in the trajectory.
    pub written: Written,
    /// Secrets that were taken out before anything was written.
    pub redacted: Vec<Kind>,
}

impl LockedSession<'_> {
    /// Ends the session: writes a hand-off in the bead, a record in the trajectory, and the
    /// checkpoint's time in the notes. Claims start counting from zero afterwards, so it is made
    /// only if the checkpoint permits it or if it is forced.
    pub fn hand_off(&self, new: &NewHandoff, config: &Config) -> Result<HandedOff, HandoffError> {
        let session = &self.session;
        let now = session.clock.now();
        let ts = second(now);
        if let Some(id) = &new.bead {
            session.bead(id)?;
        }
        let seen = session.notes()?;
        let asked = CheckpointRequest {
            whose: new.whose,
            bead: new.bead.as_ref(),
            unfinished: &self.unfinished,
            ts: &ts,
        };
        let looked = self.look_again(config, &Threshold::default(), &asked)?;
        let checked = looked.checked;
        if !checked.permits() && !new.is_forced {
            return Err(HandoffError::Blocked(Box::new(checked)));
        }
        let grounding = &checked.grounding;
        let notes = session.notes()?;
        let mut redaction = Redaction::default();
        let active = notes.as_ref().map(Notes::active).unwrap_or_default();
        let current = || active.bead.as_deref().and_then(BeadId::new);
        let bead = new.bead.clone().or_else(current);
        let known = match bead.as_ref().map(|id| session.bead(id)) {
            Some(Ok(sheet)) => Some(Bead::of(sheet.members())),
            Some(Err(error @ SessionError::Zone(_))) => return Err(error.into()),
            Some(Err(_)) | None => None,
        };
        let bead = bead.filter(|_| known.is_some());
        let session_id = match (new.session_id.as_deref(), &known) {
            (Some(id), _) => redaction.statement(id),
            (None, Some(bead)) => numbered(bead.handoffs.len()),
            // Without a bead, those of the agent's last days are counted.
            (None, None) => numbered(session.handed_off_by(&session.agent)?),
        };
        let notes_file = session.zones.named(&session.zones.notes());
        let made: HashSet<&str> = grounding
            .claims
            .iter()
            .filter_map(|claim| claim.claim.decision.as_deref())
            .collect();
        let notes_refs: Vec<String> = notes
            .iter()
            .flat_map(Notes::decisions)
            .filter(|decision| {
                made.contains(decision.ts.as_str()) || made.contains(decision.heading().as_str())
            })
            .map(|decision| format!("{notes_file}:{}-{}", decision.line, decision.last_line))
            .collect();
        let scenarios = known.as_ref().map_or(0, |bead| bead.scenarios.len());
        let hundredths = (grounding.grounded() * 100)
            .checked_div(grounding.total())
            .unwrap_or(100);
        let ratio = Value::from(hundredths as f64 / 100.0);
        let agent = &session.agent;
        let span = span_of(now, [agent.as_str(), &session_id]);
        let mut record = json!({
            "ts": ts, "agent": agent.as_str(), "phase": "session_handoff", "session_id": session_id,
            "root_span_id": span, "bead_id": bead.as_ref().map(BeadId::as_str),
            "notes_refs": notes_refs,
            "edd_verified": (config.scenarios > 0).then_some(scenarios >= config.scenarios),
            "grounding_ratio": ratio, "test_scenarios": scenarios,
            "steps": checked.outcomes(), "next_session_ready": checked.is_in_order(),
        });
        if bead.as_ref().map(BeadId::as_str) != active.bead.as_deref() {
            record[NOT_CURRENT] = true.into();
        }
        if !checked.permits() {
            record["forced"] = true.into();
        }
        // Everything before it in its own file is over by its place.
        let file = session
            .trajectory()
            .file_of(&ts[..10])
            .map_err(SessionError::from)?;
        let file = session.zones.named(&file);
        let read = session.kept_since_handoff::<Brief>(ClaimScope::Everyone)?;
        let elsewhere = read.records.iter().filter(|(there, _)| *there != file);
        let claims = elsewhere.filter_map(|(_, claim)| claim.covered_as());
        let unread = read.unread.iter().filter(|lines| lines.file != file);
        let lines = unread.flat_map(|lines| lines.names.iter().copied());
        if let Some(names) = covers(claims.chain(lines)) {
            record[COVERS] = names;
        }
        let lacking = grounding.lacking(config.enforcement);
        let ungrounded: Vec<String> = lacking
            .map(|claim| redaction.statement(&claim.claim.text))
            .collect();
        if !ungrounded.is_empty() {
            record["ungrounded"] = ungrounded.into();
        }
        if let Some(to) = &new.to {
            record["to"] = to.as_str().into();
        }
        if let Some(repository) = &new.repository {
            record["to_repo"] = redaction.statement(repository).into();
        }
        let reasoning = new
            .reasoning
            .as_deref()
            .map(|text| redaction.statement(text))
            .filter(|text| !text.is_empty());
        if let Some(reasoning) = &reasoning {
            record["reasoning"] = reasoning.as_str().into();
        }
        let day = ts[..10].to_owned();
        let item = json!({
            "session_id": session_id, "ended": ts,
            "notes_ref": notes_refs.last(),
            "trajectory_ref": format!("trajectory/{}:{span}", agent.file_of(&day)),
            "grounding_ratio": ratio,
        });
        let mut changes = vec![NoteChange::Checkpoint(ts.clone())];
        // Reasoning for one agent is shown to it when it begins, and is no next step of the others.
        let for_all = reasoning.filter(|_| new.to.is_none());
        changes.extend(for_all.map(NoteChange::Reasoning));
        let written = self.commit(&Intent {
            format: 1,
            agent: agent.to_string(),
            day,
            notes: changes,
            bead: bead
                .as_ref()
                .map(|id| (id.to_string(), vec![BeadChange::Handoff(item)])),
            records: vec![record],
        })?;
        let seen = seen.unwrap_or_else(|| Notes::read(Vec::new()));
        if new.whose == ClaimScope::Everyone || session.agent == Agent::default() {
            self.note_ended(&seen, now)?;
        } else {
            self.note_covered(&seen, &grounding.claims)?;
        }
        Ok(HandedOff {
            ts,
            session_id,
            bead,
            ratio: grounding.ratio(),
            checked,
            notes_refs,
            written,
            redacted: redaction.kinds,
        })
    }
}

/// Returns a name for the span of a session that no other session ending in the same second has:
/// the time, and a checksum of its parts and of the agent that ends it, in 12 digits.
fn span_of(now: Timestamp, by: [&str; 2]) -> String {
    let mut digest = Sha256::new();
    digest.update(now.as_nanosecond().to_be_bytes());
    for text in by {
        digest.update(text.as_bytes());
        digest.update([0]);
    }
    let mut span = format!("span-{}-", second(now).replace([':', '-'], ""));
    for byte in &digest.finalize()[..6] {
        let _ = write!(span, "{byte:02x}");
    }
    span
}

/// Returns the name of a session that ends with a hand-off, by the number of earlier hand-offs.
fn numbered(before: usize) -> String {
    format!("sess-{:03}", before + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-FMT-1: hand-offs within one second have spans of their own.
    #[test]
    fn no_two_hand_offs_of_a_second_share_a_span() {
        let at: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let later = at + jiff::SignedDuration::from_micros(3);
        let spans = [
            span_of(at, ["a", "sess-001"]),
            span_of(at, ["a", "sess-002"]),
            span_of(at, ["as", "ess-002"]),
            span_of(later, ["a", "sess-001"]),
        ];
        assert!(
            spans
                .iter()
                .all(|span| span.starts_with("span-20260102T030405Z-"))
        );
        assert_eq!(spans.iter().collect::<HashSet<_>>().len(), spans.len());
    }
}
