//! [`Session`]: a project's files as one agent sees them, and [`LockedSession`], as it changes them,
//! one process at a time.

use callosum_host::{Clock, Disk, FileLock, disk::EntryKind};

use super::session_error::SessionError;
use crate::{
    bead::{BeadId, Beads, Sheet},
    notes::{LARGEST_NOTES, Notes},
    rename_history::HistorySource,
    trajectory::{Agent, Trajectory},
    zones::Zones,
};

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
    pub(super) _lock: FileLock,
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
}
