//! [`LockedSession::decide`]: a decision, written to notes, bead and trajectory in one step.

use std::collections::HashSet;

use callosum_citation::tokens;
use callosum_redact::secrets::Kind;
use serde_json::{Map, Value, json};

use crate::{
    bead::{ASSUMPTION, Bead, BeadId, GROUNDING, USER_INPUT, evidence_value},
    decision_history::{NOT_CURRENT, decided},
    evidence::{Evidence, EvidenceStatus, QuoteError, Tree},
    grounding::time_of,
    notes::{Decision, Notes},
    sanitize::{MOST_TITLE_WORDS, Redaction, is_short_title, title_of},
    timestamp::{second, times_from},
    trajectory::{DayFile, Record, content_of, day_files, records},
    transaction::{BeadChange, Intent, LockedSession, NoteChange, Session, SessionError, Written},
    zones::ZoneError,
};

/// A decision that is about to be made.
#[derive(Clone, Debug, Default)]
pub struct NewDecision {
    /// Text of the decision.
    pub decision: String,
    /// Its title; by default the first words of the decision.
    pub title: Option<String>,
    /// Reason for the decision.
    pub rationale: Option<String>,
    /// The places of its evidence, without quotes: those are taken from the files.
    pub places: Vec<Evidence>,
    /// Scenarios to try before it counts as done.
    pub scenarios: Vec<String>,
    /// The bead that it belongs to; the current one if none is named.
    pub bead: Option<BeadId>,
    /// Kind of evidence if it cites no place.
    pub ground: EvidenceKind,
    /// The client's own name of the session.
    pub session_id: Option<String>,
    /// Key of the call that makes it. There is one decision per key.
    pub call: Option<String>,
}

/// Kind of evidence of a claim that cites no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvidenceKind {
    /// No evidence.
    #[default]
    Nothing,
    /// It is an assumption.
    Assumption,
    /// The user stated it.
    UserInput,
}

/// A decision that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The decision as written in the notes.
    pub decision: Decision,
    /// The bead that has it.
    pub bead: Option<BeadId>,
    /// The current bead, if it could not be written, and the reason: notes and trajectory still
    /// have the decision.
    pub passed_over: Option<(String, String)>,
    /// Evidence that was replaced because it no longer held.
    pub replaced: Vec<(Evidence, EvidenceStatus)>,
    /// Secrets that were taken out before anything was written.
    pub redacted: Vec<Kind>,
    /// Its place in the trajectory.
    pub written: Written,
}

