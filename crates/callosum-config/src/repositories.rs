//! [`Repositories`]: the projects of this machine that their user began (`docs/formats/repositories.md`).
//!
//! One may name another only where both are here: that a repository lies on the disk says nothing of
//! whether its user wants it read.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;
use serde::{Deserialize, Serialize};

/// The version of its files.
const FORMAT: u32 = 1;

/// The list, as a folder with a file for each.
pub struct Repositories<'r> {
    disk: &'r Disk,
    folder: PathBuf,
}

/// A project that its user began on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    format: u32,
    /// Its root, with every link resolved.
    pub root: PathBuf,
    /// When it was first known.
    pub since: String,
}

/// All of them, and the files that are none.
#[derive(Debug, Default)]
pub struct Listed {
    /// In the order of their roots.
    pub known: Vec<Repository>,
    /// Files that cannot be understood, or that a newer version wrote.
    pub unread: Vec<PathBuf>,
}

impl<'r> Repositories<'r> {
    /// The list in this folder; it need not be there.
    pub fn new(disk: &'r Disk, folder: PathBuf) -> Self {
        Self { disk, folder }
    }

    /// Remembers a root from now on. Costs a look where it is known already.
    ///
    /// A root whose path is no UTF-8 cannot be named to another project, and is not remembered.
    pub fn remember(&self, root: &Path, since: String) -> Result<(), DiskError> {
        let file = self.file(root);
        if root.to_str().is_none() || self.disk.exists(&file)? {
            return Ok(());
        }
        self.disk.create_private_dir(&self.folder)?;
        let repository = Repository {
            format: FORMAT,
            root: root.to_owned(),
            since,
        };
        let bytes = serde_json::to_vec(&repository).unwrap_or_default();
        self.disk.create(&file, &bytes, 0o600).map(drop)
    }

    /// Forgets a root. Says whether it was known.
    pub fn forget(&self, root: &Path) -> Result<bool, DiskError> {
        self.disk.remove_file(&self.file(root))
    }

    /// Whether this is the root of one.
    pub fn know(&self, root: &Path) -> Result<bool, DiskError> {
        Ok(self
            .read(&self.file(root))?
            .is_some_and(|known| known.root == root))
    }

    /// All of them.
    pub fn all(&self) -> Result<Listed, DiskError> {
        let mut listed = Listed::default();
        if !self.disk.exists(&self.folder)? {
            return Ok(listed);
        }
        for entry in self.disk.list_dir(&self.folder)? {
            let file = self.folder.join(entry.name);
            match self.read(&file)? {
                Some(known) if self.file(&known.root) == file => listed.known.push(known),
                _ => listed.unread.push(file),
            }
        }
        listed.known.sort_by(|one, other| one.root.cmp(&other.root));
        listed.unread.sort();
        Ok(listed)
    }

    /// `None` where there is none, or none that is understood.
    fn read(&self, file: &Path) -> Result<Option<Repository>, DiskError> {
        let bytes = self.disk.read_if_there(file)?.unwrap_or_default();
        let read: Option<Repository> = serde_json::from_slice(&bytes).ok();
        Ok(read.filter(|known| known.format == FORMAT))
    }

    fn file(&self, root: &Path) -> PathBuf {
        let name = Checksum::of(root.as_os_str().as_encoded_bytes());
        self.folder.join(format!("{name}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    /// LOA-FUT-1: what was begun is known until it is forgotten, and nothing else is.
    #[test]
    fn what_was_begun_is_known_until_it_is_forgotten() {
        let ground = TestDir::new();
        let folder = ground.homes().repositories();
        let list = Repositories::new(&ground.disk, folder.clone());
        assert!(list.all().unwrap().known.is_empty());
        let (one, other) = (Path::new("/projects/one"), Path::new("/projects/other"));
        for _ in 0..2 {
            list.remember(one, "2026-01-02T03:04:05Z".to_owned())
                .unwrap();
        }
        assert!(list.know(one).unwrap());
        assert!(!list.know(other).unwrap());
        // A file that says another root than its name is not believed, nor one of a newer version.
        let misnamed = r#"{"format":1,"root":"/projects/elsewhere","since":"x"}"#;
        let newer = r#"{"format":2,"root":"/projects/newer","since":"x"}"#;
        for (root, text) in [(other, misnamed), (Path::new("/projects/newer"), newer)] {
            ground
                .disk
                .create(&list.file(root), text.as_bytes(), 0o600)
                .unwrap();
            assert!(!list.know(root).unwrap());
        }
        let listed = list.all().unwrap();
        let known: Vec<&Path> = listed.known.iter().map(|it| it.root.as_path()).collect();
        assert_eq!(known, [one]);
        assert_eq!(listed.unread.len(), 2);
        assert!(list.forget(one).unwrap());
        assert!(!list.forget(one).unwrap());
        assert!(!list.know(one).unwrap());
    }
}
