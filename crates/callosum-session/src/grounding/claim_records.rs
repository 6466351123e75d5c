//! [`ClaimRecords`]: the records since the last hand-off, and the entries of notes and beads for
//! their claims.

use super::{claim::Claim, manual_marks::Marked, revisions::Revised};
use crate::trajectory::Read;

/// The records since the last hand-off, and the entries of notes and beads for their claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRecords {
    /// The records, as trajectories have them.
    pub recorded: Read,
    /// Marks of a person in the notes.
    pub marked: Marked,
    /// Current wording in beads and notes of recorded decisions.
    pub revised: Revised,
    /// Decisions since then that notes or beads have, and no trajectory.
    pub unrecorded: Vec<Claim>,
}

impl From<Read> for ClaimRecords {
    /// Returns the records alone: no notes and no beads.
    fn from(recorded: Read) -> Self {
        Self {
            recorded,
            ..Self::default()
        }
    }
}
