//! [`Session::recorded`]: the decisions that trajectories and beads know of, for notes that have
//! lost some.
//!
//! Notes are lost, torn, or replaced by older ones; the records of every agent and the beads still
//! have the decisions. A decision counts as lost if no heading of the notes has its time. One that
//! a person commented out or moved elsewhere in the file was withdrawn, and stays so.
//!
//! The cost of reading grows with all records, so a mark remembers which notes were found complete.
//! The mark is derived: without it, everything is read again.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap, HashSet},
};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    bead::{Bead, BeadId, Mark},
    grounding::{ClaimKind, claim_of, revision_of},
    notes::{Decision, Notes},
    sanitize::{Redaction, comparable, title_of},
    source::Source,
    timestamp::{in_order, second, times_from},
    trajectory::{Record, day_files, each_record},
    transaction::{LockedSession, Session, SessionError},
    zones::ZoneError,
};

/// The file that has the mark of notes that were found complete.
const MARK: &str = "notes.mark";

/// The member of a record that says that its bead was not the current one.
pub(crate) const NOT_CURRENT: &str = "bead_not_current";

/// Decisions known from trajectories and beads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recorded {
    /// Decisions that the notes lack, or have the beginning of, oldest first.
    pub(crate) lost: Vec<Lost>,
    /// The bead of the last record that names the current one.
    pub(crate) bead: Option<BeadId>,
    /// When the last checkpoint or hand-off was.
    pub(crate) checkpoint: Option<String>,
}

/// A decision that the notes lack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lost {
    pub(crate) decision: Decision,
    /// Source that still has it.
    pub(crate) from: Source,
    /// Revision number of its evidence.
    revision: u32,
    /// Whether its first record was found.
    has_first: bool,
}

/// Times of decisions that the notes do have.
struct Lacking<'n> {
    /// Times in headings, of decisions or not, and the number of headings with each.
    headed: HashMap<&'n str, usize>,
    /// Entries by their times.
    entries: HashMap<&'n str, Vec<&'n Decision>>,
    /// The line of the first entry with these words, in their comparable form, by times. Thousands of entries may share a
    /// second.
    lines: HashMap<&'n str, OnceCell<HashMap<String, usize>>>,
    /// Entries that may break off, by their times.
    breaking_off: HashMap<&'n str, &'n Decision>,
}

impl<'n> Lacking<'n> {
    fn of(notes: &'n Notes, decisions: &'n [Decision]) -> Self {
        let mut headed = notes.headed_times();
        let mut entries: HashMap<&str, Vec<&Decision>> = HashMap::new();
        for there in decisions {
            entries.entry(&there.ts).or_default().push(there);
        }
        for (ts, of_its_time) in &entries {
            let many = headed.entry(ts).or_default();
            *many = of_its_time.len().max(*many);
        }
        let last = decisions.iter().map(|there| there.last_line).max();
        let breaks_off =
            |there: &&Decision| there.decision.is_empty() || Some(there.last_line) == last;
        let breaking_off = decisions.iter().filter(breaks_off);
        Self {
            headed,
            lines: entries.keys().map(|ts| (*ts, OnceCell::new())).collect(),
            entries,
            breaking_off: breaking_off
                .map(|there| (there.ts.as_str(), there))
                .collect(),
        }
    }

    /// Whether the notes may lack the decision of this time, or some of it.
    fn may_have(&self, ts: &str) -> bool {
        !self.headed.contains_key(ts) || self.breaking_off.contains_key(ts)
    }

    /// Returns the line of the entry that has these words.
    fn saying(&self, ts: &str, words: &str) -> Option<usize> {
        let lines = self.lines.get(ts)?.get_or_init(|| {
            let mut lines = HashMap::new();
            for entry in self.entries.get(ts).into_iter().flatten() {
                lines.entry(comparable(entry.words())).or_insert(entry.line);
            }
            lines
        });
        lines.get(&comparable(words)).copied()
    }

