//! Repair of beads: missing, broken or truncated files come from the last commit, and later
//! decisions from the trajectories.

use std::collections::HashSet;

use super::{Healed, Past, RepairSource};
use crate::{
    bead::{BeadId, ReadError, Sheet},
    merge::first_mark,
    transaction::{LockedSession, SessionError},
    zones::ZoneError,
};

/// Cached answer of git about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// It is not as it was last committed.
    Changed,
    /// Git was not asked.
    Nothing,
}

impl LockedSession<'_> {
    pub(super) fn heal_beads(
        &self,
        past: &dyn Past,
        healed: &mut Vec<Healed>,
    ) -> Result<(), SessionError> {
        let session = &self.session;
        let folder = session.zones.real(session.disk, &session.zones.beads())?;
        let folder_name = session.zones.named(&session.zones.beads());
        self.sweep_beads();
        let names = past.files(&folder_name);
        let is_new = session.disk.create_dir_all(&folder)?;
        let known = names
            .iter()
            .filter_map(|name| BeadId::of_file(name.rsplit('/').next()?));
        let mut known: Vec<BeadId> = known.collect();
        // Git keeps no empty folder: if it keeps the notes, nothing was lost with the folder.
        let notes = session.zones.named(&session.zones.notes());
        if is_new && known.is_empty() && past.file(&notes).is_none() {
            healed.push(Healed {
                file: folder_name.clone(),
                was: "missing".to_owned(),
                from: RepairSource::Anew,
                aside: None,
            });
        }
        for entry in session.disk.list_dir(&folder)? {
            known.extend(entry.name.to_str().and_then(BeadId::of_file));
        }
        known.sort();
        known.dedup();
        let listing = session.beads().list(session.clock.now())?;
        let sound: HashSet<String> = listing.rows.into_iter().map(|row| row.id).collect();
        let changed = past.changed(&folder_name).into_iter();
        let changed: HashSet<BeadId> = changed
            .filter_map(|name| BeadId::of_file(name.rsplit('/').next()?))
            .collect();
        for id in known {
            let known = if changed.contains(&id) {
                Known::Changed
            } else {
                Known::Nothing
            };
            if !sound.contains(id.as_str()) || known == Known::Changed {
                let one = self
                    .heal_bead(&id, past, known)
                    .map(|one| healed.extend(one));
                self.past_what_stays(one, healed)?;
            }
        }
        Ok(())
    }

    /// Repairs the current bead alone, if it is missing or broken.
    pub fn heal_current_bead(&self, past: &dyn Past) -> Result<Option<Healed>, SessionError> {
        let past = &self.session.since_rollback(past)?;
        let notes = self.session.notes()?;
        let id = notes.and_then(|notes| BeadId::new(&notes.active().bead?));
        let Some(id) = id else { return Ok(None) };
        let healed = self.heal_bead(&id, past, Known::Nothing)?;
        if healed
            .as_ref()
            .is_none_or(|one| one.from != RepairSource::Nobody)
        {
            return Ok(healed);
        }
        let rebuilt = self.rebuild(std::slice::from_ref(&id), past)?;
        Ok(rebuilt.into_iter().next().or(healed))
    }

    /// Whether a bead has git's conflict markers.
    fn is_open_merge(&self, id: &BeadId) -> Result<bool, SessionError> {
        let path = self.session.beads().path(id)?;
        let there = self.session.disk.read_if_there(&path)?;
        Ok(there.is_some_and(|bytes| first_mark(&bytes).is_some()))
    }

    fn heal_bead(
        &self,
        id: &BeadId,
        past: &dyn Past,
        known: Known,
    ) -> Result<Option<Healed>, SessionError> {
        let session = &self.session;
        let folder = session.zones.named(&session.zones.beads());
        let file = format!("{folder}/{}", id.file());
        let there = session.beads().sheet(id);
        if matches!(there, Err(ReadError::Zone(ZoneError::Outside { .. }))) {
            return Ok(None);
        }
        let committed = || {
            let bytes = past.file(&file)?;
            let text = String::from_utf8(bytes).ok()?;
            Sheet::read(&text).is_ok().then_some(text)
        };
        let (was, sound) = match there {
            // A crash often leaves a truncated file that still parses.
            Ok(Some(sheet)) => {
                let is_suspect = known == Known::Changed || !sheet.text().ends_with('\n');
                let whole = is_suspect.then(committed).flatten();
                let cut = |whole: &String| {
                    whole.len() > sheet.text().len() && whole.starts_with(sheet.text())
                };
                match whole.filter(cut) {
                    Some(whole) => ("truncated".to_owned(), Some(whole)),
                    None => return Ok(None),
                }
            }
            Ok(None) => ("missing".to_owned(), committed()),
            Err(ReadError::Zone(error)) => return Err(error.into()),
            // The file holds the text of both sides.
            Err(_) if self.is_open_merge(id)? => return Ok(None),
            Err(error) => (format!("broken: {error}"), committed()),
        };
        let path = session.beads().path(id)?;
        let (from, aside) = match sound {
            Some(text) => {
                let aside = if was == "missing" {
                    None
                } else {
                    self.set_aside(&path)?
                };
                self.write_if_changed(&path, text.as_bytes())?;
                (RepairSource::Git, aside)
            }
            None => (RepairSource::Nobody, None),
        };
        let was = match from {
            RepairSource::Git => match self.refill_bead(id)? {
                0 => was,
                1 => format!("{was} (1 decision restored from the trajectory)"),
                many => format!("{was} ({many} decisions restored from the trajectory)"),
            },
            _ => was,
        };
        Ok(Some(Healed {
            file,
            was,
            from,
            aside,
        }))
    }
}
