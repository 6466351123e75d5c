//! [`LockedSession::check`]: the seven steps before a context is cleared (Seed LOA §4.2).
//!
//! The first two may block, and so may the last if the settings ask for it. The others tidy up or
//! report what is missing. None of them writes the hand-off: the caller does, once the checkpoint
//! permits it.

use std::{collections::HashSet, fmt};

use callosum_citation::tokens::estimate;
use callosum_redact::secrets;
use serde_json::{Map, Value};

use crate::{
    bead::{Bead, BeadId, is_closed},
    claim_scope::ClaimScope,
    config::{Config, Enforcement},
    divergence::forks,
    evidence::{EvidenceStatus, ROOT_PREFIX, Tree},
    ghost::{MARK, search_command, unverified},
    grounding::{ClaimKind, Grounded, Grounding, Threshold, lacking_time},
    notes::Notes,
    renames::FileMove,
    source::Source,
    timestamp::second,
    trajectory::{Record, UnreadLines},
    transaction::{Intent, LockedSession, NoteChange, Session, SessionError},
};

/// Number of steps that block by default, from the first.
const GATES: usize = 2;

/// Message for a file with an unresolved merge.
const MERGE: &str = "an unfinished merge";

/// Most unread places of the notes, and of beads, that are named.
const MOST_NAMED: usize = 20;

/// Longest words that are proposed as the name of a feature, in characters.
const LONGEST_FEATURE: usize = 80;

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in order.
    Passed,
    /// It was put in order.
    Done,
    /// It is not in order, but does not block.
    Warned,
    /// It is not in order, and blocks the checkpoint.
    Blocked,
    /// It was not looked at.
    Skipped,
}

impl Outcome {
    /// Returns the outcome of a gate whose requirement is not met.
    fn unmet(enforcement: Enforcement) -> Self {
        match enforcement {
            Enforcement::Standard | Enforcement::Strict => Self::Blocked,
            Enforcement::Warn => Self::Warned,
            Enforcement::Disabled => Self::Skipped,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "pass",
            Self::Done => "done",
            Self::Warned => "warn",
            Self::Blocked => "block",
            Self::Skipped => "skip",
        })
    }
}

/// A step and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// Outcome of the step.
    pub outcome: Outcome,
    /// In words, a line each.
    pub said: Vec<String>,
}

/// All seven, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The steps.
    pub steps: Vec<Step>,
    /// The claims that were looked up.
    pub grounding: Grounding,
    /// Moved files whose citations were updated.
    pub moved: Vec<FileMove>,
}

impl Checked {
    /// Whether the context may be cleared.
    pub fn permits(&self) -> bool {
        self.steps
            .iter()
            .all(|step| step.outcome != Outcome::Blocked)
    }

    /// Whether the steps that may block found everything in order, including when the settings let
    /// them block no one.
    pub fn is_in_order(&self) -> bool {
        let mut gates = self.steps.iter().take(GATES);
        self.permits() && gates.all(|step| step.outcome == Outcome::Passed)
    }

    /// Returns the messages of the blocking steps, on one line.
    pub(crate) fn blocking(&self) -> String {
        let blocked = self.steps.iter();
        let blocked = blocked.filter(|step| step.outcome == Outcome::Blocked);
        let messages = blocked.filter_map(|step| step.said.first());
        messages.map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Returns the outcome of each step, by its name.
    pub(crate) fn outcomes(&self) -> Value {
        let steps = self.steps.iter();
        let outcomes = steps.map(|step| (step.name.to_owned(), step.outcome.to_string().into()));
        Value::Object(outcomes.collect())
    }
}

/// Input of a checkpoint.
pub(crate) struct CheckpointRequest<'a> {
    /// Scope of the claims.
    pub(crate) whose: ClaimScope,
    /// The bead; the current one if none is named.
    pub(crate) bead: Option<&'a BeadId>,
    /// Files in which git has not finished a merge.
    pub(crate) unfinished: &'a [String],
    /// When.
    pub(crate) ts: &'a str,
}

/// Results of a checkpoint before anything is written.
pub(crate) struct Inspection {
    /// The steps.
    pub(crate) checked: Checked,
    /// Changes that add cited places to the identifiers, if they are not there yet.
    identifiers: Vec<NoteChange>,
    /// The last record, unless another agent's is as late.
    last: Option<Record>,
    /// Whether there are neither notes, nor records, nor claims.
    is_empty: bool,
}

