//! [`Revised`]: what beads and `NOTES.md` say now of decisions that a trajectory has recorded.
//!
//! A record is never changed, and bead and notes are believed before it. Where a person has given an entry of the notes
//! other words, or has changed what it leans on, the notes count, unless a bead has the decision; where a bead has other
//! words, the bead.

use std::collections::{HashMap, HashSet};

use callosum_evidence::secrets::mask;

use super::claim::{Claim, ClaimKind};
use crate::{
    bead::{Bead, BeadId},
    evidence::Evidence,
    fork::Source,
    notes::{Decision, Notes},
    statement::one_line,
    step::{Session, SessionError},
    zones::ZoneError,
};

/// The entries of beads and notes for recorded decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Revised {
    /// Where they stand.
    file: String,
    /// By the names of the decisions; of several of one time, all.
    entries: HashMap<String, Vec<Decision>>,
    /// What their beads have of them, by their names.
    in_beads: HashMap<String, InBead>,
}

/// A decision as its bead has it.
#[derive(Clone, Debug, Default, PartialEq)]
struct InBead {
    file: String,
    words: String,
    evidence: Vec<Evidence>,
}

impl Revised {
    /// The claim as the notes have it, where they say something else than its record.
    pub(super) fn applied(&self, claim: Claim) -> Claim {
        let Some(name) = &claim.decision else {
            return claim;
        };
        let is_said = |words: &str| {
            words == claim.text || one_line(&mask(words).text) == one_line(&claim.text)
        };
        let in_bead = self.in_beads.get(name);
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
        let Some(entries) = self.entries.get(name) else {
            return claim;
        };
        let says = |entry: &&Decision| is_said(entry.words());
        let (entry, has_its_words) = match entries.iter().find(says) {
            Some(entry) => (entry, true),
            None => (&entries[0], entries[0].words().is_empty()),
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
    /// What beads and notes say of recorded decisions, each given with its bead. Those that cannot be read say nothing.
    ///
    /// Costs the reading of the notes where there are any such decisions, of their entries, and of the beads that these
    /// belong to.
    pub(crate) fn revised<'c>(
        &self,
        recorded: impl Iterator<Item = (&'c str, &'c str)>,
    ) -> Result<Revised, SessionError> {
        let recorded: HashMap<&str, &str> = recorded.filter(|(name, _)| !name.is_empty()).collect();
        if recorded.is_empty() {
            return Ok(Revised::default());
        }
        let entries = match self.notes() {
            Ok(Some(notes)) => entries_of(&recorded, &notes),
            Ok(None)
            | Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Zone(ZoneError::Outside { .. }),
            ) => HashMap::new(),
            Err(error) => return Err(error),
        };
        let beads: HashSet<&str> = recorded.values().copied().collect();
        let mut in_beads = HashMap::new();
        for id in beads.into_iter().filter_map(BeadId::new) {
            let made = self.made_in(&id).into_iter();
            in_beads.extend(made.filter(|(name, _)| {
                let bead = recorded.get(name.as_str());
                bead.is_some_and(|bead| *bead == id.as_str())
            }));
        }
        Ok(Revised {
            file: self.zones.named(&self.zones.notes()),
            entries,
            in_beads,
        })
    }

    /// The decisions of a bead by their times; none of one that cannot be read. Entries of one time that say the same are one
    /// decision, and others do not count.
    fn made_in(&self, id: &BeadId) -> HashMap<String, InBead> {
        let decisions = self
            .bead(id)
            .map(|sheet| Bead::of(sheet.members()).decisions);
        let file = self.zones.named(&self.zones.beads().join(id.file()));
        let mut made: HashMap<String, InBead> = HashMap::new();
        for entry in decisions.into_iter().flatten() {
            let known = made.entry(entry.ts).or_insert_with(|| InBead {
                file: file.clone(),
                words: entry.decision.clone(),
                evidence: Vec::new(),
            });
            if known.words == entry.decision {
                known.evidence.extend(entry.evidence);
            }
        }
        made
    }
}

/// The entries of decisions, by the names under which they are recorded.
fn entries_of(recorded: &HashMap<&str, &str>, notes: &Notes) -> HashMap<String, Vec<Decision>> {
    let has_titles = recorded.keys().any(|name| name.contains(' '));
    let is_named = |ts: &str, title: &str| {
        has_titles && recorded.contains_key(format!("{ts} - {title}").as_str())
    };
    let of_notes =
        notes.decisions_where(|ts, title| recorded.contains_key(ts) || is_named(ts, title));
    let undated = if has_titles {
        notes.undated()
    } else {
        Vec::new()
    };
    let undated = undated.into_iter();
    let undated = undated.filter(|entry| recorded.contains_key(entry.ts.as_str()));
    let mut entries: HashMap<String, Vec<Decision>> = HashMap::new();
    for entry in of_notes.into_iter().chain(undated) {
        let name = if is_named(&entry.ts, &entry.title) {
            entry.heading()
        } else {
            entry.ts.clone()
        };
        entries.entry(name).or_default().push(entry);
    }
    entries
}