/// Error while making a decision. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// There is nothing in it.
    #[error("the decision has no text")]
    Empty,
    /// Its title is too long to be shown whole.
    #[error("a title may have at most {MOST_TITLE_WORDS} words")]
    LongTitle,
    /// A place cannot be quoted.
    #[error(transparent)]
    Quote(#[from] QuoteError),
    /// No decision was made at this time.
    #[error("no decision has the time {ts}")]
    NoDecision {
        /// The time.
        ts: String,
    },
    /// The files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl LockedSession<'_> {
    /// Makes a decision. It is in all three places when this returns.
    ///
    /// Its time is its name: no other decision of the project has it. One that is made by a call which made one
    /// before is that one, as far back as files are not compressed.
    pub fn decide(&self, new: &NewDecision) -> Result<Decided, DecideError> {
        let session = &self.session;
        if let Some(call) = &new.call {
            let made = self.found(call, |file| !file.is_archived)?;
            if let Some(made) = made {
                return Ok(made);
            }
        }
        let mut redaction = Redaction::default();
        let words = redaction.statement(&new.decision);
        let title = match &new.title {
            Some(title) => redaction.statement(title),
            None => title_of(&words),
        };
        if words.is_empty() || title.is_empty() {
            return Err(DecideError::Empty);
        }
        if !is_short_title(&title) {
            return Err(DecideError::LongTitle);
        }
        let tree = Tree::new(session.disk, &session.zones.tree);
        let mut evidence = Vec::new();
        for place in &new.places {
            let quoted = tree.quote(place)?;
            redaction.masked(quoted.quote.as_deref().unwrap_or_default());
            evidence.push(quoted);
        }
        let scenarios = new
            .scenarios
            .iter()
            .map(|scenario| redaction.statement(scenario));
        let scenarios: Vec<String> = scenarios.filter(|scenario| !scenario.is_empty()).collect();
        let rationale = new.rationale.as_deref().map(|why| redaction.statement(why));
        let notes = session.notes()?;
        let active = notes.as_ref().map(Notes::active).unwrap_or_default();
        let bead = new
            .bead
            .clone()
            .or_else(|| BeadId::new(active.bead.as_deref()?));
        let known = taken_times(session, notes.as_ref(), bead.as_ref())?;
        let now = session.clock.now();
        let ts = times_from(now).find(|ts| !known.contains(ts));
        let decision = Decision {
            ts: ts.unwrap_or_else(|| second(now)),
            title,
            decision: words,
            rationale: rationale.filter(|why| !why.is_empty()),
            evidence,
            scenarios,
            is_assumption: new.ground == EvidenceKind::Assumption && new.places.is_empty(),
            is_user_input: new.ground == EvidenceKind::UserInput && new.places.is_empty(),
            ..Decision::default()
        };
        let session_id = new.session_id.as_deref().map(|id| redaction.statement(id));
        let ground = if new.places.is_empty() {
            Some(new.ground)
        } else {
            None
        };
        let mut record = cite_record(
            session.agent.as_str(),
            &decision,
            ground,
            bead.as_ref(),
            session_id.as_deref(),
        );
        if bead.as_ref().map(BeadId::as_str) != active.bead.as_deref() {
            record[NOT_CURRENT] = true.into();
        }
        if let Some(call) = &new.call {
            record[CALL] = call.as_str().into();
        }
        let bead_changes = bead.as_ref().map(|id| {
            let mut changes = vec![BeadChange::Decision(bead_item(&decision))];
            changes.extend(
                decision
                    .scenarios
                    .iter()
                    .map(|name| BeadChange::Scenario(json!({"name": name}))),
            );
            (id.to_string(), changes)
        });
        let mut intent = Intent {
            format: 1,
            agent: session.agent.to_string(),
            day: decision.ts[..10].to_owned(),
            notes: vec![NoteChange::Decision(decision.clone())],
            bead: bead_changes,
            records: vec![record],
        };
        let mut passed_over = None;
        if let (None, Some(id)) = (&new.bead, &bead) {
            match self.bead_changed(id.as_str(), &intent) {
                Ok(_) => {}
                Err(error @ SessionError::Zone(ZoneError::Disk(_))) => return Err(error.into()),
                // The bead is only the default, so the decision must not be lost because of it.
                Err(error) => passed_over = Some((id.to_string(), in_full(&error))),
            }
        }
        if passed_over.is_some() {
            intent.bead = None;
        }
        let written = match self.commit(&intent) {
            Err(error) if new.bead.is_none() && intent.bead.is_some() && error.is_denied() => {
                let id = intent.bead.take().map(|(id, _)| id);
                passed_over = id.map(|id| (id, in_full(&error)));
                self.commit(&intent)?
            }
            written => written?,
        };
        let cited = decision.evidence.iter().map(|cited| cited.path.as_str());
        // The fingerprints are derived: without them, only git is asked for a moved file.
        drop(self.note_cited(cited));
        Ok(Decided {
            decision,
            bead: bead.filter(|_| passed_over.is_none()),
            passed_over,
            replaced: Vec::new(),
            redacted: redaction.kinds,
            written,
        })
    }

    /// Returns the decision that a call made, by its key, from any agent's trajectory. A step that
    /// a killed process had begun is finished when the session is locked, so `None` means that it
    /// was not made.
    ///
    /// Reads every trajectory, including the compressed ones.
    pub fn decided_by(&self, call: &str) -> Result<Option<Decided>, SessionError> {
        self.found(call, |_| true)
    }

    fn found(
        &self,
        call: &str,
        looks_into: impl Fn(&DayFile) -> bool,
    ) -> Result<Option<Decided>, SessionError> {
        let session = &self.session;
        let files = day_files(session.disk, session.zones)?.into_iter().rev();
        for file in files.filter(|file| looks_into(file)) {
            let bytes = content_of(session.disk, &file)?.unwrap_or_default();
            if memchr::memmem::find(&bytes, call.as_bytes()).is_none() {
                continue;
            }
            let mut there = records(&bytes).records.into_iter();
            let is_it = |record: &Record| record.phase() == "cite" && record.text(CALL) == call;
            let made = there.find(is_it);
            let known = made
                .as_ref()
                .and_then(|record| decided(record).zip(Some(record)));
            if let Some((decision, record)) = known {
                let has_it = |id: &BeadId| {
                    let sheet = session.bead(id).ok();
                    let bead = sheet.map(|sheet| Bead::of(sheet.members()));
                    bead.is_some_and(|bead| {
                        let mut made = bead.decisions.iter();
                        made.any(|made| made.ts == decision.ts)
                    })
                };
                let place = format!("{}:{}", session.zones.named(&file.path), record.line);
                return Ok(Some(Decided {
                    bead: BeadId::new(record.text("bead_id")).filter(has_it),
                    decision,
                    passed_over: None,
                    replaced: Vec::new(),
                    redacted: Vec::new(),
                    written: Written { trajectory: place },
                }));
            }
        }
        Ok(None)
    }
}

