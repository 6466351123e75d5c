//! [`MemorySettings`]: whether the memory of past sessions is on, and what it leaves out.

use std::path::PathBuf;

use callosum_config::Homes;
use callosum_host::{Disk, DiskError};
use callosum_memory::Origin;
use serde::{Deserialize, Serialize};

use super::MemoryMachine;
use crate::shell_word::shell_word;
use crate::{CommandError, Exit};

/// Largest file of settings that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The choices of this machine's user about the memory of past sessions. It is off until they turn it on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemorySettings {
    /// Whether it is on.
    pub on: bool,
    /// Folders whose sessions are left out.
    pub excluded: Vec<PathBuf>,
    /// Sessions that were forgotten, and are not read again.
    pub forgotten: Vec<ForgottenSession>,
}

/// A session that is not read again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ForgottenSession {
    /// The client's name, or the kind of a record.
    pub client: String,
    /// The session's id.
    pub session: String,
}

impl MemorySettings {
    /// Reads the settings; those of a machine without a file are the defaults.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn read(machine: &MemoryMachine) -> Result<Self, CommandError> {
        Self::read_in(&machine.disk, &machine.homes)
    }

    /// Reads the settings in the machine's folders.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged.
    pub fn read_in(disk: &Disk, homes: &Homes) -> Result<Self, CommandError> {
        let path = path(homes);
        let failed = |error: &DiskError| CommandError::from_error(Exit::Environment, error);
        if !disk.exists(&path).map_err(|error| failed(&error))? {
            return Ok(Self::default());
        }
        let bytes = disk.read_at_most(&path, LARGEST);
        let bytes = bytes.map_err(|error| failed(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let what = format!("cannot use the settings of the memory, {}", path.display());
            CommandError::because(Exit::Environment, what, &error)
                .hint(format!("rm {}", shell_word(&path.display().to_string())))
        })
    }

    /// Writes the settings.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, machine: &MemoryMachine) -> Result<(), CommandError> {
        let mut text = serde_json::to_string_pretty(self).map_err(CommandError::internal)?;
        text.push('\n');
        write(&machine.disk, path(&machine.homes), text.as_bytes())
            .map_err(|error| CommandError::from_error(Exit::Environment, &error))
    }

    /// Returns the forgotten sessions of origins that are known.
    pub(super) fn forgotten(&self) -> Vec<(Origin, String)> {
        let known = self.forgotten.iter();
        known
            .filter_map(|one| Some((Origin::of(&one.client)?, one.session.clone())))
            .collect()
    }
}

fn path(homes: &Homes) -> PathBuf {
    homes.memory().join("settings.json")
}

fn write(disk: &Disk, path: PathBuf, bytes: &[u8]) -> Result<(), DiskError> {
    if let Some(folder) = path.parent() {
        disk.create_private_dir(folder)?;
    }
    disk.replace(&path, bytes, 0o600)
}
