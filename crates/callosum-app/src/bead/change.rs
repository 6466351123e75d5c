//! `callosum bead create`, `update` and `close`.

use callosum_session::bead::BeadId;

use crate::CommandError;
use crate::session::bead_id;

/// Parses the ids of beads.
pub fn ids(texts: &[String]) -> Result<Vec<BeadId>, CommandError> {
    texts.iter().map(|id| bead_id(id)).collect()
}

/// Texts that also go to the notes and the trajectory.
#[derive(Default)]
pub struct Said<'a> {
    /// The decision.
    pub decision: Option<&'a str>,
    /// The handoff.
    pub handoff: Option<&'a str>,
}
