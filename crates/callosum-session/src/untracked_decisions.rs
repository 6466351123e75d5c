//! [`Unrecorded`]: decisions of the session that notes or beads have, and no trajectory.
//!
//! Trajectories are lost, torn, or stay on another machine, and people write into the notes as the
//! seed says. Notes and beads take precedence over the trajectory, so their decisions count as
//! claims. [`Seen`](crate::attribution::Seen) determines the entries that belong to the session.

use std::collections::{BTreeMap, HashMap, HashSet};

use callosum_redact::secrets::mask;
use serde_json::Value;

use crate::{
    bead::{Bead, BeadDecision, BeadId},
    decide::{EvidenceKind, cite_record},
    grounding::{Claim, ClaimKind},
    notes::Decision,
    sanitize::{Redaction, one_line, title_of},
    source::Source,
    trajectory::{day_files, each_record},
    transaction::{Session, SessionError},
    zones::ZoneError,
};

/// A decision that no trajectory has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unrecorded {
    pub(crate) decision: Decision,
    /// The bead that has it.
    pub(crate) bead: Option<BeadId>,
    /// Source that has it; of two, the one that is believed.
    pub(crate) from: Source,
    /// Its place.
    place: String,
    /// Its time; with its title, if another entry of the notes or of its bead has that time.
    name: String,
    /// Whether an entry before it in its bead has its time and says something else.
    is_further: bool,
}

/// Decisions and claims in trajectories.
#[derive(Default)]
struct Known {
    /// The words of decisions, by their times or names.
    times: HashMap<String, HashSet<String>>,
    /// The words of claims that have no time of a decision, as other writers make them.
    words: HashSet<String>,
}

impl Known {
    fn of<'c>(claimed: impl Iterator<Item = (&'c str, &'c str)>) -> Self {
        let mut known = Self::default();
        for (ts, words) in claimed {
            known.take(ts, words);
        }
        known
    }

    fn take(&mut self, ts: &str, words: &str) {
        let line = one_line(&mask(words).text);
        if ts.is_empty() {
            self.words.insert(line);
        } else {
            self.times.entry(ts.to_owned()).or_default().insert(line);
        }
    }

    /// Whether they have these words under this time.
    fn says(&self, ts: &str, words: &str) -> bool {
        let line = one_line(words);
        self.words.contains(&line)
            || self
                .times
                .get(ts)
                .is_some_and(|known| known.contains(&line))
    }

    /// Whether trajectories have the decision, given the entries of the notes with the same time,
    /// itself included. A record belongs to the entry with its words, or else to the first.
    fn has(&self, decision: &Decision, of_its_time: &[Decision]) -> bool {
        if self.words.contains(&one_line(decision.words()))
            || self.times.contains_key(&decision.heading())
        {
            return true;
        }
        let Some(known) = self.times.get(&decision.ts) else {
            return false;
        };
        let says = |other: &Decision| known.contains(&one_line(other.words()));
        let is_first = || of_its_time[0].line == decision.line;
        of_its_time.is_empty() || says(decision) || (is_first() && !of_its_time.iter().any(says))
    }
}

impl Unrecorded {
    fn of_notes(decision: Decision, file: &str, is_alone: bool) -> Self {
        let name = if is_alone {
            decision.ts.clone()
        } else {
            decision.heading()
        };
        Self {
            name,
            place: format!("{file}:{}", decision.line),
            decision,
            bead: None,
            from: Source::Notes,
            is_further: false,
        }
    }

    fn of_bead(ts: &str) -> Self {
        Self {
            decision: Decision {
                ts: ts.to_owned(),
                ..Decision::default()
            },
            bead: None,
            from: Source::Bead,
            place: String::new(),
            name: ts.to_owned(),
            is_further: false,
        }
    }

    /// Merges a bead's statement: its words are believed, and its evidence is added to the rest.
    fn take(&mut self, id: &BeadId, place: String, made: BeadDecision) {
        let decision = &mut self.decision;
        if decision.decision.is_empty() {
            decision.title = title_of(&made.decision);
            decision.decision = made.decision;
        }
        decision.rationale = decision.rationale.take().or(made.rationale);
        decision.is_assumption |= made.is_assumption;
        decision.is_user_input |= made.is_user_input;
        for cited in made.evidence {
            if !decision.evidence.contains(&cited) {
                decision.evidence.push(cited);
            }
        }
        self.bead = Some(id.clone());
        self.from = Source::Bead;
        if self.place.is_empty() {
            self.place = place;
        }
    }

