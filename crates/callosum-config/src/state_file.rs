//! [`StateFile`]: a small JSON file of the machine's home that this program alone writes.
//!
//! It names the version of its format, and one of a later version is neither read nor written
//! over. What is in it, its owner says: start with [`StateFile::read`].
//!
//! What is deliberately not here: the lock that a change is made under, which covers more than one
//! file.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Disk, DiskError, LockError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// Timeout for the lock of another process that changes the same files.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Permission bits of such a file.
const MODE: u32 = 0o600;

/// Path of such a file, and the version of its format that this program knows.
#[derive(Clone, Debug)]
pub(super) struct StateFile {
    disk: Disk,
    path: PathBuf,
    version: u32,
}

/// The one field that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl StateFile {
    /// The file at `path`. Reads and creates nothing.
    pub(super) fn new(disk: &Disk, path: &Path, version: u32) -> Self {
        Self {
            disk: disk.clone(),
            path: path.to_owned(),
            version,
        }
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its content; `None` if there is no file.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, StateFileError> {
        let Some(bytes) = self.disk.read_if_there(&self.path)? else {
            return Ok(None);
        };
        let corrupt = |source| StateFileError::Corrupt {
            path: self.path().to_owned(),
            source,
        };
        let Versioned { version } = serde_json::from_slice(&bytes).map_err(corrupt)?;
        if version > self.version {
            return Err(StateFileError::Newer {
                path: self.path().to_owned(),
                found: version,
                known: self.version,
            });
        }
        serde_json::from_slice(&bytes).map(Some).map_err(corrupt)
    }

    /// Replaces what it holds, which is on disk when this returns.
    pub(super) fn replace(&self, content: &impl Serialize) -> Result<(), StateFileError> {
        let mut bytes = serde_json::to_vec_pretty(content).expect("plain data has a JSON form");
        bytes.push(b'\n');
        Ok(self.disk.replace(&self.path, &bytes, MODE)?)
    }
}

/// Reason that the content of such a file is not known, or not changed.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file was written by a later version of this program.
    #[error("a newer version wrote `{}` (format {found}, this program supports {known})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The last that this program knows.
        known: u32,
    },
    /// The file is not what this program writes.
    #[error("`{}` is damaged", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The parse error.
        source: serde_json::Error,
    },
    /// Another process is changing it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The disk does not give or take it.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
