//! [`LockedSession::cite`] and [`LockedSession::assume`]: new evidence for an earlier decision.
//!
//! Evidence that no longer holds is removed from the notes. In bead and trajectory it stays, but no
//! longer counts.

use crate::{
    bead::{Bead, BeadId, evidence_value},
    claim_scope::ClaimScope,
    decide::{DecideError, Decided, EvidenceKind, cite_record},
    decision_history::{NOT_CURRENT, decided},
    evidence::{Evidence, EvidenceStatus, Tree},
    grounding::{Brief, Claim, time_of},
    notes::{Decision, EvidenceChange, Notes},
    sanitize::{Redaction, says_the_same},
    timestamp::second,
    transaction::{BeadChange, Intent, LockedSession, NoteChange, SessionError},
    untracked_decisions::Unrecorded,
};

/// Knowledge of a decision in trajectory and bead.
#[derive(Default)]
struct Known {
    /// The revision that its next record is.
    revision: u32,
    bead: Option<BeadId>,
    /// Its evidence in the bead.
    in_bead: Vec<Evidence>,
}

impl LockedSession<'_> {
    /// Adds these places to the evidence of the decision of this time, in all three files. They
    /// replace any evidence, in any of the files, that no longer holds.
    pub fn cite(&self, ts: &str, places: &[Evidence]) -> Result<Decided, DecideError> {
        let session = &self.session;
        let tree = Tree::new(session.disk, &session.zones.tree);
        let mut decision = self.decision_of(ts)?;
        let mut redaction = Redaction::default();
        let mut new = Vec::new();
        for place in places {
            let quoted = tree.quote(place)?;
            redaction.masked(quoted.quote.as_deref().unwrap_or_default());
            if !new.contains(&quoted) {
                new.push(quoted);
            }
        }
        decision.is_assumption = false;
        decision.is_user_input = false;
        let cited = self.lean(decision, new, None, &tree)?;
        Ok(Decided {
            redacted: redaction.kinds,
            ..cited
        })
    }

    /// Marks the decision of this time as an assumption, in notes and trajectory: it counts as one,
    /// and not as grounded. Evidence that no longer holds is removed.
    pub fn assume(&self, ts: &str) -> Result<Decided, DecideError> {
        let tree = Tree::new(self.session.disk, &self.session.zones.tree);
        let mut decision = self.decision_of(ts)?;
        decision.is_assumption = true;
        decision.is_user_input = false;
        self.lean(decision, Vec::new(), Some(EvidenceKind::Assumption), &tree)
    }

    fn decision_of(&self, ts: &str) -> Result<Decision, DecideError> {
        let notes = self.session.notes()?;
        let found = notes.and_then(|notes| notes.named(ts));
        let found = match found {
            // Of two of one time, the name says which.
            Some(found) => Some(Decision {
                ts: ts.to_owned(),
                ..found
            }),
            None => match self.of_beads_alone(ts)? {
                Some(found) => Some(found),
                None => self.of_trajectories_alone(ts)?,
            },
        };
        let decision = found.ok_or_else(|| DecideError::NoDecision { ts: ts.to_owned() })?;
        Ok(Decision {
            decision: decision.words().to_owned(),
            ..decision
        })
    }

    /// Returns the decision of this time, if only beads have it.
    fn of_beads_alone(&self, ts: &str) -> Result<Option<Decision>, SessionError> {
        let all = self.session.unrecorded(std::iter::empty())?.into_iter();
        let mut all = all.map(|found| found.decision);
        let found = all.find(|decision| decision.is_named(ts));
        Ok(found.map(|found| Decision {
            ts: ts.to_owned(),
            ..found
        }))
    }

    /// Returns the decision of this name if only trajectories have it, for example one that was
    /// commented out in the notes and is still claimed.
    fn of_trajectories_alone(&self, name: &str) -> Result<Option<Decision>, SessionError> {
        let read = self.session.recorded_since_handoff(ClaimScope::Everyone)?;
        let records = read.recorded.records.iter().rev();
        let cited = records.filter(|(_, record)| record.phase() == "cite");
        let mut made = cited.filter_map(|(_, record)| decided(record));
        let found = made.find(|made| made.is_named(name));
        Ok(found.map(|found| Decision {
            ts: name.to_owned(),
            ..found
        }))
    }

    fn lean(
        &self,
        decision: Decision,
        new: Vec<Evidence>,
        ground: Option<EvidenceKind>,
        tree: &Tree<'_>,
    ) -> Result<Decided, DecideError> {
        let known = self.known_of(&decision)?;
        let mut replaced: Vec<(Evidence, EvidenceStatus)> = Vec::new();
        for old in decision.evidence.iter().chain(&known.in_bead) {
            let standing = tree.stand(old);
            if !standing.holds() && !replaced.iter().any(|(other, _)| other == old) {
                replaced.push((old.clone(), standing));
            }
        }
        self.replace(decision, known, replaced, new, ground)
    }

    /// Updates the citations of moved files in the decision of a claim: each old citation with its
    /// new one. Other citations stay, even those that do not hold. Returns whether anything was
    /// changed.
    pub(crate) fn anchor_again(
        &self,
        claim: &Claim,
        replaced: &[(Evidence, Evidence)],
    ) -> Result<bool, DecideError> {
        let decision = self.decision_of(claim.decision.as_deref().unwrap_or_default())?;
        if decision.is_assumption || decision.is_user_input {
            // A person has marked it by hand, and the mark is theirs.
            return Ok(false);
        }
        let decision = Decision {
            evidence: claim.evidence.clone(),
            ..decision
        };
        let known = self.known_of(&decision)?;
        let new = replaced.iter().map(|(_, new)| new.clone()).collect();
        let gone = replaced.iter();
        let gone = gone.map(|(old, _)| (old.clone(), EvidenceStatus::MissingFile));
        self.replace(decision, known, gone.collect(), new, None)?;
        Ok(true)
    }

    /// Replaces `replaced` with `new` in the evidence of a decision.
    fn replace(
        &self,
        mut decision: Decision,
        known: Known,
        replaced: Vec<(Evidence, EvidenceStatus)>,
        new: Vec<Evidence>,
        ground: Option<EvidenceKind>,
    ) -> Result<Decided, DecideError> {
        let session = &self.session;
        let holds = |old: &Evidence| !replaced.iter().any(|(other, _)| other == old);
        decision.evidence.retain(holds);
        for cited in &new {
            if !decision.evidence.contains(cited) {
                decision.evidence.push(cited.clone());
            }
        }
        let mut record = cite_record(
            session.agent.as_str(),
            &decision,
            ground,
            known.bead.as_ref(),
            None,
        );
        if !decision.is_dated() {
            record["ts"] = second(session.clock.now()).into();
        }
        record["revision"] = known.revision.into();
        let current = session.notes()?.and_then(|notes| notes.active().bead);
        if known.bead.is_some() && known.bead.as_ref().map(BeadId::as_str) != current.as_deref() {
            record[NOT_CURRENT] = true.into();
        }
        let bead_change = |id: &BeadId| {
            let replaces = !replaced.is_empty();
            let cited = if replaces { &decision.evidence } else { &new };
            let change = BeadChange::Evidence {
                ts: time_of(&decision.ts).to_owned(),
                words: Some(decision.decision.clone()),
                evidence: cited.iter().map(evidence_value).collect(),
                replaces,
                is_assumption: decision.is_assumption,
            };
            (id.to_string(), vec![change])
        };
        // Decisions that were withdrawn in the notes stay withdrawn.
        let notes = session.notes()?;
        let headed = notes.as_ref().map(Notes::headed_times).unwrap_or_default();
        let is_taken_back = decision.line == 0 && headed.contains_key(time_of(&decision.ts));
        let intent = Intent {
            format: 1,
            agent: session.agent.to_string(),
            day: second(session.clock.now())[..10].to_owned(),
            notes: match decision.line {
                0 if is_taken_back => Vec::new(),
                0 => vec![NoteChange::Decision(decision.clone())],
                _ => vec![NoteChange::Evidence(EvidenceChange {
                    ts: decision.ts.clone(),
                    written: new.iter().filter_map(Evidence::written).collect(),
                    replaced: replaced.iter().map(|(old, _)| old.clone()).collect(),
                    is_assumption: decision.is_assumption,
                })],
            },
            bead: known.bead.as_ref().map(bead_change),
            records: vec![record],
        };
        let written = self.commit(&intent)?;
        let cited = decision.evidence.iter().map(|cited| cited.path.as_str());
        // The fingerprints are derived: without them, only git is asked for a moved file.
        drop(self.note_cited(cited));
        Ok(Decided {
            decision,
            bead: known.bead,
            passed_over: None,
            replaced,
            redacted: Vec::new(),
            written,
        })
    }

    /// Returns the evidence that the claims since the last hand-off give for the decision of this
    /// time, and the bead that has it: the one that they name, or else the current one.
    fn known_of(&self, decision: &Decision) -> Result<Known, SessionError> {
        let session = &self.session;
        let (name, ts) = (decision.ts.as_str(), time_of(&decision.ts));
        let is_it = |of: Option<&str>, words: &str| {
            of == Some(name) || of == Some(ts) && says_the_same(words, decision.words())
        };
        let read = session.kept_since_handoff::<Brief>(ClaimScope::Everyone)?;
        let records = read.records.into_iter();
        let unrecorded = session.unrecorded(std::iter::empty())?;
        let unrecorded = unrecorded.iter().map(Unrecorded::claim);
        let claims = records.filter_map(|(file, brief)| brief.claim(&file));
        let claims = claims.chain(unrecorded);
        let mut known = Known {
            revision: 1,
            ..Known::default()
        };
        let mut named = None;
        for claim in claims.filter(|claim| is_it(claim.decision.as_deref(), &claim.text)) {
            known.revision = known.revision.max(claim.revision.saturating_add(1));
            named = claim.bead.as_deref().and_then(BeadId::new).or(named);
        }
        let current = || {
            let active = session.notes()?.map(|notes| notes.active());
            Ok::<_, SessionError>(active.and_then(|active| BeadId::new(&active.bead?)))
        };
        let id = match named {
            Some(id) => Some(id),
            None => current()?,
        };
        let Some(id) = id else { return Ok(known) };
        let sheet = match session.bead(&id) {
            Ok(sheet) => sheet,
            Err(SessionError::Zone(error)) => return Err(error.into()),
            Err(_) => return Ok(known),
        };
        let decisions = Bead::of(sheet.members()).decisions.into_iter();
        for made in decisions.filter(|made| is_it(Some(&made.ts), &made.decision)) {
            known.in_bead.extend(made.evidence);
            known.bead.get_or_insert_with(|| id.clone());
        }
        Ok(known)
    }
}
