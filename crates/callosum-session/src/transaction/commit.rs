//! [`LockedSession::commit`]: writes a step down, then makes its changes one file after the other.
//!
//! [`LockedSession::mend`] makes those that a killed process did not get to.

use super::{
    intent_log::{FORMAT, INTENT, Intent, NoteChange},
    session::{LockedSession, ResumedStep, Session, Written},
    session_error::SessionError,
};
use crate::{
    bead::{BeadId, Sheet},
    merge::Kind,
    notes::{Notes, TEMPLATE},
    rollback::versions::Versions,
    timestamp::second,
    trajectory::{Agent, Trajectory},
};

impl LockedSession<'_> {
    /// Writes records alone, into the trajectory of an agent on the day of `ts`.
    pub(crate) fn tell(
        &self,
        agent: String,
        ts: &str,
        records: Vec<serde_json::Value>,
    ) -> Result<(), SessionError> {
        self.commit(&Intent {
            format: 1,
            agent,
            day: ts[..10].to_owned(),
            notes: Vec::new(),
            bead: None,
            records,
        })?;
        Ok(())
    }

    /// Does all of an intent, or nothing. Its changes are on disk when this returns; a process that
    /// is killed before leaves it to the next one that locks the session.
    pub(crate) fn commit(&self, intent: &Intent) -> Result<Written, SessionError> {
        let session = &self.session;
        let path = session
            .zones
            .real(session.disk, &session.zones.own().join(INTENT))?;
        // Anything that cannot be written must fail before the first write.
        if let Some((id, _)) = &intent.bead {
            self.bead_changed(id, intent)?;
        }
        let bytes = serde_json::to_vec(intent).unwrap_or_default();
        session.disk.replace(&path, &bytes, 0o644)?;
        if let Some((id, _)) = &intent.bead {
            let (bead, sheet) = self.bead_changed(id, intent)?;
            let written = self.write_if_changed(&bead, sheet.text().as_bytes());
            if written.as_ref().is_err_and(SessionError::is_denied) {
                // Others who may not write it either could not end the step.
                session.disk.remove_file(&path)?;
            }
            written?;
        }
        self.change_notes(intent)?;
        let line = self.append(intent);
        if line.as_ref().is_err_and(SessionError::is_denied)
            && intent.notes.is_empty()
            && intent.bead.is_none()
        {
            // Nothing of it was done, and others who may not write there either could not end the
            // step.
            session.disk.remove_file(&path)?;
        }
        let line = line?;
        session.disk.remove_file(&path)?;
        session
            .disk
            .sync_dir(&session.zones.real(session.disk, &session.zones.own())?)?;
        if !intent.notes.is_empty() {
            self.take_late()?;
        }
        let file = self.session.trajectory().file_of(&intent.day)?;
        Ok(Written {
            trajectory: format!("{}:{line}", session.zones.named(&file)),
        })
    }

    /// Removes the remains of beads that killed processes were writing. Lists the folder. If they
    /// cannot be removed, they do no harm.
    pub(crate) fn sweep_beads(&self) {
        let session = &self.session;
        if let Ok(folder) = session.zones.real(session.disk, &session.zones.beads()) {
            let ours = |name: &str| BeadId::of_file(name).is_some();
            drop(session.disk.sweep_new_files(&folder, ours));
        }
    }

    /// Makes the rest of a step that a killed process has written down; `None` if there is none.
    pub(super) fn mend(&self) -> Result<Option<ResumedStep>, SessionError> {
        let session = &self.session;
        let own = session.zones.real(session.disk, &session.zones.own())?;
        let path = own.join(INTENT);
        let Some(bytes) = session.disk.read_if_there(&path)? else {
            return Ok(None);
        };
        let mut mended = ResumedStep::default();
        match serde_json::from_slice::<Intent>(&bytes) {
            Ok(intent) if intent.format > FORMAT => {
                return Err(SessionError::Newer {
                    format: intent.format,
                });
            }
            Ok(intent) => {
                self.change_notes(&intent)?;
                if let Some((id, _)) = &intent.bead {
                    match self.bead_changed(id, &intent) {
                        Ok((path, sheet)) => {
                            match self.write_if_changed(&path, sheet.text().as_bytes()) {
                                Err(error) if error.is_denied() => {
                                    mended.left.push(error.to_string());
                                }
                                written => written?,
                            }
                        }
                        Err(SessionError::Zone(error)) => return Err(error.into()),
                        Err(error) => mended.left.push(error.to_string()),
                    }
                }
                match self.append(&intent) {
                    Err(error) if error.is_denied() => mended.left.push(error.to_string()),
                    written => {
                        written?;
                    }
                }
            }
            Err(error) => mended.left.push(format!("cannot read the step: {error}")),
        }
        session.disk.remove_file(&path)?;
        session.disk.sync_dir(&own)?;
        Ok(Some(mended))
    }

    fn change_notes(&self, intent: &Intent) -> Result<(), SessionError> {
        if intent.notes.is_empty() {
            return Ok(());
        }
        let was_complete = self.is_complete()?;
        let is_alone = self.edit_notes(|there| {
            let there = there.filter(|notes| !notes.is_blank());
            let notes = there.unwrap_or_else(|| Notes::read(TEMPLATE.into()));
            NoteChange::all_made(&intent.notes, notes)
        })?;
        if was_complete && is_alone {
            self.note_complete()?;
        }
        Ok(())
    }

    pub(crate) fn bead_changed(
        &self,
        id: &str,
        intent: &Intent,
    ) -> Result<(std::path::PathBuf, Sheet), SessionError> {
        let no_bead = || SessionError::NoBead { id: id.to_owned() };
        let checked = BeadId::new(id).ok_or_else(no_bead)?;
        let mut sheet = self.session.bead(&checked)?;
        for change in intent.bead.iter().flat_map(|(_, changes)| changes) {
            sheet = change.made(&sheet).map_err(|source| SessionError::Bead {
                id: id.to_owned(),
                source,
            })?;
        }
        Ok((self.session.beads().path(&checked)?, sheet))
    }

    fn append(&self, intent: &Intent) -> Result<usize, SessionError> {
        // An intent with an invalid agent name must not go to the file of another agent.
        let agent = Agent::new(&intent.agent).unwrap_or_default();
        let trajectory = Trajectory {
            agent,
            ..self.session.trajectory()
        };
        Ok(trajectory.append(&intent.day, &intent.records)?)
    }

    /// Keeps the content of a session file that is about to be replaced. What is appended to a
    /// trajectory needs no version, since each record has its time.
    pub(crate) fn keep_version(
        &self,
        path: &std::path::Path,
        there: Option<&[u8]>,
    ) -> Result<(), SessionError> {
        let Session { disk, zones, .. } = self.session;
        let name = path.file_name().unwrap_or_default();
        let own_name = match Kind::of(&path.to_string_lossy()) {
            Some(Kind::Notes) => zones.notes(),
            Some(Kind::Bead) => zones.beads().join(name),
            Some(Kind::Trajectory) => zones.trajectories().join(name),
            None => return Ok(()),
        };
        let now = second(self.session.clock.now());
        let versions = Versions::of(disk, zones)?;
        Ok(versions.keep(&now, &zones.named(&own_name), there)?)
    }

    pub(crate) fn write_if_changed(
        &self,
        path: &std::path::Path,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        let disk = self.session.disk;
        let there = disk.read_if_there(path)?;
        if there.as_deref() == Some(bytes) {
            return Ok(());
        }
        self.keep_version(path, there.as_deref())?;
        if let Some(folder) = path.parent() {
            disk.create_dir_all(folder)?;
        }
        Ok(disk.rewrite(path, bytes, 0o644)?)
    }
}