impl Inspection {
    /// Whether the last record says the same as this one, but for the time, and nothing was done since.
    fn has_on_record(&self, record: &Value) -> bool {
        let content = |members: &Map<String, Value>| {
            let mut members = members.clone();
            members.remove("ts");
            // A step that was tidied up is in order from then on.
            let steps = members.get_mut("steps").and_then(Value::as_object_mut);
            for outcome in steps.into_iter().flat_map(Map::values_mut) {
                if *outcome == Outcome::Done.to_string() {
                    *outcome = Outcome::Passed.to_string().into();
                }
            }
            members
        };
        let last = self.last.as_ref().map(|last| content(&last.members));
        last.is_some() && last == record.as_object().map(content)
    }
}

impl LockedSession<'_> {
    /// Runs the seven steps and records the check, unless the last record has the same content.
    /// Adds the cited places to the identifiers of the notes.
    pub fn check(
        &self,
        config: &Config,
        threshold: &Threshold,
        whose: ClaimScope,
    ) -> Result<Checked, SessionError> {
        let session = &self.session;
        let ts = second(session.clock.now());
        let asked = CheckpointRequest {
            whose,
            bead: None,
            unfinished: &self.unfinished,
            ts: &ts,
        };
        let looked = self.look_again(config, threshold, &asked)?;
        let checked = &looked.checked;
        let mut record = checked
            .grounding
            .record(&ts, session.agent.as_str(), threshold);
        record["steps"] = checked.outcomes();
        record["permitted"] = checked.permits().into();
        // Committed files stay as they are if there is nothing new to record.
        let is_known = looked.is_empty || looked.has_on_record(&record);
        if is_known && looked.identifiers.is_empty() {
            return Ok(looked.checked);
        }
        self.commit(&Intent {
            format: 1,
            agent: session.agent.to_string(),
            day: ts[..10].to_owned(),
            notes: looked.identifiers,
            bead: None,
            records: vec![record],
        })?;
        Ok(looked.checked)
    }

    /// Goes through the seven steps, and once more if moved files were followed.
    pub(crate) fn look_again(
        &self,
        config: &Config,
        threshold: &Threshold,
        asked: &CheckpointRequest<'_>,
    ) -> Result<Inspection, SessionError> {
        let mut looked = self.session.look(config, threshold, asked)?;
        let moved = self.follow(&looked.checked.grounding)?;
        if !moved.is_empty() {
            looked = self.session.look(config, threshold, asked)?;
            if let Some(first) = looked.checked.steps.first_mut() {
                first.said.extend(moved.iter().map(FileMove::to_string));
            }
            looked.checked.moved = moved;
        }
        let claims = looked.checked.grounding.claims.iter();
        let grounded = claims.filter(|claim| claim.is_grounded());
        let cited = grounded.flat_map(|found| &found.claim.evidence);
        // The fingerprints are derived: without them, only git is asked for a moved file.
        drop(self.note_cited(cited.map(|cited| cited.path.as_str())));
        Ok(looked)
    }
}