    fn cites(&self) -> bool {
        !self.decision.evidence.is_empty() || self.decision.unread > 0
    }

    /// It as a claim.
    pub(crate) fn claim(&self) -> Claim {
        let decision = &self.decision;
        let kind = match (self.cites(), decision.is_assumption, decision.is_user_input) {
            (true, _, _) => ClaimKind::Citation,
            (_, true, _) => ClaimKind::Assumption,
            (_, _, true) => ClaimKind::UserInput,
            _ => ClaimKind::Other,
        };
        let words = match decision.words() {
            "" => decision.title.as_str(),
            words => words,
        };
        Claim {
            text: words.to_owned(),
            title: decision.title.clone(),
            decision: Some(self.name.clone()),
            bead: self.bead.as_ref().map(ToString::to_string),
            kind,
            evidence: decision.evidence.clone(),
            unread: decision.unread,
            revision: 0,
            place: self.place.clone(),
            said_in: self.from,
            revised_in: None,
        }
    }

    /// Returns the record that its trajectory has lost, without secrets; it names its source.
    pub(crate) fn record(&self, agent: &str) -> Value {
        let mut redaction = Redaction::default();
        let of = &self.decision;
        let mut decision = Decision {
            ts: redaction.statement(&self.name),
            title: redaction.statement(&of.title),
            decision: redaction.statement(of.words()),
            ..of.clone()
        };
        if decision.decision.is_empty() {
            decision.decision.clone_from(&decision.title);
        }
        decision.rationale = of.rationale.as_ref().map(|why| redaction.statement(why));
        for scenario in &mut decision.scenarios {
            *scenario = redaction.statement(scenario);
        }
        for cited in &mut decision.evidence {
            cited.quote = cited.quote.as_ref().map(|quote| redaction.mask(quote));
        }
        let ground = match (self.cites(), of.is_assumption, of.is_user_input) {
            (true, _, _) => None,
            (_, true, _) => Some(EvidenceKind::Assumption),
            (_, _, true) => Some(EvidenceKind::UserInput),
            _ => Some(EvidenceKind::Nothing),
        };
        let mut record = cite_record(agent, &decision, ground, self.bead.as_ref(), None);
        if of.unread > 0
            && let Some(evidence) = record["evidence"].as_array_mut()
        {
            evidence.push("evidence that names no place".into());
        }
        record["healed_from"] = self.from.to_string().into();
        record
    }
}

