//! [`SecretReadsFile`]: the user's list of files that agents do not read, and what a project adds to it.
//!
//! The list is off unless its file exists. The hook looks for it at each command, so it is one small file.

use std::path::{Path, PathBuf};

use callosum_guard::{Decision, SecretReads};
use callosum_host::{Disk, FileLock};
use serde::{Deserialize, Serialize};

use super::state_file::{LOCK_TIMEOUT, StateFile, StateFileError};

/// The name of the file, next to the user's configuration.
pub(super) const NAME: &str = "secret_reads.json";

/// The name of a project's file: patterns that it adds, one a line.
const ADDED: &str = ".cal_secrets";

/// Most bytes of a project's file, and most patterns in it, that count.
const LONGEST: u64 = 64 * 1024;
const MOST: usize = 256;

/// The version of the file that this program writes.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    version: u32,
    #[serde(flatten)]
    secrets: SecretReads,
}

/// The user's list of files that agents do not read.
#[derive(Clone, Debug)]
pub struct SecretReadsFile {
    disk: Disk,
    path: PathBuf,
}

impl SecretReadsFile {
    /// The file at this path. Reads and creates nothing.
    pub fn new(disk: &Disk, path: &Path) -> Self {
        Self {
            disk: disk.clone(),
            path: path.to_owned(),
        }
    }

    /// Returns whether the list is on, by whether there is a file.
    pub fn is_on(&self) -> bool {
        self.disk.exists(&self.path).unwrap_or(true)
    }

    /// Returns the list; `None` if it is off.
    pub fn read(&self) -> Result<Option<SecretReads>, StateFileError> {
        let file = StateFile::new(&self.disk, &self.path, VERSION);
        let content: Option<Content> = file.read()?;
        Ok(content.map(|content| content.secrets))
    }

    /// Returns what is in force in the trees at `roots`: a file that cannot be read counts as the preset.
    pub fn in_force(&self, roots: &[&Path]) -> Option<SecretReads> {
        let read = self.read();
        let mut secrets = read.unwrap_or_else(|_| Some(SecretReads::preset(Decision::Ask)))?;
        for root in roots {
            secrets.patterns.extend(self.added(root));
        }
        Some(secrets)
    }

    /// The patterns that a project adds. It takes none out.
    fn added(&self, root: &Path) -> Vec<String> {
        let path = root.join(ADDED);
        let is_there = self.disk.exists(&path).unwrap_or(false);
        let bytes = is_there.then(|| self.disk.read_at_most(&path, LONGEST).ok());
        let bytes = bytes.flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty() && !line.starts_with(['!', '#']))
            .take(MOST)
            .map(str::to_owned)
            .collect()
    }

    /// Changes the list, and returns what it is then. `None` turns it off.
    pub fn change(
        &self,
        change: impl FnOnce(Option<SecretReads>) -> Option<SecretReads>,
    ) -> Result<Option<SecretReads>, StateFileError> {
        if let Some(folder) = self.path.parent() {
            self.disk.create_dir_all(folder)?;
        }
        let lock = self.path.with_extension("lock");
        let _lock = FileLock::acquire(&self.disk, &lock, LOCK_TIMEOUT)?;
        let changed = change(self.read()?);
        match &changed {
            Some(secrets) => {
                let content = Content {
                    version: VERSION,
                    secrets: secrets.clone(),
                };
                StateFile::new(&self.disk, &self.path, VERSION).replace(&content)?;
            }
            None => {
                self.disk.remove_file(&self.path)?;
            }
        }
        Ok(changed)
    }
}