impl Session<'_> {
    /// Runs the seven steps and writes nothing: for projects that keep no sessions.
    pub fn looked(
        &self,
        config: &Config,
        threshold: &Threshold,
        whose: ClaimScope,
    ) -> Result<Checked, SessionError> {
        let asked = CheckpointRequest {
            whose,
            bead: None,
            unfinished: &[],
            ts: &second(self.clock.now()),
        };
        Ok(self.look(config, threshold, &asked)?.checked)
    }

    /// Goes through the seven steps and changes nothing.
    pub(crate) fn look(
        &self,
        config: &Config,
        threshold: &Threshold,
        asked: &CheckpointRequest<'_>,
    ) -> Result<Inspection, SessionError> {
        let session = self;
        let read = session.since_handoff(asked.whose)?;
        let tree = Tree::new(session.disk, &session.zones.tree);
        let grounding = Grounding::of(&read, &tree);
        let (notes, foreign) = match session.notes() {
            Err(SessionError::Foreign { what, .. }) => (None, Some(what)),
            notes => (notes?, None),
        };
        let is_empty = notes.is_none()
            && foreign.is_none()
            && read.recorded.records.is_empty()
            && grounding.total() == 0;
        let notes = notes.unwrap_or_else(|| Notes::read(Vec::new()));
        let current = || notes.active().bead.as_deref().and_then(BeadId::new);
        let id = asked.bead.cloned().or_else(current);
        let mut unread_current = Vec::new();
        let bead = match id.as_ref().map(|id| session.bead(id)) {
            Some(Ok(sheet)) => Some(Bead::of(sheet.members())),
            Some(Err(SessionError::Zone(error))) => return Err(error.into()),
            // Its decisions take precedence over the notes, so the claims are unknown.
            Some(Err(SessionError::UnreadBead { file, problem, .. })) => {
                unread_current.push(format!("{file}: {problem}"));
                None
            }
            Some(Err(_)) | None => None,
        };
        let records: Vec<&Record> = read
            .recorded
            .records
            .iter()
            .map(|(_, record)| record)
            .collect();
        let claims: Vec<_> = grounding
            .claims
            .iter()
            .map(|found| found.claim.clone())
            .collect();
        let named = id.as_ref().map(BeadId::as_str).zip(bead.as_ref());
        let current = named.map(|(id, bead)| (id.to_owned(), bead.clone()));
        let found = forks(current.as_slice(), &notes, &claims, &tree);
        let lost = |loses: Source| -> Vec<String> {
            let lost = found
                .iter()
                .filter(|fork| fork.loses == loses && fork.wins != Source::Code);
            lost.map(|fork| fork.what.clone()).collect()
        };
        let (decay, identifiers) = decay(&grounding, &notes, &tree, asked.ts);
        let mut in_notes = lost(Source::Notes);
        let (of_trajectory, others): (Vec<String>, Vec<String>) = lost(Source::Trajectory)
            .into_iter()
            .partition(|what| what.ends_with("the trajectory"));
        let (mut of_bead, of_notes): (Vec<String>, Vec<String>) = others
            .into_iter()
            .partition(|what| !what.ends_with("the notes"));
        in_notes.extend(of_notes);
        let (of_beads, merges) = self.unread_of_beads()?;
        of_bead.extend(of_beads);
        let file = session.zones.named(&session.zones.notes());
        let unread = notes.unread().into_iter().take(MOST_NAMED);
        in_notes.extend(unread.map(|fault| format!("{file}:{}: {}", fault.line, fault.what)));
        let mut of_records: Vec<String> = read
            .recorded
            .bad
            .iter()
            .map(|(file, bad)| match bad.count {
                1 => format!("{file}: line {} is not a record", bad.lines[0]),
                many => format!(
                    "{file}: {many} lines are not records, the first is line {}",
                    bad.lines[0]
                ),
            })
            .collect();
        of_records.extend(of_trajectory);
        let unsettled = notes.unsettled().into_iter().take(MOST_NAMED);
        let unsettled = unsettled.map(|fault| format!("{file}:{}: {}", fault.line, fault.what));
        let foreign = foreign.map(|what| format!("{file}:1: {what}"));
        let unfinished = asked.unfinished.iter().chain(&merges);
        let unfinished = unfinished.map(|file| format!("{file}: {MERGE}"));
        let unread = read
            .recorded
            .unread
            .iter()
            .map(|UnreadLines { file, line, .. }| {
                format!("{file}:{line}: this line is not a record, and may hide a claim")
            });
        let mut unsettled: Vec<String> = foreign
            .into_iter()
            .chain(unsettled)
            .chain(unfinished)
            .chain(unread)
            .collect();
        let has_merge = notes.has_merge() || !(asked.unfinished.is_empty() && merges.is_empty());
        unsettled.extend(unread_current.into_iter().filter(|_| merges.is_empty()));
        // Nothing is written into notes that cannot be read.
        let (first, identifiers) = if unsettled.is_empty() {
            (grounded(&grounding, config, threshold), identifiers)
        } else {
            let has_unread = !read.recorded.unread.is_empty();
            let mut first = unreadable(&unsettled, has_merge, has_unread, config);
            if unsettled.len() == read.recorded.unread.len() {
                // The notes and beads could be read: the claims in them are counted as usual.
                let of_claims = grounded(&grounding, config, threshold);
                if of_claims.outcome != Outcome::Passed {
                    first.said.extend(of_claims.said);
                }
            }
            (first, Vec::new())
        };
        let steps = vec![
            first,
            ghosts(&records, session.unlooked(&notes, &claims)?, config),
            warned("decision log", in_notes),
            bead_step(named, id.as_ref(), of_bead),
            warned("trajectory", of_records),
            decay,
            scenarios(bead.as_ref(), config),
        ];
        let last = read.recorded.records.last().map(|(_, last)| last);
        let is_later = |last: &&Record| {
            let mut others = read.recorded.records.iter().map(|(_, record)| record);
            others.all(|other| other.text("agent") == last.text("agent") || other.ts() < last.ts())
        };
        let last = last.filter(is_later).cloned();
        Ok(Inspection {
            checked: Checked {
                steps,
                grounding,
                moved: Vec::new(),
            },
            identifiers,
            last,
            is_empty,
        })
    }

    /// Returns what is not counted in beads, with file and line: beads that cannot be read, and
    /// decisions without a time of their own. Beads with merge conflict markers are returned
    /// separately, with their lines.
    fn unread_of_beads(&self) -> Result<(Vec<String>, Vec<String>), SessionError> {
        let session = self;
        let mut listing = session.beads().list(session.clock.now())?;
        let mut merges = Vec::new();
        for unread in std::mem::take(&mut listing.unread) {
            match session.beads().first_mark(&unread)? {
                Some(line) => merges.push(format!("{}:{line}", unread.file)),
                None => listing.unread.push(unread),
            }
        }
        let uncounted = session.beads().uncounted(&listing)?.into_iter();
        let uncounted = uncounted.map(|odd| format!("{}:{}: {}", odd.file, odd.line, odd.what));
        let unread = listing.unread.into_iter();
        let unread = unread.map(|unread| format!("{}: {}", unread.file, unread.problem));
        let unread = unread.chain(uncounted).take(MOST_NAMED).collect();
        Ok((unread, merges))
    }
}