impl Session<'_> {
    /// Returns the decisions of the session that notes or beads have, and neither these claims,
    /// each with its time and words, nor any other record of a trajectory. Sorted by their times.
    ///
    /// Reads the notes; of beads, those with a decision since the last hand-off; of trajectories,
    /// if there is something to look for, those since then.
    pub(crate) fn unrecorded<'c>(
        &self,
        claimed: impl Iterator<Item = (&'c str, &'c str)>,
    ) -> Result<Vec<Unrecorded>, SessionError> {
        let mut known = Known::of(claimed);
        let seen = self.seen()?;
        let notes = match self.notes() {
            Ok(notes) => notes,
            Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Foreign { .. }
                | SessionError::Zone(ZoneError::Outside { .. }),
            ) => None,
            Err(error) => return Err(error),
        };
        let file = self.zones.named(&self.zones.notes());
        let mut found: BTreeMap<(String, usize), Unrecorded> = BTreeMap::new();
        let mut over: HashSet<String> = HashSet::new();
        let mut shared: HashMap<String, Vec<Decision>> = HashMap::new();
        if let Some(notes) = &notes {
            let mut once: HashSet<String> = HashSet::new();
            for (ts, _) in notes.headings() {
                if let Some(ts) = once.replace(ts) {
                    shared.insert(ts, Vec::new());
                }
            }
            for decision in notes.decisions_where(|ts, _| shared.contains_key(ts)) {
                shared
                    .entry(decision.ts.clone())
                    .or_default()
                    .push(decision);
            }
            let new = notes.decisions_where(|ts, title| {
                let is_alone = !shared.contains_key(ts);
                let is_over = seen.has(ts, title) || (is_alone && seen.has_time(ts));
                if is_over {
                    over.insert(ts.to_owned());
                }
                !is_over && (shared.contains_key(ts) || !known.times.contains_key(ts))
            });
            for decision in new {
                if seen.has_words(&decision.ts, decision.words()) {
                    continue;
                }
                let of_its_time = shared.get(&decision.ts).map_or(&[][..], Vec::as_slice);
                if !known.has(&decision, of_its_time) {
                    let key = (decision.ts.clone(), decision.line);
                    let is_alone = of_its_time.is_empty();
                    found.insert(key, Unrecorded::of_notes(decision, &file, is_alone));
                }
            }
            let undated = notes.undated().into_iter();
            for decision in undated.filter(|new| !seen.has_undated(&new.ts)) {
                if !known.has(&decision, &[]) {
                    let key = (decision.ts.clone(), decision.line);
                    found.insert(key, Unrecorded::of_notes(decision, &file, true));
                }
            }
        }
        let rows = self.beads().list(self.clock.now())?.rows.into_iter();
        let rows = rows.filter(|row| !row.decided.is_empty() && !seen.is_over(&row.decided));
        for id in rows.filter_map(|row| BeadId::new(&row.id)) {
            let Ok(sheet) = self.bead(&id) else { continue };
            let place = self.zones.named(&self.zones.beads().join(id.file()));
            let mut first_of: HashMap<String, String> = HashMap::new();
            for made in Bead::of(sheet.members()).decisions {
                let words = first_of.entry(made.ts.clone());
                let is_further = *words.or_insert_with(|| made.decision.clone()) != made.decision;
                let is_known = if is_further {
                    known.says(&made.ts, &made.decision)
                } else {
                    known.times.contains_key(&made.ts) || over.contains(&made.ts)
                };
                let is_covered = || seen.has(&made.ts, &title_of(&made.decision));
                if is_known || made.ts.is_empty() || seen.is_over(&made.ts) || is_covered() {
                    continue;
                }
                let of_its_time = found.range((made.ts.clone(), 0)..=(made.ts.clone(), usize::MAX));
                let mut of_its_time = of_its_time.map(|(key, _)| key.1).peekable();
                let first = of_its_time.peek().copied().unwrap_or(0);
                let says = |line: &usize| {
                    let entry = &found[&(made.ts.clone(), *line)];
                    entry.decision.words() == made.decision
                };
                let line = match of_its_time.find(says) {
                    Some(line) => line,
                    None if is_further => usize::MAX - found.len(),
                    None => first,
                };
                let entry = found.entry((made.ts.clone(), line));
                let entry = entry.or_insert_with(|| Unrecorded::of_bead(&made.ts));
                entry.take(&id, place.clone(), made);
                if is_further {
                    entry.is_further = true;
                    entry.name = entry.decision.heading();
                }
            }
        }
        if !found.is_empty() {
            self.recorded_since(found.keys().next().map_or("", |(ts, _)| ts), &mut known)?;
        }
        let found = found.into_values();
        let is_new = |new: &Unrecorded| {
            if new.is_further {
                return !known.says(&new.decision.ts, new.decision.words());
            }
            let of_its_time = shared.get(&new.decision.ts);
            !known.has(&new.decision, of_its_time.map_or(&[], Vec::as_slice))
        };
        Ok(found.filter(is_new).collect())
    }

    /// Adds the decisions in trajectories from the day before the day of a time on.
    fn recorded_since(&self, ts: &str, known: &mut Known) -> Result<(), SessionError> {
        let day = ts.get(..10).unwrap_or_default();
        let day = day.parse::<jiff::civil::Date>().ok();
        let first = day.and_then(|day| day.yesterday().ok());
        let first = first.map(|day| day.to_string()).unwrap_or_default();
        for file in day_files(self.disk, self.zones)? {
            if file.day < first {
                continue;
            }
            each_record(self.disk, &file, |record| {
                if record.phase() == "cite" {
                    known.take(record.text("decision"), record.text("claim"));
                }
            })?;
        }
        Ok(())
    }
}
