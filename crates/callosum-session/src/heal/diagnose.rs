//! [`Session::ailing`]: the repairs that would be made if files could be written.

use std::collections::HashSet;

use super::{Healed, NUL_BYTES, Past, RepairSource};
use crate::{
    bead::BeadId,
    transaction::{Session, SessionError},
    zones::ZoneError,
};

impl Session<'_> {
    /// Reports what is missing, blank, broken or lost, when nothing can be written. Repairs
    /// nothing.
    pub fn ailing(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let past = &self.since_rollback(past)?;
        let mut ailing = Vec::new();
        let mut add = |file: String, was: String| {
            ailing.push(Healed {
                file,
                was,
                from: RepairSource::Denied,
                aside: None,
            });
        };
        let notes = self.zones.named(&self.zones.notes());
        let was = match self.notes() {
            Ok(None) => Some("missing".to_owned()),
            Ok(Some(notes)) if notes.is_blank() => Some("blank".to_owned()),
            Ok(Some(notes)) if notes.bytes().contains(&0) => Some(NUL_BYTES.to_owned()),
            Ok(Some(there)) => match self.recorded(&there)?.lost.len() {
                0 => None,
                1 => Some("missing 1 decision".to_owned()),
                many => Some(format!("missing {many} decisions")),
            },
            Err(error @ SessionError::Zone(_)) => return Err(error),
            Err(error) => Some(error.to_string()),
        };
        if let Some(was) = was {
            add(notes, was);
        }
        let listing = self.beads().list(self.clock.now())?;
        let mut known: HashSet<String> = listing.rows.into_iter().map(|row| row.id).collect();
        for unread in listing.unread {
            let id = unread.file.rsplit('/').next().and_then(BeadId::of_file);
            known.extend(id.map(|id| id.to_string()));
            add(unread.file, format!("broken: {}", unread.problem));
        }
        let committed = past.files(&self.zones.named(&self.zones.beads()));
        for file in committed {
            let id = file.rsplit('/').next().and_then(BeadId::of_file);
            if id.is_some_and(|id| !known.contains(id.as_str())) {
                add(file, "missing".to_owned());
            }
        }
        let lost = match self.lost_records(past) {
            // If they lead elsewhere, none of them is ours.
            Err(SessionError::Zone(ZoneError::Outside { .. })) => Vec::new(),
            lost => lost?,
        };
        for lost in lost {
            add(lost.name, lost.was.to_owned());
        }
        Ok(ailing)
    }
}
