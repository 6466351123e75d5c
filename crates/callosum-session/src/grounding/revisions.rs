//! [`Revised`]: current wording, in beads and `NOTES.md`, of decisions that a trajectory has
//! recorded.
//!
//! A record is never changed, and bead and notes take precedence over it. If a person has reworded
//! an entry of the notes, or changed its evidence, the notes count, unless a bead has the decision;
//! if a bead has other words, the bead counts.

use std::collections::{HashMap, HashSet};

use super::claim::{Claim, ClaimKind, time_of};
use crate::{
    bead::{Bead, BeadId},
    evidence::Evidence,
    notes::{Decision, Notes, is_time},
    sanitize::comparable,
    source::Source,
    transaction::{Session, SessionError},
    zones::ZoneError,
};

/// The entries of beads and notes for recorded decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Revised {
    /// File that contains them.
    file: String,
    /// By the times of the decisions, or by their names if they have no time.
    entries: HashMap<String, Entries>,
    /// Their state in their beads, by their times and the ids of the beads.
    in_beads: HashMap<(String, String), InBeads>,
}

/// The entries of one time, indexed so that a claim does not compare itself with each of them: thousands of claims may
/// share a second.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entries {
    all: Vec<Decision>,
    /// The first entry with these words, in their comparable form.
    by_words: HashMap<String, usize>,
    /// The first entry with this heading.
    by_heading: HashMap<String, usize>,
    /// The first entry with these words and this heading.
    by_both: HashMap<(String, String), usize>,
}

impl Entries {
    fn push(&mut self, entry: Decision) {
        let at = self.all.len();
        let (words, heading) = (comparable(entry.words()), entry.heading());
        let both = (words.clone(), heading.clone());
        self.by_both.entry(both).or_insert(at);
        self.by_words.entry(words).or_insert(at);
        self.by_heading.entry(heading).or_insert(at);
        self.all.push(entry);
    }

    /// Returns the entry with these words, preferring the one with this heading.
    fn saying(&self, words: &str, heading: &str) -> Option<&Decision> {
        let both = (words.to_owned(), heading.to_owned());
        let at = self.by_both.get(&both).or_else(|| self.by_words.get(words));
        at.map(|at| &self.all[*at])
    }

    fn titled(&self, heading: &str) -> Option<&Decision> {
        self.by_heading.get(heading).map(|at| &self.all[*at])
    }
}

/// The decisions of one time in one bead, indexed by their words.
#[derive(Clone, Debug, Default, PartialEq)]
struct InBeads {
    all: Vec<InBead>,
    /// The first decision with these words, in their comparable form.
    by_words: HashMap<String, usize>,
}

impl InBeads {
    fn push(&mut self, made: InBead) {
        let words = comparable(&made.words);
        self.by_words.entry(words).or_insert(self.all.len());
        self.all.push(made);
    }
}

/// A decision as its bead has it.
#[derive(Clone, Debug, Default, PartialEq)]
struct InBead {
    id: String,
    file: String,
    words: String,
    evidence: Vec<Evidence>,
}

impl Revised {
    /// Returns the claim as the notes have it, if they differ from its record.
    pub(super) fn applied(&self, claim: Claim) -> Claim {
        let Some(name) = &claim.decision else {
            return claim;
        };
        let words = comparable(&claim.text);
        let is_said = |other: &str| other == claim.text || comparable(other) == words;
        let time = time_of(name);
        // One that has its time alone may have been given other words; one that shares it, other words or another title.
        let is_alone = time == name;
        let bead = claim.bead.clone().unwrap_or_default();
        let made = self.in_beads.get(&(time.to_owned(), bead));
        let in_bead = made.and_then(|made| {
            let saying = made.by_words.get(&words).map(|at| &made.all[*at]);
            saying.or_else(|| made.all.first().filter(|_| is_alone))
        });
        if let Some(made) = in_bead.filter(|made| !made.words.is_empty() && !is_said(&made.words)) {
            let made = made.clone();
            return Claim {
                text: made.words,
                kind: if made.evidence.is_empty() {
                    ClaimKind::Other
                } else {
                    ClaimKind::Citation
                },
                evidence: made.evidence,
                unread: 0,
                place: made.file,
                revised_in: Some(Source::Bead),
                ..claim
            };
        }
        let entries = self.entries.get(time);
        let entry = entries.and_then(|entries| match entries.saying(&words, name) {
            Some(entry) => Some((entry, true)),
            None if is_alone => {
                let first = entries.all.first()?;
                Some((first, first.words().is_empty()))
            }
            None => entries.titled(name).map(|entry| (entry, false)),
        });
        let Some((entry, has_its_words)) = entry else {
            return claim;
        };
        let leans_on_the_same = entry.evidence.len() == claim.evidence.len()
            && entry
                .evidence
                .iter()
                .all(|cited| claim.evidence.contains(cited))
            && (entry.unread > 0) == (claim.unread > 0);
        if has_its_words && leans_on_the_same {
            return claim;
        }
        let cites = !entry.evidence.is_empty() || entry.unread > 0;
        if in_bead.is_some() && (!cites || !claim.evidence.is_empty()) {
            return claim;
        }
        let kind = match (cites, entry.is_assumption, entry.is_user_input) {
            (true, _, _) => ClaimKind::Citation,
            (_, true, _) => ClaimKind::Assumption,
            (_, _, true) => ClaimKind::UserInput,
            _ if leans_on_the_same => claim.kind,
            _ => ClaimKind::Other,
        };
        Claim {
            text: if has_its_words || in_bead.is_some() {
                claim.text
            } else {
                entry.words().to_owned()
            },
            kind,
            evidence: entry.evidence.clone(),
            unread: entry.unread,
            place: format!("{}:{}", self.file, entry.line),
            revised_in: Some(Source::Notes),
            ..claim
        }
    }
}