    fn is_lost(&self, notes: &Notes, decision: &Decision) -> bool {
        let ts = decision.ts.as_str();
        match self.breaking_off.get(ts) {
            Some(there) => notes.beginning(there, decision).is_some(),
            None => !self.headed.contains_key(ts),
        }
    }
}

/// Decisions whose time has entries in the notes, but with other words: a person reworded the
/// entry, or it belongs to a decision of another checkout.
#[derive(Default)]
struct Reworded {
    reworded: BTreeMap<String, Vec<Lost>>,
    /// The lines of entries that have a record of their own.
    recorded: HashSet<usize>,
}

impl Reworded {
    fn take(&mut self, lacking: &Lacking<'_>, record: &Record) {
        let (ts, revision) = (record.text("decision"), revision_of(record));
        match lacking.saying(ts, record.text("claim")) {
            Some(line) => {
                if revision == 0 {
                    self.recorded.insert(line);
                }
            }
            None => keep(
                &mut self.reworded,
                decided(record),
                Source::Trajectory,
                revision,
            ),
        }
    }

    /// Returns those that no remaining entry can belong to.
    fn lost(self, lacking: &Lacking<'_>) -> impl Iterator<Item = Lost> {
        let left = |ts: &str| {
            let of_its_time = lacking.entries.get(ts).into_iter().flatten();
            let recorded = of_its_time.filter(|entry| self.recorded.contains(&entry.line));
            let recorded = recorded.count();
            let headed = lacking.headed.get(ts).copied().unwrap_or(0);
            headed.saturating_sub(recorded)
        };
        let reworded = self.reworded.into_iter();
        let lost: Vec<Lost> = reworded
            .flat_map(|(ts, reworded)| {
                let first = reworded.into_iter().filter(|lost| lost.has_first);
                first.skip(left(&ts)).collect::<Vec<_>>()
            })
            .collect();
        lost.into_iter()
    }
}

