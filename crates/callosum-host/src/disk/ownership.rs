//! Ownership of created files: what root creates in another user's folder belongs to that user.
//!
//! One command as root would otherwise leave files in a project that its owner cannot write.

use std::{
    fs::{self, File, Metadata},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use rustix::fs::{AtFlags, CWD, Gid, Uid};

/// Owner of a file, and users who may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ownership {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
    /// Permission bits.
    pub mode: u32,
}

/// The permission bit that lets every user write.
const WRITABLE_BY_ALL: u32 = 0o002;

/// Returns the number of the user in whose name this process acts.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Ownership {
    /// Whether every user of the machine may write to it, as to `/tmp`.
    pub fn is_shared(self) -> bool {
        self.mode & WRITABLE_BY_ALL != 0
    }

    pub(super) fn from_metadata(found: &Metadata) -> Self {
        Self {
            user: found.uid(),
            group: found.gid(),
            mode: found.mode() & 0o7777,
        }
    }
}

/// Gives a file that root has just created to the owner of its folder.
///
/// An empty file with a single name is taken for new: what a user may have linked into the folder is neither. A
/// system that does not let root do this, as on some network disks, leaves the file as it is, and `doctor` names it.
pub(super) fn give_file(file: &File, found: &Metadata, path: &Path) {
    if found.uid() != 0 || found.len() > 0 || found.nlink() != 1 {
        return;
    }
    if let Some((user, group)) = owner_of_parent(path) {
        let _ = rustix::fs::fchown(file, Some(user), Some(group));
    }
}

/// The same of a folder.
pub(super) fn give_folder(path: &Path) {
    let is_roots = fs::symlink_metadata(path).is_ok_and(|found| found.uid() == 0);
    if is_roots && let Some((user, group)) = owner_of_parent(path) {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let _ = rustix::fs::chownat(CWD, path, Some(user), Some(group), flags);
    }
}

/// Returns the owner of the folder that a path is in, unless that is root.
fn owner_of_parent(path: &Path) -> Option<(Uid, Gid)> {
    let parent = path.parent()?;
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    let found = fs::metadata(parent).ok()?;
    (found.uid() != 0).then(|| (Uid::from_raw(found.uid()), Gid::from_raw(found.gid())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use super::*;
    use crate::disk::{Disk, OpenHow};

    /// Another user, of whom the system need not know.
    const OTHER: u32 = 54_321;

    /// REQ-SEC-001: whose a file is, and whether all may write to its folder, is known.
    #[test]
    fn a_file_has_an_owner() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("x");
        disk.create(&path, b"", 0o600).unwrap();
        let owner = disk.ownership(&path).unwrap().unwrap();
        assert_eq!(owner.user, user());
        assert!(!owner.is_shared());
        assert_eq!(disk.ownership(&folder.path().join("none")).unwrap(), None);
        let shared = disk.ownership(Path::new("/tmp")).unwrap().unwrap();
        assert!(shared.is_shared());
    }

    fn owner(path: &Path) -> u32 {
        Disk::real().ownership(path).unwrap().unwrap().user
    }

    /// CAL-SEC-1: what root creates in a folder of someone else is that user's; secrets and files of before stay root's.
    #[test]
    fn what_root_creates_belongs_to_the_owner_of_the_folder() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let before = folder.path().join("before");
        disk.replace(&before, b"x", 0o644).unwrap();
        chown(folder.path(), Some(OTHER), Some(OTHER)).unwrap();
        let inner = folder.path().join("a/b");
        disk.create_dir_all(&inner).unwrap();
        let replaced = inner.join("replaced");
        disk.replace(&replaced, b"x", 0o644).unwrap();
        let opened = inner.join("opened");
        disk.open(&opened, OpenHow::READ_WRITE_CREATE).unwrap();
        for path in [&inner, &folder.path().join("a"), &replaced, &opened] {
            assert_eq!(owner(path), OTHER, "{}", path.display());
        }
        let private = inner.join("private");
        disk.replace(&private, b"x", 0o600).unwrap();
        disk.open(&before, OpenHow::READ_WRITE_CREATE).unwrap();
        for path in [&private, &before] {
            assert_eq!(owner(path), 0, "{}", path.display());
        }
    }

    /// CAL-SEC-1: a file elsewhere that a user linked into the folder does not become that user's.
    #[test]
    fn a_linked_file_keeps_its_owner() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let mine = folder.path().join("mine");
        disk.replace(&mine, b"", 0o644).unwrap();
        let theirs = folder.path().join("theirs");
        disk.create_dir_all(&theirs).unwrap();
        chown(&theirs, Some(OTHER), Some(OTHER)).unwrap();
        disk.hard_link(&mine, &theirs.join("linked")).unwrap();
        disk.open(&theirs.join("linked"), OpenHow::READ_WRITE_CREATE)
            .unwrap();
        assert_eq!(owner(&mine), 0);
    }
}