/// The member of a record that has the key of the call which made the decision.
const CALL: &str = "call";

/// Returns an error and its causes, on one line.
fn in_full(error: &SessionError) -> String {
    match error {
        SessionError::Bead { source, .. } => format!("{error}: {source}"),
        SessionError::Zone(ZoneError::Disk(disk)) => format!("{error}: {}", disk.source),
        error => error.to_string(),
    }
}

/// Returns the decision as the bead has it (Seed LOA §5.2).
pub(crate) fn bead_item(decision: &Decision) -> Value {
    let mut item = Map::new();
    item.insert("ts".to_owned(), decision.ts.clone().into());
    item.insert("decision".to_owned(), decision.words().into());
    if let Some(rationale) = &decision.rationale {
        item.insert("rationale".to_owned(), rationale.clone().into());
    }
    let evidence: Vec<Value> = decision.evidence.iter().map(evidence_value).collect();
    item.insert("evidence".to_owned(), evidence.into());
    let leans_on = match (decision.is_assumption, decision.is_user_input) {
        (true, _) => Some(ASSUMPTION),
        (_, true) => Some(USER_INPUT),
        _ => None,
    };
    if let Some(leans_on) = leans_on.filter(|_| decision.evidence.is_empty()) {
        item.insert(GROUNDING.to_owned(), leans_on.into());
    }
    Value::Object(item)
}

/// Returns the trajectory's record of the decision: a claim with its evidence.
pub(crate) fn cite_record(
    agent: &str,
    decision: &Decision,
    ground: Option<EvidenceKind>,
    bead: Option<&BeadId>,
    session_id: Option<&str>,
) -> Value {
    let grounding = match ground {
        None => "citation",
        Some(EvidenceKind::Nothing) => "none",
        Some(EvidenceKind::Assumption) => ASSUMPTION,
        Some(EvidenceKind::UserInput) => USER_INPUT,
    };
    let evidence: Vec<Value> = decision.evidence.iter().map(evidence_value).collect();
    let mut record = json!({
        "ts": time_of(&decision.ts), "agent": agent, "phase": "cite", "decision": decision.ts,
        "claim": decision.words(), "title": decision.title, "grounding": grounding,
        "evidence": evidence, "tokens": tokens::estimate(&decision.title),
    });
    if let Some(rationale) = &decision.rationale {
        record["rationale"] = rationale.as_str().into();
    }
    if !decision.scenarios.is_empty() {
        record["test_scenarios"] = decision.scenarios.clone().into();
    }
    if let Some(id) = bead {
        record["bead_id"] = id.as_str().into();
    }
    if let Some(id) = session_id {
        record["session_id"] = id.into();
    }
    record
}

/// Returns the times that decisions already have, which identify them: in the notes, in the bead,
/// and among the agent's claims, which outlive lost notes.
fn taken_times(
    session: &Session<'_>,
    notes: Option<&Notes>,
    bead: Option<&BeadId>,
) -> Result<HashSet<String>, SessionError> {
    let of_notes = notes.map(Notes::decisions).unwrap_or_default();
    let mut taken: HashSet<String> = of_notes.into_iter().map(|known| known.ts).collect();
    let claims = session.trajectory().since_handoff()?;
    let claimed = claims
        .records
        .iter()
        .map(|(_, record)| record.text("decision"));
    taken.extend(claimed.map(str::to_owned));
    // A bead that cannot be read is reported when it is written.
    if let Some(sheet) = bead.and_then(|id| session.bead(id).ok()) {
        let decisions = Bead::of(sheet.members()).decisions.into_iter();
        taken.extend(decisions.map(|known| known.ts));
    }
    Ok(taken)
}
