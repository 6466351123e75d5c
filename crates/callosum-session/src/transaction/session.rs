//! [`Session`]: a project's files as one agent changes them, one process at a time.

use std::{path::Path, time::Duration};

use callosum_host::{
    Clock, Disk, DiskError, FileLock, LockError,
    disk::{EntryKind, FileStat},
};

use super::{
    concurrent_edit::is_exchanged,
    intent_log::{FORMAT, Intent, NoteChange},
};
use crate::{
    bead::{BeadId, Beads, Sheet, SheetError},
    notes::{LARGEST_NOTES, Notes, TEMPLATE},
    rename_history::HistorySource,
    trajectory::{Agent, Trajectory},
    zones::{FINGERPRINTS, ZoneError, Zones},
};

/// Time to wait for another session's step.
const PATIENCE: Duration = Duration::from_secs(5);

/// A project's files as one agent sees and changes them.
#[derive(Clone, Debug)]
pub struct Session<'s> {
    /// The disk.
    pub disk: &'s Disk,
    /// Paths of the session's files.
    pub zones: &'s Zones,
    /// The time of day.
    pub clock: &'s Clock,
    /// Agent that owns the trajectory.
    pub agent: Agent,
}

/// The right to change the files, until it is dropped.
#[derive(Debug)]
pub struct LockedSession<'s> {
    pub(crate) session: Session<'s>,
    /// Step of a killed process that was finished.
    pub mended: Option<ResumedStep>,
    /// Places of notes that someone rewrote in a file that was exchanged away.
    pub aside: Vec<String>,
    /// Files in which git has not finished a merge, and that lack part of their side: a checkpoint
    /// names them, and blocks.
    pub(crate) unfinished: Vec<String>,
    /// The history by which moved files are followed.
    pub(crate) history: HistorySource<'s>,
    _lock: FileLock,
}

/// A step of a killed process that was taken to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumedStep {
    /// Work that could not be done, with the reasons.
    pub left: Vec<String>,
}

/// Current places of a step's records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The trajectory's file and the line of the first record: `file:line`.
    pub trajectory: String,
}