/// The claims are unknown as long as the notes cannot be read as intended.
fn unreadable(unsettled: &[String], has_merge: bool, has_unread: bool, config: &Config) -> Step {
    let outcome = Outcome::unmet(config.enforcement);
    let mut lines = vec![headline(outcome, &unsettled[0])];
    if has_merge {
        let hint = "finish the merge (callosum session heal merges both sides and keeps what only \
            a person can decide); then the claims are checked";
        lines.push(hint.to_owned());
    }
    if has_unread {
        let hint =
            "correct or delete the line, or continue without it: callosum session handoff --force";
        lines.push(hint.to_owned());
    }
    lines.extend_from_slice(&unsettled[1..]);
    Step {
        name: "grounding",
        outcome,
        said: lines,
    }
}

/// Returns the headline for a failed step, in the seed's words if it keeps a context from being
/// cleared.
fn headline(outcome: Outcome, what: &str) -> String {
    if outcome == Outcome::Blocked {
        format!("Cannot clear: {what}")
    } else {
        what.to_owned()
    }
}

fn grounded(grounding: &Grounding, config: &Config, threshold: &Threshold) -> Step {
    let name = "grounding";
    let is_strict = config.enforcement == Enforcement::Strict;
    let lacking: Vec<&Grounded> = grounding.lacking(config.enforcement).collect();
    let complaints = lacking.iter().map(|claim| {
        format!(
            "{}: {} ({})",
            claim.claim.place,
            secrets::mask(&claim.claim.text).text,
            claim.complaint()
        )
    });
    let complaints: Vec<String> = complaints.collect();
    let time = lacking_time(lacking.iter().copied());
    if grounding.passes_under(threshold, config.enforcement) {
        let admitted = grounding.total() - grounding.grounded() - lacking.len();
        let without = match admitted {
            0 => String::new(),
            1 => ", 1 is an assumption or the user's word".to_owned(),
            many => format!(", {many} are assumptions or the user's word"),
        };
        let (grounded, total) = (grounding.grounded(), grounding.total());
        let decisions = if total == 1 { "decision" } else { "decisions" };
        let have = if grounded == 1 { "has" } else { "have" };
        let summary = format!("{grounded} of {total} {decisions} {have} evidence{without}");
        return Step {
            name,
            outcome: Outcome::Passed,
            said: vec![summary],
        };
    }
    let outcome = Outcome::unmet(config.enforcement);
    let many = match complaints.len() {
        1 => "1 decision lacks evidence".to_owned(),
        many => format!("{many} decisions lack evidence"),
    };
    let mut lines = vec![headline(outcome, &many)];
    if is_strict {
        lines.push(format!(
            "grounding ratio {}, required {threshold}",
            grounding.ratio()
        ));
    }
    lines.push(format!(
        "add evidence that holds: callosum session cite {time} PLACE"
    ));
    let can_be_marked = lacking
        .iter()
        .any(|claim| matches!(claim.claim.kind, ClaimKind::Citation | ClaimKind::Other));
    if can_be_marked {
        let strictly = if is_strict {
            " (it does not raise the ratio)"
        } else {
            ""
        };
        lines.push(format!(
            "or mark it as an assumption: callosum session cite {time} --source assumption{strictly}"
        ));
    }
    if outcome == Outcome::Blocked {
        lines.push(
            "or continue without evidence: callosum session handoff --force (the next session is \
             notified)"
                .to_owned(),
        );
    }
    lines.extend(complaints);
    Step {
        name,
        outcome,
        said: lines,
    }
}

