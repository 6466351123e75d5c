//! [`Scratch`]: a folder that is gone, with all that is in it, when it is dropped.
//!
//! Nothing here is made durable: what stands in a scratch folder is worth nothing after a crash.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    file_system::EntryKind,
    handle::{Disk, DiskError, Operation},
};

/// Tells apart the scratch folders of one process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder of our own for a while.
#[derive(Debug)]
pub struct Scratch {
    disk: Disk,
    path: PathBuf,
}

impl Disk {
    /// Makes a new empty folder in `parent`, which is created where it is missing.
    ///
    /// Who may look into it is decided by who may enter `parent`.
    pub fn scratch(&self, parent: &Path) -> Result<Scratch, DiskError> {
        loop {
            let count = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{}-{count}", std::process::id()));
            let created = self
                .file_system
                .create_dir(&path)
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
                Err(error) if error.is_absent() && self.create_dir_all(parent)? => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes a folder and everything in it; links are removed, not followed.
    ///
    /// Nothing is an error where there is nothing.
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

impl Scratch {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whoever wrote here may still be writing; what cannot be removed now is only litter.
        drop(self.disk.remove_tree(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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