/// Error while reading or changing a session's files.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Another session was at it for too long.
    #[error("another session is writing")]
    Busy(#[source] LockError),
    /// A file cannot be used.
    #[error(transparent)]
    Zone(#[from] ZoneError),
    /// The bead is not there.
    #[error("bead `{id}` does not exist")]
    NoBead {
        /// Its id.
        id: String,
    },
    /// The bead cannot be changed.
    #[error("cannot write bead `{id}`")]
    Bead {
        /// Its id.
        id: String,
        /// Cause.
        source: SheetError,
    },
    /// The bead cannot be read.
    #[error("cannot read bead `{id}`: {problem}")]
    UnreadBead {
        /// Its id.
        id: String,
        /// Its file, from the root.
        file: String,
        /// Cause.
        problem: String,
        /// Whether it is text in another encoding than UTF-8.
        is_encoded: bool,
    },
    /// The files cannot be locked, so that nothing can be written.
    #[error("session files cannot be locked or written here")]
    Unwritable(#[source] DiskError),
    /// The notes are larger than is read.
    #[error("`{file}` is larger than {} MiB, and is not read", LARGEST_NOTES >> 20)]
    TooLarge {
        /// The file.
        file: String,
    },
    /// The notes are no file: a folder, a pipe.
    #[error("`{file}` is not a regular file")]
    NotFile {
        /// Path of the entry.
        file: String,
    },
    /// The notes are text of a kind that is not read.
    #[error("`{file}` is {what}")]
    Foreign {
        /// The file.
        file: String,
        /// The kind of text, and what can be read instead.
        what: &'static str,
    },
    /// The notes come and go while they are written.
    #[error("another program keeps moving `{file}` while it is written")]
    Unsettled {
        /// The file.
        file: String,
    },
    /// A newer version began a step here.
    #[error("a newer version started a step here and did not finish it (format {format})")]
    Newer {
        /// Its format.
        format: u32,
    },
}

impl From<DiskError> for SessionError {
    fn from(error: DiskError) -> Self {
        Self::Zone(error.into())
    }
}

fn unwritable(error: ZoneError) -> SessionError {
    match error {
        ZoneError::Disk(error) => SessionError::Unwritable(error),
        outside @ ZoneError::Outside { .. } => outside.into(),
    }
}

impl SessionError {
    /// Whether a file is read-only for everyone or for this user.
    pub fn is_denied(&self) -> bool {
        match self {
            Self::Zone(ZoneError::Disk(error)) => error.is_denied() || error.is_read_only(),
            _ => false,
        }
    }
}

impl<'s> Session<'s> {
    /// Returns the beads.
    pub fn beads(&self) -> Beads<'s> {
        Beads {
            disk: self.disk,
            zones: self.zones,
        }
    }

    /// Returns the agent's trajectory.
    pub fn trajectory(&self) -> Trajectory<'s> {
        Trajectory {
            disk: self.disk,
            zones: self.zones,
            agent: self.agent.clone(),
        }
    }

    /// Reads the notes; `None` if there are none.
    pub fn notes(&self) -> Result<Option<Notes>, SessionError> {
        let path = self.zones.real(self.disk, &self.zones.notes())?;
        let Some(stat) = self.disk.stat(&path)? else {
            return Ok(None);
        };
        if stat.kind != EntryKind::File {
            return Err(SessionError::NotFile {
                file: self.zones.named(&path),
            });
        }
        if stat.len > LARGEST_NOTES {
            return Err(SessionError::TooLarge {
                file: self.zones.named(&path),
            });
        }
        let notes = Notes::read(self.disk.read(&path)?);
        match notes.foreign() {
            None => Ok(Some(notes)),
            Some(what) => Err(SessionError::Foreign {
                file: self.zones.named(&path),
                what,
            }),
        }
    }

    /// The same; also `None` if the entry is too large, not a file, or not in a readable form.
    pub(crate) fn notes_if_readable(&self) -> Result<Option<Notes>, SessionError> {
        match self.notes() {
            Err(
                SessionError::TooLarge { .. }
                | SessionError::NotFile { .. }
                | SessionError::Foreign { .. },
            ) => Ok(None),
            notes => notes,
        }
    }

    /// Returns a bead's file.
    pub fn bead(&self, id: &BeadId) -> Result<Sheet, SessionError> {
        match self.beads().sheet(id) {
            Ok(Some(sheet)) => Ok(sheet),
            Ok(None) => Err(SessionError::NoBead { id: id.to_string() }),
            Err(crate::bead::ReadError::Zone(error)) => Err(error.into()),
            Err(error) => Err(SessionError::UnreadBead {
                id: id.to_string(),
                file: self.zones.named(&self.zones.beads().join(id.file())),
                is_encoded: matches!(error, crate::bead::ReadError::NotUtf8 { .. }),
                problem: error.to_string(),
            }),
        }
    }

    /// Waits up to 5 s until no other session writes, and finishes the step of a killed one.
    pub fn hold(&self) -> Result<LockedSession<'s>, SessionError> {
        self.hold_within(PATIENCE)
    }

    /// Waits up to `patience` until no other session writes, and finishes the step of a killed one.
    pub fn hold_within(&self, patience: Duration) -> Result<LockedSession<'s>, SessionError> {
        let own = self.zones.create_own(self.disk).map_err(unwritable)?;
        for name in OWN {
            self.set_folder_aside(&own.join(name))?;
        }
        let lock =
            FileLock::acquire(self.disk, &own.join("lock"), patience).map_err(
                |error| match error {
                    LockError::Disk(error) => SessionError::Unwritable(error),
                    timeout @ LockError::Timeout { .. } => SessionError::Busy(timeout),
                },
            )?;
        // Remains of a file that a killed process was writing. If they cannot be removed, they do
        // no harm.
        let ours = |name: &str| {
            matches!(name, INTENT | "NOTES.md" | "beads.index" | "seen") || is_exchanged(name)
        };
        for folder in [own.as_path(), own.parent().unwrap_or(&own)] {
            drop(self.disk.sweep_new_files(folder, ours));
        }
        let mut held = LockedSession {
            session: self.clone(),
            mended: None,
            aside: Vec::new(),
            unfinished: Vec::new(),
            history: HistorySource::default(),
            _lock: lock,
        };
        for late in held.take_late()? {
            held.aside.extend(held.set_late_aside(&late)?);
        }
        held.mended = held.mend()?;
        // The file is derived: if it cannot be written, hand-offs are used.
        drop(held.note_begun());
        if held.mended.is_some() {
            held.sweep_beads();
        }
        Ok(held)
    }

    /// Renames a folder that has the name of one of our files to another name next to it.
    fn set_folder_aside(&self, path: &Path) -> Result<(), SessionError> {
        let is_folder = |stat: FileStat| stat.kind == EntryKind::Folder;
        if !self.disk.stat(path)?.is_some_and(is_folder) {
            return Ok(());
        }
        for number in 1_u32.. {
            let aside = path.with_extension(format!("aside-{number}"));
            if self.disk.exists(&aside)? {
                continue;
            }
            return match self.disk.rename(path, &aside) {
                // Another process has done it.
                Err(error) if error.is_absent() => Ok(()),
                done => Ok(done?),
            };
        }
        Ok(())
    }

    /// Whether a process was killed within a step.
    pub fn is_torn(&self) -> Result<bool, SessionError> {
        let path = self.zones.real(self.disk, &self.zones.own().join(INTENT))?;
        Ok(self.disk.exists(&path)?)
    }
}

/// The name of the file that a step is written down in.
const INTENT: &str = "intent.json";

/// Our files between the others; none is a folder.
const OWN: [&str; 8] = [
    INTENT,
    "lock",
    "seen",
    "contexts",
    FINGERPRINTS,
    "notes.mark",
    "beads.index",
    "beads.gone",
];

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

    fn mend(&self) -> Result<Option<ResumedStep>, SessionError> {
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

    pub(crate) fn write_if_changed(
        &self,
        path: &std::path::Path,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        let disk = self.session.disk;
        if disk.read_if_there(path)?.as_deref() == Some(bytes) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            disk.create_dir_all(folder)?;
        }
        Ok(disk.rewrite(path, bytes, 0o644)?)
    }
}
