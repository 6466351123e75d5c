//! [`Revised`]: what `NOTES.md` says now of decisions that a trajectory has recorded.
//!
//! A record is never changed, and the notes are believed before it. Where a person has given an entry other words, or
//! has changed what it leans on, the notes count; a bead that has the decision is believed before both.

use std::collections::{HashMap, HashSet};

use callosum_evidence::secrets::mask;

use super::claim::{Claim, ClaimKind};
use crate::{
    bead::{Bead, BeadId},
    notes::{Decision, Notes},
    statement::one_line,
    step::{Session, SessionError},
    zones::ZoneError,
};

/// The entries of the notes for recorded decisions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Revised {
    /// Where they stand.
    file: String,
    /// By the names of the decisions; of several of one time, all.
    entries: HashMap<String, Vec<Decision>>,
    /// Names of those that their beads have.
    in_beads: HashSet<String>,
}

impl Revised {
    /// The claim as the notes have it, where they say something else than its record.
    pub(super) fn applied(&self, claim: Claim) -> Claim {
        let entries = claim.decision.as_ref().and_then(|name| {
            let entries = self.entries.get(name)?;
            Some((name, entries))
        });
        let Some((name, entries)) = entries else {
            return claim;
        };
        let says = |entry: &&Decision| {
            let words = entry.words();
            words == claim.text || one_line(&mask(words).text) == one_line(&claim.text)
        };
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
        let is_in_bead = self.in_beads.contains(name);
        if is_in_bead && (!cites || !claim.evidence.is_empty()) {
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
            text: if has_its_words || is_in_bead {
                claim.text
            } else {
                entry.words().to_owned()
            },
            kind,
            evidence: entry.evidence.clone(),
            unread: entry.unread,
            place: format!("{}:{}", self.file, entry.line),
            is_revised: true,
            ..claim
        }
    }
}

impl Session<'_> {
    /// What the notes say of recorded decisions, each given with its bead. Notes that cannot be read say nothing.
    ///
    /// Costs the reading of the notes where there are any, of their entries of these decisions, and of the beads that
    /// these belong to.
    pub(crate) fn revised<'c>(
        &self,
        recorded: impl Iterator<Item = (&'c str, &'c str)>,
    ) -> Result<Revised, SessionError> {
        let recorded: HashMap<&str, &str> = recorded.filter(|(name, _)| !name.is_empty()).collect();
        if recorded.is_empty() {
            return Ok(Revised::default());
        }
        let notes = match self.notes() {
            Ok(Some(notes)) => notes,
            Ok(None)
            | Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Zone(ZoneError::Outside { .. }),
            ) => return Ok(Revised::default()),
            Err(error) => return Err(error),
        };
        let entries = entries_of(&recorded, &notes);
        let mut beads: HashMap<&str, HashSet<String>> = HashMap::new();
        let mut in_beads = HashSet::new();
        for name in entries.keys() {
            let Some(id) = recorded.get(name.as_str()).filter(|id| !id.is_empty()) else {
                continue;
            };
            let has = beads.entry(id).or_insert_with(|| self.times_in(id));
            if has.contains(name) {
                in_beads.insert(name.clone());
            }
        }
        Ok(Revised {
            file: self.zones.named(&self.zones.notes()),
            entries,
            in_beads,
        })
    }

    /// The times of a bead's decisions; none of one that cannot be read.
    fn times_in(&self, id: &str) -> HashSet<String> {
        let sheet = BeadId::new(id).and_then(|id| self.bead(&id).ok());
        let decisions = sheet.map(|sheet| Bead::of(sheet.members()).decisions);
        let decisions = decisions.into_iter().flatten();
        decisions.map(|made| made.ts).collect()
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