impl Session<'_> {
    /// Returns the current wording in beads and notes of recorded decisions, each given with its
    /// bead. Unreadable files contribute nothing.
    ///
    /// If there are any such decisions, reads the notes, their entries, and the beads that these
    /// belong to.
    pub(crate) fn revised<'c>(
        &self,
        recorded: impl Iterator<Item = (&'c str, &'c str)>,
    ) -> Result<Revised, SessionError> {
        let recorded = recorded.filter(|(name, _)| !name.is_empty());
        let recorded: HashSet<(&str, &str)> =
            recorded.map(|(name, bead)| (time_of(name), bead)).collect();
        if recorded.is_empty() {
            return Ok(Revised::default());
        }
        let times: HashSet<&str> = recorded.iter().map(|(time, _)| *time).collect();
        let entries = match self.notes() {
            Ok(Some(notes)) => entries_of(&times, &notes),
            Ok(None)
            | Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Foreign { .. }
                | SessionError::Zone(ZoneError::Outside { .. }),
            ) => HashMap::new(),
            Err(error) => return Err(error),
        };
        let beads: HashSet<&str> = recorded.iter().map(|(_, bead)| *bead).collect();
        let mut in_beads: HashMap<(String, String), InBeads> = HashMap::new();
        for id in beads.into_iter().filter_map(BeadId::new) {
            for (ts, made) in self.made_in(&id) {
                if recorded.contains(&(ts.as_str(), id.as_str())) {
                    let key = (ts, made.id.clone());
                    in_beads.entry(key).or_default().push(made);
                }
            }
        }
        Ok(Revised {
            file: self.zones.named(&self.zones.notes()),
            entries,
            in_beads,
        })
    }

    /// Returns the decisions of a bead with their times; none of one that cannot be read. Entries
    /// of one time that say the same are one decision.
    fn made_in(&self, id: &BeadId) -> Vec<(String, InBead)> {
        let decisions = self
            .bead(id)
            .map(|sheet| Bead::of(sheet.members()).decisions);
        let file = self.zones.named(&self.zones.beads().join(id.file()));
        let mut made: Vec<(String, InBead)> = Vec::new();
        let mut known: HashMap<(String, String), usize> = HashMap::new();
        for entry in decisions.into_iter().flatten() {
            let key = (entry.ts.clone(), entry.decision.clone());
            let at = *known.entry(key).or_insert_with(|| {
                let new = InBead {
                    id: id.to_string(),
                    file: file.clone(),
                    words: entry.decision,
                    evidence: Vec::new(),
                };
                made.push((entry.ts, new));
                made.len() - 1
            });
            made[at].1.evidence.extend(entry.evidence);
        }
        made
    }
}

/// Returns the entries of decisions of these times; those without a time in their heading, by their
/// names.
fn entries_of(times: &HashSet<&str>, notes: &Notes) -> HashMap<String, Entries> {
    let of_notes = notes.decisions_where(|ts, _| times.contains(ts));
    let has_names = times.iter().any(|time| !is_time(time));
    let undated = if has_names {
        notes.undated()
    } else {
        Vec::new()
    };
    let undated = undated
        .into_iter()
        .filter(|entry| times.contains(entry.ts.as_str()));
    let mut entries: HashMap<String, Entries> = HashMap::new();
    for entry in of_notes.into_iter().chain(undated) {
        entries.entry(entry.ts.clone()).or_default().push(entry);
    }
    entries
}
