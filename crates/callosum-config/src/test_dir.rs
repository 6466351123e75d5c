//! [`TestDir`]: a temporary folder for the tests of this room, with links resolved.

use std::path::{Path, PathBuf};

use callosum_host::Disk;

use super::{directories::Homes, state_place::NewState};

/// A temporary folder, removed when it is dropped.
pub(super) struct TestDir {
    _folder: tempfile::TempDir,
    pub(super) top: PathBuf,
    pub(super) disk: Disk,
}

impl TestDir {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        Self {
            top: disk.canonicalize(folder.path()).unwrap(),
            _folder: folder,
            disk,
        }
    }

    /// The path of a name in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// Creates a folder.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        self.disk.create_dir_all(&path).unwrap();
        path
    }

    /// Writes a file and the folders on the way to it.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        self.disk.create_dir_all(path.parent().unwrap()).unwrap();
        self.disk.replace(&path, content.as_ref(), 0o644).unwrap();
        path
    }

    /// Returns the text of a file.
    pub(super) fn text(&self, path: &Path) -> String {
        String::from_utf8(self.disk.read(path).unwrap()).unwrap()
    }

    /// Homes in the folder, not created.
    pub(super) fn homes(&self) -> Homes {
        Homes {
            machine: self.path("state/callosum"),
            user_config: self.path("config.toml"),
            new_state: NewState::default(),
        }
    }
}
