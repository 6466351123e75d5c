//! Repair of `NOTES.md`: the file from the last commit, or else from the template; lost decisions
//! from trajectories and beads.

use super::{Healed, NUL_BYTES, Past, RepairSource};
use crate::{
    bead::Bead,
    notes::{Active, Decision, Field, LARGEST_NOTES, Notes, TEMPLATE},
    sanitize::one_line,
    source::Source,
    transaction::{LockedSession, SessionError},
};

impl LockedSession<'_> {
    /// Completes notes that end within a line, as a torn write leaves them, or that are gone, blank
    /// or full of NUL bytes and were committed, before something is added to them. Other damage is
    /// left to [`LockedSession::heal`].
    pub fn heal_torn_notes(&self, past: &dyn Past) -> Result<Vec<Healed>, SessionError> {
        let past = &self.session.since_rollback(past)?;
        let mut healed = Vec::new();
        let notes = match self.session.notes() {
            Ok(notes) => notes,
            Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Foreign { .. },
            ) => return Ok(healed),
            Err(error) => return Err(error),
        };
        let name = self.session.zones.named(&self.session.zones.notes());
        let is_torn = match notes {
            Some(notes) if !notes.is_blank() && !notes.bytes().contains(&0) => {
                !notes.bytes().ends_with(b"\n")
            }
            _ => past.file(&name).is_some(),
        };
        if is_torn {
            // The next decision is written after the committed records.
            self.heal_committed_records(past, &mut healed)?;
            healed.extend(self.heal_notes(past)?);
            self.heal_decisions(&mut healed)?;
        }
        Ok(healed)
    }

    pub(super) fn heal_notes(&self, past: &dyn Past) -> Result<Option<Healed>, SessionError> {
        let session = &self.session;
        if self.is_complete()? {
            return Ok(None);
        }
        let path = session.zones.real(session.disk, &session.zones.notes())?;
        let name = session.zones.named(&session.zones.notes());
        let (was, is_there) = match session.notes() {
            Ok(None) => ("missing", false),
            Ok(Some(notes)) if notes.is_blank() => ("blank", true),
            Ok(Some(notes)) if notes.bytes().contains(&0) => (NUL_BYTES, true),
            Ok(Some(notes)) if is_cut_short(&notes, past, &name) => ("truncated", true),
            Ok(Some(_)) => return Ok(None),
            Err(SessionError::TooLarge { .. }) => {
                return Ok(Some(Healed {
                    file: name,
                    was: format!("larger than {} MiB", LARGEST_NOTES >> 20),
                    from: RepairSource::Nobody,
                    aside: None,
                }));
            }
            Err(SessionError::Foreign { what, .. }) => {
                return Ok(Some(Healed {
                    file: name,
                    was: what.to_owned(),
                    from: RepairSource::Nobody,
                    aside: None,
                }));
            }
            Err(SessionError::NotFile { .. }) => {
                return Ok(Some(Healed {
                    file: name,
                    was: "not a regular file".to_owned(),
                    from: RepairSource::Nobody,
                    aside: None,
                }));
            }
            Err(error) => return Err(error),
        };
        let known = past
            .file(&name)
            .filter(|bytes| !bytes.contains(&0) && !Notes::read(bytes.clone()).is_blank());
        let from = if known.is_some() {
            RepairSource::Git
        } else {
            RepairSource::Template
        };
        let aside = if is_there && was != "blank" {
            self.set_aside(&path)?
        } else {
            None
        };
        let known = Notes::read(known.unwrap_or_else(|| TEMPLATE.into()));
        self.edit_notes(|there| {
            let there = there.filter(|notes| !notes.is_blank());
            there.unwrap_or_else(|| known.clone())
        })?;
        Ok(Some(Healed {
            file: name,
            was: was.to_owned(),
            from,
            aside,
        }))
    }

    /// Restores decisions that the notes have lost and others still have. If the notes have no
    /// active context, also restores the current bead and the last checkpoint.
    pub(super) fn heal_decisions(&self, healed: &mut Vec<Healed>) -> Result<(), SessionError> {
        let session = &self.session;
        if self.is_complete()? {
            return Ok(());
        }
        let Some(notes) = session.notes_if_readable()? else {
            return Ok(());
        };
        let file = session.zones.named(&session.zones.notes());
        let recorded = session.recorded(&notes)?;
        let active = notes.active();
        let mut lacks = |was: String, from| {
            healed.push(Healed {
                file: file.clone(),
                was,
                from,
                aside: None,
            });
        };
        for (source, from) in [
            (Source::Trajectory, RepairSource::Trajectory),
            (Source::Bead, RepairSource::Beads),
        ] {
            let lost = recorded.lost.iter().filter(|lost| lost.from == source);
            match lost.count() {
                0 => {}
                1 => lacks("missing 1 decision".to_owned(), from),
                many => lacks(format!("missing {many} decisions"), from),
            }
        }
        let lost = recorded.lost.into_iter().map(|lost| lost.decision);
        let lost: Vec<Decision> = lost.collect();
        let mut fields = Vec::new();
        if active == Active::default() {
            if let Some(id) = recorded.bead
                && let Ok(sheet) = session.bead(&id)
            {
                let title = one_line(&Bead::of(sheet.members()).title);
                fields.push((Field::Bead, format!("{id} ({title})")));
                lacks(
                    "without its current bead".to_owned(),
                    RepairSource::Trajectory,
                );
            }
            if let Some(ts) = recorded.checkpoint {
                fields.push((Field::Checkpoint, ts));
            }
        }
        let is_alone = self.edit_notes(|there| {
            let there = there.unwrap_or_else(|| notes.clone());
            let is_lost = there.active() == Active::default();
            let fields = fields.iter().filter(|_| is_lost);
            fields.fold(there.with_decisions(&lost), |made, (field, value)| {
                made.with_active(*field, value)
            })
        })?;
        if is_alone {
            // The mark is derived: if it cannot be kept, the next session looks again.
            drop(self.note_complete());
        }
        Ok(())
    }
}

/// Whether the notes end within a line, and the last committed version continues it.
fn is_cut_short(notes: &Notes, past: &dyn Past, name: &str) -> bool {
    let there = notes.bytes();
    let goes_on = |known: Vec<u8>| known.len() > there.len() && known.starts_with(there);
    !there.ends_with(b"\n") && past.file(name).is_some_and(goes_on)
}
