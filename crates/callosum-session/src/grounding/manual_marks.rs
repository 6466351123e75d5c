//! [`Marked`]: the decisions that a person has marked in `NOTES.md`, by hand, as an assumption or
//! as the user's word (Seed LOA §4.2).
//!
//! A record of a trajectory is never changed, so later statements about a decision are in the notes
//! alone. They take precedence over the trajectory; a quote that holds takes precedence over both.

use std::collections::HashMap;

use super::claim::{Claim, ClaimKind};
use crate::{
    notes::{Decision, MARKS, Notes},
    transaction::{Session, SessionError},
    zones::ZoneError,
};

/// Evidence that the notes give for decisions, by their times; for claims of other writers, which
/// have no time, by their words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marked {
    by_time: HashMap<String, ClaimKind>,
    by_words: HashMap<String, ClaimKind>,
}

impl Marked {
    fn of(decisions: &[Decision]) -> Self {
        let mut marked = Self::default();
        for decision in decisions {
            let kind = match (decision.is_assumption, decision.is_user_input) {
                (true, _) => ClaimKind::Assumption,
                (_, true) => ClaimKind::UserInput,
                _ => continue,
            };
            marked.by_time.insert(decision.ts.clone(), kind);
            marked.by_time.insert(decision.heading(), kind);
            marked.by_words.insert(decision.words().to_owned(), kind);
        }
        marked
    }

    /// Returns the kind that a person has marked a claim as, if its own kind is places or nothing;
    /// otherwise its own.
    pub(super) fn kind_of(&self, claim: &Claim) -> ClaimKind {
        let marked = match (&claim.decision, claim.kind) {
            (_, kind @ (ClaimKind::Assumption | ClaimKind::UserInput)) => return kind,
            (Some(ts), _) => self.by_time.get(ts),
            (None, _) => self.by_words.get(&claim.text),
        };
        marked.copied().unwrap_or(claim.kind)
    }
}

impl Session<'_> {
    /// Returns the marks of the notes. Notes that cannot be read mark nothing; if they contain no
    /// mark, no decision is parsed.
    pub(crate) fn marked(&self) -> Result<Marked, SessionError> {
        let has_mark = |notes: &Notes| {
            let mut marks = MARKS.iter().map(|mark| mark.as_bytes());
            marks.any(|mark| memchr::memmem::find(notes.bytes(), mark).is_some())
        };
        match self.notes() {
            Ok(Some(notes)) if has_mark(&notes) => Ok(Marked::of(&notes.decisions())),
            Ok(_)
            | Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Foreign { .. }
                | SessionError::Zone(ZoneError::Outside { .. }),
            ) => Ok(Marked::default()),
            Err(error) => Err(error),
        }
    }
}
