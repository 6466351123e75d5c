//! [`Scratch`]: a folder that is removed, with all its contents, when it is dropped.
//!
//! Nothing here is made durable: the contents of a scratch folder are worthless after a crash.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    file_system::{EntryKind, OpenHow},
    handle::{Disk, DiskError, Operation, uninterrupted},
};
use crate::lock::{FileLock, LockFile};

/// Name of the lock file in a [`HeldScratch`]: held means that its process is alive.
const LOCK: &str = ".lock";

/// Number of times that a missing parent folder is created before its absence counts as an error.
const MOST_PARENTS: u32 = 8;

/// Tells apart the scratch folders of one process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder of our own for a while.
#[derive(Debug)]
pub struct Scratch {
    disk: Disk,
    path: PathBuf,
}

/// A folder of our own that others can tell is in use, as long as this process lives.
#[derive(Debug)]
pub struct HeldScratch {
    // Dropped first: the lock outlives its file by a moment, and no process can take it before.
    scratch: Scratch,
    _lock: FileLock,
}

impl Disk {
    /// Makes a new empty folder in `parent`, which is created if it is missing.
    ///
    /// Access to it is limited by access to `parent`.
    pub fn scratch(&self, parent: &Path) -> Result<Scratch, DiskError> {
        let mut made_parent = 0;
        loop {
            let count = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{}-{count}", std::process::id()));
            let created = uninterrupted(|| self.file_system.create_dir(&path))
                .map_err(DiskError::on(Operation::CreateFolder, &path));
            match created {
                Ok(()) => {
                    return Ok(Scratch {
                        disk: self.clone(),
                        path,
                    });
                }
                // Left by a process of the same number that was killed.
                Err(error) if error.is_taken() => {}
                // Any process may create the parent first, and all continue; if it is a link to a
                // missing target, none can.
                Err(error) if error.is_absent() && made_parent < MOST_PARENTS => {
                    made_parent += 1;
                    self.create_dir_all(parent)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The same as [`scratch`](Self::scratch), with a lock in it by which
    /// [`sweep_scratch`](Self::sweep_scratch) leaves it alone until this process has ended.
    pub fn held_scratch(&self, parent: &Path) -> Result<HeldScratch, DiskError> {
        loop {
            let scratch = self.scratch(parent)?;
            let lock = scratch.path.join(LOCK);
            match LockFile::private().try_acquire(self, &lock) {
                // A sweeping process came between our two steps, and it is gone again.
                Ok(Some(_)) if !self.exists(&lock)? => {}
                Ok(Some(held)) => {
                    return Ok(HeldScratch {
                        scratch,
                        _lock: held,
                    });
                }
                Ok(None) => {}
                Err(error) if error.is_absent() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes the folders of [`held_scratch`](Self::held_scratch) in `parent` whose process was
    /// killed, and returns their number. A folder of any process without a lock is removed as well.
    ///
    /// Continues after a folder that cannot be removed, and returns the first such error at the
    /// end.
    pub fn sweep_scratch(&self, parent: &Path) -> Result<usize, DiskError> {
        let mut removed = 0;
        let mut failed = None;
        for entry in self.list_dir(parent)? {
            if entry.kind != EntryKind::Folder {
                continue;
            }
            match self.remove_if_unheld(&parent.join(&entry.name)) {
                Ok(was_removed) => removed += usize::from(was_removed),
                // Its owner, or another who sweeps, was faster, or is at it.
                Err(error) if error.is_absent() || is_not_empty(&error) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(removed),
        }
    }

    fn remove_if_unheld(&self, folder: &Path) -> Result<bool, DiskError> {
        let file = self.open(&folder.join(LOCK), OpenHow::READ_WRITE_CREATE)?;
        // Held while the folder goes, so that its owner, should it just begin, begins elsewhere.
        if !file.try_lock()? {
            return Ok(false);
        }
        self.remove_tree(folder)?;
        Ok(true)
    }

    /// Removes a folder and everything in it; links are removed, not followed.
    ///
    /// A missing folder is not an error.
    pub fn remove_tree(&self, path: &Path) -> Result<(), DiskError> {
        for entry in self.list_dir(path)? {
            let inner = path.join(&entry.name);
            match entry.kind {
                EntryKind::Folder => self.remove_tree(&inner)?,
                EntryKind::File | EntryKind::Link | EntryKind::Other => {
                    self.remove_file(&inner)?;
                }
            }
        }
        self.remove_dir(path)?;
        Ok(())
    }
}

fn is_not_empty(error: &DiskError) -> bool {
    error.source.kind() == std::io::ErrorKind::DirectoryNotEmpty
}

impl Scratch {
    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl HeldScratch {
    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.scratch.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A writer may still be active here; anything that cannot be removed now is only litter.
        drop(self.disk.remove_tree(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// CAL-SEC-1: what a killed process left is collected, what a living one uses is not.
    #[test]
    fn a_sweep_removes_unheld_folders() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let parent = folder.path().join("scratch");
        assert_eq!(disk.sweep_scratch(&parent).unwrap(), 0);
        let held = disk.held_scratch(&parent).unwrap();
        let inner = disk.scratch(held.path()).unwrap();
        // Leftovers of a killed process: the folder, and a lock without a holder.
        let left = parent.join("1-0");
        disk.create_dir_all(&left.join("inner")).unwrap();
        disk.replace(&left.join(LOCK), b"", 0o600).unwrap();
        // And what an older version left, or one killed between two steps.
        disk.create_dir_all(&parent.join("2-0")).unwrap();
        disk.replace(&parent.join("file"), b"not ours", 0o600)
            .unwrap();
        assert_eq!(disk.sweep_scratch(&parent).unwrap(), 2);
        assert!(disk.exists(inner.path()).unwrap());
        assert!(!disk.exists(&left).unwrap());
        drop((inner, held));
        let names = disk.list_dir(&parent).unwrap();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    /// CAL-SEC-1: a parent that leads nowhere is an error, not a wait without end.
    #[test]
    fn a_folder_in_a_link_to_nowhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().join("scratch");
        symlink("nowhere", &parent).unwrap();
        Disk::real().scratch(&parent).unwrap_err();
    }

    /// A process that makes a folder while others sweep has it all to itself.
    #[test]
    fn folders_are_made_and_swept_at_once_without_harm() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let parent = folder.path().join("scratch");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        disk.sweep_scratch(&parent).unwrap();
                    }
                });
                scope.spawn(|| {
                    for _ in 0..50 {
                        let held = disk.held_scratch(&parent).unwrap();
                        assert!(disk.exists(&held.path().join(LOCK)).unwrap());
                    }
                });
            }
        });
        assert_eq!(disk.list_dir(&parent).unwrap().len(), 0);
    }

    /// CAL-SEC-1: temporary files are gone afterwards, and nothing outside goes with them.
    #[test]
    fn a_scratch_folder_takes_its_content_along_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let kept = folder.path().join("kept");
        disk.replace(&kept, b"x", 0o644).unwrap();
        let parent = folder.path().join("not/yet/there");
        let scratch = disk.scratch(&parent).unwrap();
        let other = disk.scratch(&parent).unwrap();
        assert_ne!(scratch.path(), other.path());
        disk.create_dir_all(&scratch.path().join("a/b")).unwrap();
        disk.replace(&scratch.path().join("a/file"), b"x", 0o644)
            .unwrap();
        symlink(folder.path(), scratch.path().join("a/link")).unwrap();
        drop((scratch, other));
        assert!(disk.list_dir(&parent).unwrap().is_empty());
        assert!(disk.exists(&kept).unwrap());
    }
}
