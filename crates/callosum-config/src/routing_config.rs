//! [`MatrixFile`]: the routing table of the user's configuration, as it is now.
//!
//! Read again when it may have changed: it is small, and the content is compared with the last one.
//! Deliberately not here: the rest of that file.

use std::path::PathBuf;

use callosum_host::Disk;
use callosum_mesh::route::Matrix;

use super::mesh::{MeshSettings, MeshSettingsError};

/// The file, and the last matrix in it that could be used.
#[derive(Debug)]
pub struct MatrixFile {
    disk: Disk,
    path: PathBuf,
    /// Result of the last read: its bytes, `None` if it does not exist, or the reason that it
    /// cannot be read.
    read: Result<Option<Vec<u8>>, String>,
    matrix: Matrix,
}

/// Result of another look at the file.
#[derive(Debug, PartialEq, Eq)]
pub enum ReloadOutcome {
    /// Its content is the same.
    Same,
    /// It says something else, which can be used.
    Changed,
    /// It cannot be used, and why; what could be used last holds.
    Broken(String),
}

impl MatrixFile {
    /// Reads it for the first time. Fails where it cannot be used: nothing could be used before it.
    pub fn open(disk: &Disk, path: PathBuf) -> Result<Self, MeshSettingsError> {
        let bytes = disk.read_if_there(&path)?;
        let matrix = MeshSettings::of_file(&path, bytes.as_deref())?.matrix;
        Ok(Self {
            disk: disk.clone(),
            path,
            read: Ok(bytes),
            matrix,
        })
    }

    /// The last matrix that could be used.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// Looks at it again. A fault is reported once, until it is another one.
    pub fn look(&mut self) -> ReloadOutcome {
        let read = self.disk.read_if_there(&self.path);
        let read = read.map_err(|error| error.to_string());
        if read == self.read {
            return ReloadOutcome::Same;
        }
        self.read = read;
        let bytes = match &self.read {
            Ok(bytes) => bytes.as_deref(),
            Err(reason) => return ReloadOutcome::Broken(reason.clone()),
        };
        match MeshSettings::of_file(&self.path, bytes) {
            Ok(settings) => {
                self.matrix = settings.matrix;
                ReloadOutcome::Changed
            }
            Err(error) => ReloadOutcome::Broken(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    /// CALC-ROUTE-1: the file's content holds from its change on; a file that cannot be used is
    /// reported once, and the last one that could be used holds until it is mended.
    #[test]
    fn a_change_holds_and_a_broken_file_does_not() {
        let ground = TestDir::new();
        let path = ground.path("config.toml");
        let mut file = MatrixFile::open(&ground.disk, path).unwrap();
        let primary = |file: &MatrixFile| file.matrix().route("synthesis").unwrap().primary.clone();
        assert_eq!(*file.matrix(), Matrix::default());
        assert_eq!(file.look(), ReloadOutcome::Same);
        ground.write(
            "config.toml",
            "[mesh.routes.synthesis]\nprimary = \"qwen\"\n",
        );
        assert_eq!(file.look(), ReloadOutcome::Changed);
        assert_eq!(file.look(), ReloadOutcome::Same);
        assert_eq!(primary(&file).as_str(), "qwen-code");
        ground.write("config.toml", "[mesh.routes.synthesis]\nprimary = 3\n");
        let ReloadOutcome::Broken(reason) = file.look() else {
            panic!("it can be used");
        };
        assert!(
            reason.contains("`mesh.routes.synthesis.primary` is 3"),
            "{reason}"
        );
        assert_eq!(file.look(), ReloadOutcome::Same);
        assert_eq!(primary(&file).as_str(), "qwen-code");
        ground
            .disk
            .remove_file(&ground.path("config.toml"))
            .unwrap();
        assert_eq!(file.look(), ReloadOutcome::Changed);
        assert_eq!(*file.matrix(), Matrix::default());
        ground.write("config.toml", "[mesh");
        assert!(MatrixFile::open(&ground.disk, ground.path("config.toml")).is_err());
    }
}