impl Session<'_> {
    /// Reads every trajectory and every bead. Skips those that cannot be read.
    pub(crate) fn recorded(&self, notes: &Notes) -> Result<Recorded, SessionError> {
        let mut recorded = Recorded::default();
        let in_notes = notes.decisions();
        let lacking = Lacking::of(notes, &in_notes);
        let mut known: BTreeMap<String, Vec<Lost>> = BTreeMap::new();
        let mut reworded = Reworded::default();
        let mut claims = Vec::new();
        let mut of_bead = (String::new(), None);
        for file in day_files(self.disk, self.zones)? {
            each_record(self.disk, &file, |record| {
                let is_of_current = record.members.get(NOT_CURRENT) != Some(&Value::Bool(true));
                if is_of_current
                    && in_order(record.ts()) >= in_order(&of_bead.0)
                    && let Some(id) = BeadId::new(record.text("bead_id"))
                {
                    of_bead = (record.ts().to_owned(), Some(id));
                }
                match record.phase() {
                    "delta_sync" | "session_handoff" if is_time(record.ts()) => {
                        let last = recorded.checkpoint.get_or_insert_default();
                        if in_order(last) < in_order(record.ts()) {
                            record.ts().clone_into(last);
                        }
                    }
                    "cite" if record.text("decision").is_empty() => claims.push(record),
                    "cite" => {
                        let (ts, revision) = (record.text("decision"), revision_of(&record));
                        if lacking.may_have(ts) {
                            keep(&mut known, decided(&record), Source::Trajectory, revision);
                        }
                        if lacking.headed.contains_key(ts) {
                            reworded.take(&lacking, &record);
                        }
                    }
                    _ => {}
                }
            })?;
        }
        recorded.bead = of_bead.1;
        let of_beads = self.of_beads(&lacking)?.into_iter();
        let of_beads = of_beads.filter(|made| !known.contains_key(&made.ts));
        for decision in of_beads.collect::<Vec<_>>() {
            keep(&mut known, Some(decision), Source::Bead, 0);
        }
        let mut words: HashMap<String, String> = words_of(&in_notes);
        for lost in known.values().flatten() {
            let decision = &lost.decision;
            words
                .entry(decision.ts.clone())
                .or_insert_with(|| decision.decision.clone());
        }
        let mut redaction = Redaction::default();
        for record in &claims {
            let claimed = claimed(record, &words, &mut |text| redaction.statement(text));
            if let Some(decision) = claimed {
                words.insert(decision.ts.clone(), decision.decision.clone());
                if lacking.may_have(&decision.ts) {
                    keep(&mut known, Some(decision), Source::Trajectory, 0);
                }
            }
        }
        let is_lost = |lost: &Lost| lacking.is_lost(notes, &lost.decision);
        recorded.lost = known.into_values().flatten().filter(is_lost).collect();
        for lost in reworded.lost(&lacking) {
            if !recorded.lost.contains(&lost) {
                recorded.lost.push(lost);
            }
        }
        let ts = |lost: &Lost| in_order(&lost.decision.ts).to_owned();
        recorded.lost.sort_by_key(ts);
        Ok(recorded)
    }

    /// Returns the decisions of all beads that can be read.
    fn of_beads(&self, lacking: &Lacking<'_>) -> Result<Vec<Decision>, SessionError> {
        let folder = self.zones.real(self.disk, &self.zones.beads())?;
        let mut all = Vec::new();
        for entry in self.disk.list_dir(&folder)? {
            let id = entry.name.to_str().and_then(BeadId::of_file);
            let sheet = id.and_then(|id| self.beads().sheet(&id).ok().flatten());
            let Some(sheet) = sheet else { continue };
            let mut redaction = Redaction::default();
            for made in Bead::of(sheet.members()).decisions {
                if !lacking.may_have(&made.ts) || !is_time(&made.ts) {
                    continue;
                }
                let words = redaction.statement(&made.decision);
                if !words.is_empty() {
                    all.push(Decision {
                        title: title_of(&words),
                        ts: made.ts,
                        decision: words,
                        rationale: made.rationale.map(|why| redaction.statement(&why)),
                        evidence: made.evidence,
                        is_assumption: made.is_assumption,
                        is_user_input: made.is_user_input,
                        ..Decision::default()
                    });
                }
            }
        }
        Ok(all)
    }

    fn mark(&self) -> Result<Option<String>, SessionError> {
        let path = self.zones.real(self.disk, &self.zones.notes())?;
        let stat = self.disk.stat(&path)?;
        Ok(stat.map(|stat| Mark::of(&stat).line()))
    }
}

impl LockedSession<'_> {
    /// Whether the notes are those that were last found to have every decision.
    pub(crate) fn is_complete(&self) -> Result<bool, SessionError> {
        let session = &self.session;
        let path = session.zones.own().join(MARK);
        let path = session.zones.real(session.disk, &path)?;
        let known = session.disk.read_if_there(&path).map_err(ZoneError::from)?;
        let now = session.mark()?;
        Ok(known.is_some() && known == now.map(String::into_bytes))
    }

    /// Remembers that the notes have every decision.
    pub(crate) fn note_complete(&self) -> Result<(), SessionError> {
        let session = &self.session;
        let Some(mark) = session.mark()? else {
            return Ok(());
        };
        let path = session.zones.own().join(MARK);
        let path = session.zones.real(session.disk, &path)?;
        Ok(session
            .disk
            .replace_unsynced(&path, mark.as_bytes(), 0o644)?)
    }
}

