//! [`Registry`]: `pane_registry.json`, which one process writes and everyone may read (Seed CALC §4, layer 4).

use std::path::Path;

use callosum_host::{Disk, DiskError, FileLock};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::pane::Pane;

/// The version of the format.
pub const VERSION: &str = "1.0.0";

/// Entries of a registry that are older than this are not believed.
pub const BELIEVED: SignedDuration = SignedDuration::from_secs(600);

/// Bytes of a registry that are read.
const LARGEST: u64 = 8 << 20;

/// Every pane with an agent, at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// The version of the format.
    pub version: String,
    /// When it was written.
    pub updated_at: Timestamp,
    /// Process id of the writer.
    pub writer: u32,
    /// The panes.
    pub panes: Vec<Pane>,
    /// Places that could not be read, each with the reason.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Reason that a registry cannot be used.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// It cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It has another form: a newer program wrote it, or a person edited it.
    #[error("{path} is no pane registry: {why}")]
    Format {
        /// The file.
        path: String,
        /// The parser's words.
        why: String,
    },
}

/// The right to write a registry. One process has it.
#[derive(Debug)]
pub struct Writer {
    _lock: FileLock,
}

impl Writer {
    /// Takes the right unless another process has it.
    pub fn take(disk: &Disk, path: &Path) -> Result<Option<Self>, RegistryError> {
        if let Some(folder) = path.parent() {
            disk.create_private_dir(folder)?;
        }
        let lock = FileLock::try_acquire(disk, &path.with_extension("lock"))?;
        Ok(lock.map(|lock| Self { _lock: lock }))
    }

    /// Writes the registry in one step, without waiting for the disk: it is rebuilt in a moment if it is lost.
    pub fn write(
        &self,
        disk: &Disk,
        path: &Path,
        registry: &Registry,
    ) -> Result<(), RegistryError> {
        let mut text = serde_json::to_vec_pretty(registry).unwrap_or_default();
        text.push(b'\n');
        Ok(disk.replace_unsynced(path, &text, 0o600)?)
    }
}

impl Registry {
    /// Reads the registry. `None` if there is none.
    pub fn read(disk: &Disk, path: &Path) -> Result<Option<Self>, RegistryError> {
        if !disk.exists(path)? {
            return Ok(None);
        }
        let bytes = disk.read_at_most(path, LARGEST)?;
        let registry: Self =
            serde_json::from_slice(&bytes).map_err(|error| RegistryError::Format {
                path: path.display().to_string(),
                why: error.to_string(),
            })?;
        Ok(Some(registry))
    }

    /// Returns how old it is. A registry from the future has no age: the clock was set back.
    pub fn age(&self, now: Timestamp) -> Option<SignedDuration> {
        let age = now.duration_since(self.updated_at);
        (!age.is_negative()).then_some(age)
    }

    /// Whether it is recent enough to be believed.
    pub fn is_believed(&self, now: Timestamp) -> bool {
        self.age(now).is_some_and(|age| age <= BELIEVED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry(seconds: i64) -> Registry {
        Registry {
            version: VERSION.to_owned(),
            updated_at: Timestamp::from_second(seconds).unwrap(),
            writer: 7,
            panes: Vec::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn one_process_writes_and_all_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/pane_registry.json");
        let disk = Disk::real();
        let writer = Writer::take(&disk, &path).unwrap().unwrap();
        assert!(Writer::take(&disk, &path).unwrap().is_none());
        assert_eq!(Registry::read(&disk, &path).unwrap(), None);
        writer.write(&disk, &path, &registry(5)).unwrap();
        assert_eq!(Registry::read(&disk, &path).unwrap(), Some(registry(5)));
        drop(writer);
        assert!(Writer::take(&disk, &path).unwrap().is_some());
    }

    #[test]
    fn an_old_registry_and_one_from_the_future_are_not_believed() {
        let now = Timestamp::from_second(1_000).unwrap();
        assert!(registry(400).is_believed(now));
        assert!(!registry(399).is_believed(now));
        assert!(!registry(1_001).is_believed(now));
        assert_eq!(registry(1_001).age(now), None);
    }

    #[test]
    fn a_registry_that_a_person_broke_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pane_registry.json");
        let disk = Disk::real();
        disk.replace(&path, b"{\"version\": 3, ", 0o600).unwrap();
        let error = Registry::read(&disk, &path).unwrap_err().to_string();
        assert!(
            error.contains("pane_registry.json is no pane registry"),
            "{error}"
        );
    }
}
