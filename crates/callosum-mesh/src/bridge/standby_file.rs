//! [`StandbyFile`]: a copy of the projection, which replaces the bridge file when someone begins to write it.
//!
//! The next author opens the copy, and overwrites nothing. The first author's file is then among
//! the files that were exchanged away, and [`Bridge::sync`](super::Bridge::sync) applies it from
//! there. Once that author has finished, the file goes back to its place, so that they read there
//! what they wrote.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use callosum_host::{
    Disk, DiskError,
    disk::{EntryKind, FileId},
};

use super::{FILE, store::BridgeStore, sync::KEPT};

/// A copy that is ready to replace the file.
#[derive(Debug)]
pub struct StandbyFile {
    disk: Disk,
    file: PathBuf,
    kept: BridgeStore,
    laid: Option<Laid>,
    put: Option<Put>,
    /// Whether the file system can exchange two files.
    is_supported: bool,
}

#[derive(Debug)]
struct Laid {
    path: PathBuf,
    revision: u64,
}

/// The last one that was put in the file's place.
#[derive(Debug)]
struct Put {
    id: FileId,
    /// Path of the file that it replaced.
    away: PathBuf,
}

impl StandbyFile {
    /// None yet, for the bridge in the mesh's folder.
    pub fn of(disk: &Disk, folder: &Path) -> Self {
        Self {
            disk: disk.clone(),
            file: folder.join(FILE),
            kept: BridgeStore::new(disk, folder.join(KEPT)),
            laid: None,
            put: None,
            is_supported: true,
        }
    }

    /// Returns the folder of the files that were exchanged away.
    pub fn folder(&self) -> PathBuf {
        self.kept.late_folder()
    }

    /// Returns the revision of the projection that these bytes are, if they are one of ours. Costs
    /// a read of the projection.
    pub fn revision_of(&self, bytes: &[u8]) -> Result<Option<u64>, DiskError> {
        self.kept.revision_of(bytes)
    }

    /// Whether a copy is ready.
    pub fn is_ready(&self) -> bool {
        self.laid.is_some()
    }

    /// Lays a projection ready in the stead of the one that is; where, if that was not done before.
    pub fn lay(&mut self, revision: u64, shown: &[u8]) -> Result<Option<PathBuf>, DiskError> {
        let is_laid = self.laid.as_ref().map(|laid| laid.revision) == Some(revision);
        if is_laid || !self.is_supported {
            return Ok(None);
        }
        let path = self.kept.spare(shown)?;
        self.lift()?;
        self.laid = Some(Laid {
            path: path.clone(),
            revision,
        });
        Ok(Some(path))
    }

    /// Exchanges the copy and the file. Returns whether the former file is now at the copy's path.
    /// Leaves anything but a regular file alone.
    pub fn exchange(&mut self) -> Result<bool, DiskError> {
        let found = self.disk.stat(&self.file)?;
        if found.is_none_or(|found| found.kind != EntryKind::File) {
            return Ok(false);
        }
        let Some(laid) = self.laid.take() else {
            return Ok(false);
        };
        let id = self.disk.stat(&laid.path)?.and_then(|stat| stat.id);
        match self.disk.exchange(&laid.path, &self.file) {
            Ok(()) => {
                let away = laid.path;
                self.put = id.map(|id| Put { id, away });
                Ok(true)
            }
            Err(error) => {
                self.is_supported &= !error.is_unsupported();
                self.laid = Some(laid);
                self.lift()?;
                if error.is_absent() || error.is_unsupported() {
                    Ok(false)
                } else {
                    Err(error)
                }
            }
        }
    }

    /// The name of the file that was exchanged away last.
    pub fn away(&self) -> Option<&OsStr> {
        self.put.as_ref().and_then(|put| put.away.file_name())
    }

    /// Puts the last file that was exchanged away back in its place, unless the file there is no
    /// longer the copy. Returns whether it did.
    pub fn give_back(&mut self) -> Result<bool, DiskError> {
        let Some(put) = self.put.take() else {
            return Ok(false);
        };
        let there = self.disk.stat(&self.file)?.and_then(|stat| stat.id);
        if there != Some(put.id) {
            return Ok(false);
        }
        match self.disk.exchange(&put.away, &self.file) {
            Ok(()) => Ok(true),
            Err(error) if error.is_absent() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes the copy that is ready.
    pub fn lift(&mut self) -> Result<(), DiskError> {
        match self.laid.take() {
            Some(laid) => self.disk.remove_file(&laid.path).map(drop),
            None => Ok(()),
        }
    }
}
