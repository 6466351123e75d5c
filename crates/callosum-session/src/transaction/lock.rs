//! [`Session::hold`]: takes the lock of a session's files, and finishes the step of a killed
//! process.

use std::{path::Path, time::Duration};

use callosum_host::{
    FileLock, LockError,
    disk::{EntryKind, FileStat},
};

use super::{
    concurrent_edit::is_exchanged,
    intent_log::INTENT,
    session::{LockedSession, Session},
    session_error::SessionError,
};
use crate::{
    rename_history::HistorySource,
    rollback::record::{DONE, PENDING},
    zones::{FINGERPRINTS, ZoneError},
};

/// Time to wait for another session's step.
const PATIENCE: Duration = Duration::from_secs(5);

/// Our files between the others; none is a folder.
const OWN: [&str; 10] = [
    INTENT,
    PENDING,
    DONE,
    "lock",
    "seen",
    "contexts",
    FINGERPRINTS,
    "notes.mark",
    "beads.index",
    "beads.gone",
];

impl<'s> Session<'s> {
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
            matches!(
                name,
                INTENT | PENDING | DONE | "NOTES.md" | "beads.index" | "seen"
            ) || is_exchanged(name)
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
        if held.finish_rollback()? {
            held.mended.get_or_insert_default();
        }
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

fn unwritable(error: ZoneError) -> SessionError {
    match error {
        ZoneError::Disk(error) => SessionError::Unwritable(error),
        outside @ ZoneError::Outside { .. } => outside.into(),
    }
}