/// Checks that features marked as absent were searched for.
fn ghosts(records: &[&Record], unlooked: Vec<(String, String)>, config: &Config) -> Step {
    let unverified = unverified(records).into_iter();
    let unverified = unverified.map(|(feature, why)| {
        let named = match feature.as_str() {
            "" => "a record without a feature name",
            feature => feature,
        };
        format!("{MARK} {named}: {why}: {}", search_command(&feature))
    });
    let unlooked = unlooked.into_iter();
    let unlooked = unlooked.map(|(words, place)| {
        let is_short = words.chars().count() <= LONGEST_FEATURE;
        let feature = if is_short { words.as_str() } else { "" };
        let search = search_command(feature);
        format!("{MARK} {words} ({place}): not searched for yet: {search}")
    });
    let lines: Vec<String> = unverified.chain(unlooked).collect();
    let outcome = if lines.is_empty() {
        Outcome::Passed
    } else {
        Outcome::unmet(config.enforcement)
    };
    Step {
        name: "negative grounding",
        outcome,
        said: lines,
    }
}

fn warned(name: &'static str, lines: Vec<String>) -> Step {
    let outcome = if lines.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Warned
    };
    Step {
        name,
        outcome,
        said: lines,
    }
}

fn bead_step(bead: Option<(&str, &Bead)>, id: Option<&BeadId>, mut lines: Vec<String>) -> Step {
    let name = "bead";
    let Some((id, bead)) = bead else {
        let no_bead = match id {
            Some(id) => format!("the current bead `{id}` does not exist or cannot be read"),
            None => "there is no current bead: callosum bead update ID --current".to_owned(),
        };
        lines.insert(0, no_bead);
        return warned(name, lines);
    };
    if bead.next_steps.is_empty() && !is_closed(&bead.status) {
        lines.push(format!(
            "{id} has no next step: callosum bead update {id} --next WORDS"
        ));
    }
    warned(name, lines)
}

/// Turns cited places into identifier rows, and reports code in the notes.
fn decay(
    grounding: &Grounding,
    notes: &Notes,
    tree: &Tree<'_>,
    ts: &str,
) -> (Step, Vec<NoteChange>) {
    let name = "decay";
    let mut changes = Vec::new();
    let known = notes.identifiers();
    let known: HashSet<&str> = known.iter().map(|row| row.place.as_str()).collect();
    for found in &grounding.claims {
        for cited in &found.claim.evidence {
            let place = cited.identifier();
            if !known.contains(place.as_str()) && tree.stand(cited) == EvidenceStatus::Verified {
                changes.push(NoteChange::Identifier {
                    place,
                    purpose: found.claim.text.chars().take(80).collect(),
                    verified: ts[11..].to_owned(),
                });
            }
        }
    }
    let mut lines: Vec<String> = Vec::new();
    match changes.len() {
        0 => {}
        1 => lines.push("1 cited place is now in the identifiers of NOTES.md".to_owned()),
        many => lines.push(format!(
            "{many} cited places are now in the identifiers of NOTES.md"
        )),
    }
    let raw = notes.raw_blocks();
    for (line, text) in &raw {
        let tokens = estimate(text);
        lines.push(format!(
            "NOTES.md:{line}: {tokens} tokens of raw output; {ROOT_PREFIX}path:a-b is enough"
        ));
    }
    let outcome = match (raw.is_empty(), changes.is_empty()) {
        (false, _) => Outcome::Warned,
        (true, false) => Outcome::Done,
        (true, true) => Outcome::Passed,
    };
    (
        Step {
            name,
            outcome,
            said: lines,
        },
        changes,
    )
}

fn scenarios(bead: Option<&Bead>, config: &Config) -> Step {
    let name = "test scenarios";
    if config.scenarios == 0 || config.edd == Enforcement::Disabled {
        return Step {
            name,
            outcome: Outcome::Skipped,
            said: Vec::new(),
        };
    }
    let has = bead.map_or(0, |bead| bead.scenarios.len());
    let mut lines = vec![format!("{has} of {} test scenarios", config.scenarios)];
    let outcome = if has >= config.scenarios {
        Outcome::Passed
    } else {
        lines.push("name them: callosum session decide WORDS --acceptance WORDS".to_owned());
        Outcome::unmet(config.edd)
    };
    Step {
        name,
        outcome,
        said: lines,
    }
}