/// Keeps a decision. A later record of a decision replaces the earlier one and takes over the
/// members that it lacks, but not the evidence of an earlier revision. A record of the same time
/// with other words is another decision, unless it restates one.
fn keep(
    known: &mut BTreeMap<String, Vec<Lost>>,
    decision: Option<Decision>,
    from: Source,
    revision: u32,
) {
    let Some(decision) = decision else { return };
    let new = Lost {
        decision,
        from,
        revision,
        has_first: revision == 0,
    };
    let of_its_time = known.entry(new.decision.ts.clone()).or_default();
    let says = |lost: &Lost| lost.decision.decision == new.decision.decision;
    let is_restatement = |lost: &Lost| !(lost.has_first && new.has_first);
    let is_titled = |lost: &Lost| lost.decision.title == new.decision.title;
    let is_alone = of_its_time.len() == 1;
    let known = of_its_time.iter().position(says).or_else(|| {
        of_its_time
            .iter()
            .position(|lost| is_restatement(lost) && (is_titled(lost) || is_alone))
    });
    let Some(known) = known else {
        of_its_time.push(new);
        return;
    };
    let before = of_its_time.remove(known);
    let has_first = before.has_first || new.has_first;
    let (earlier, mut lost) = if before.revision > new.revision {
        (new, before)
    } else {
        (before, new)
    };
    let is_of_one = earlier.revision == lost.revision;
    let (decision, before) = (&mut lost.decision, earlier.decision);
    decision.rationale = decision.rationale.take().or(before.rationale);
    if decision.scenarios.is_empty() {
        decision.scenarios = before.scenarios;
    }
    for cited in before.evidence.into_iter().filter(|_| is_of_one) {
        if !decision.evidence.contains(&cited) {
            decision.evidence.push(cited);
        }
    }
    lost.has_first = has_first;
    of_its_time.insert(known, lost);
}

/// Returns the decision that a record of ours has.
pub(crate) fn decided(record: &Record) -> Option<Decision> {
    let mut redaction = Redaction::default();
    let claim = claim_of(record);
    let words = redaction.statement(&claim.text);
    let ts = claim.decision.filter(|ts| is_time(ts))?;
    let title = redaction.statement(record.text("title"));
    let scenarios = record
        .members
        .get("test_scenarios")
        .and_then(Value::as_array);
    let scenarios = scenarios.into_iter().flatten().filter_map(Value::as_str);
    let rationale = redaction.statement(record.text("rationale"));
    (!words.is_empty()).then(|| Decision {
        ts,
        title: if title.is_empty() {
            title_of(&words)
        } else {
            title
        },
        decision: words,
        rationale: Some(rationale).filter(|why| !why.is_empty()),
        evidence: claim.evidence,
        scenarios: scenarios.map(|words| redaction.statement(words)).collect(),
        is_assumption: claim.kind == ClaimKind::Assumption,
        is_user_input: claim.kind == ClaimKind::UserInput,
        ..Decision::default()
    })
}

/// Returns the claim of another writer as a decision, under a time that no other decision has.
/// `None` if it has no words or no time, or is known.
pub(crate) fn claimed(
    record: &Record,
    known: &HashMap<String, String>,
    statement: &mut impl FnMut(&str) -> String,
) -> Option<Decision> {
    let words = statement(record.text("claim"));
    let at: Timestamp = record.ts().parse().ok()?;
    if words.is_empty() {
        return None;
    }
    // If another decision already had that second, later times were used.
    let mut then = at;
    while let Some(there) = known.get(&second(then)) {
        if *there == words {
            return None;
        }
        then = then.checked_add(SignedDuration::from_secs(1)).ok()?;
    }
    let claim = claim_of(record);
    for ts in times_from(at) {
        match known.get(&ts) {
            Some(there) if *there == words => return None,
            Some(_) => {}
            None => {
                return Some(Decision {
                    ts,
                    title: title_of(&words),
                    decision: words,
                    is_assumption: claim.kind == ClaimKind::Assumption,
                    is_user_input: claim.kind == ClaimKind::UserInput,
                    evidence: claim.evidence,
                    ..Decision::default()
                });
            }
        }
    }
    None
}

/// Returns the words of decisions, by their times.
pub(crate) fn words_of(decisions: &[Decision]) -> HashMap<String, String> {
    let newest_first = decisions.iter().rev();
    newest_first
        .map(|known| (known.ts.clone(), known.words().to_owned()))
        .collect()
}

/// Whether a text is a time that a heading may begin with.
fn is_time(text: &str) -> bool {
    text.len() <= 40 && text.parse::<Timestamp>().is_ok()
}
