//! [`Owner`]: who owns a path, and [`user`]: who this process is.
//!
//! A file in a folder that several users share may be anyone's. Start with [`Disk::owner`].

use std::path::Path;

use super::handle::{Disk, DiskError, Operation, uninterrupted};

/// The permission bit that lets every user write.
const WRITABLE_BY_ALL: u32 = 0o002;

/// Who owns a path, and what others may do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user's number.
    pub user: u32,
    /// The permission bits.
    pub mode: u32,
}

impl Owner {
    /// Whether every user of the machine may write to it, as to `/tmp`.
    pub fn is_shared(self) -> bool {
        self.mode & WRITABLE_BY_ALL != 0
    }
}

/// Returns the number of the user in whose name this process acts.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

impl Disk {
    /// Returns who owns a path; a link is described itself, not followed. `None` if nothing is there, or the file system
    /// knows no owners.
    pub fn owner(&self, path: &Path) -> Result<Option<Owner>, DiskError> {
        match uninterrupted(|| self.file_system.owner(path)) {
            Ok(owner) => Ok(owner),
            Err(error) => {
                let error = DiskError::on(Operation::Stat, path)(error);
                if error.is_absent() {
                    Ok(None)
                } else {
                    Err(error)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-SEC-001: whose a file is, and whether all may write to its folder, is known.
    #[test]
    fn a_file_has_an_owner() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let path = folder.path().join("x");
        disk.create(&path, b"", 0o600).unwrap();
        let owner = disk.owner(&path).unwrap().unwrap();
        assert_eq!(owner.user, user());
        assert!(!owner.is_shared());
        assert_eq!(disk.owner(&folder.path().join("none")).unwrap(), None);
        assert_eq!(disk.owner(&path.join("none")).unwrap(), None);
        let shared = disk.owner(Path::new("/tmp")).unwrap().unwrap();
        assert!(shared.is_shared());
    }
}
