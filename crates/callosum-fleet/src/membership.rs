//! [`Membership`]: that this machine has joined a workspace, from which event on, and under which names.
//!
//! A file in the mesh's folder. Events before it stay on this machine.

use std::{fmt, path::Path};

use callosum_host::{Disk, DiskError};
use serde::{Deserialize, Serialize};

/// The folder of the fleet's files, in the mesh's.
pub(crate) const FOLDER: &str = "fleet";

/// The file.
const FILE: &str = "fleet/membership.json";

/// Names of a person and a machine. Written as `ana@laptop`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Names {
    /// The person.
    pub user: String,
    /// The machine.
    pub machine: String,
}

impl Names {
    /// Whether both are names, and so parts of a subject.
    pub(crate) fn is_valid(&self) -> bool {
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = |name: &str| (1..=32).contains(&name.len()) && name.bytes().all(is_letter);
        is_name(&self.user) && is_name(&self.machine)
    }
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.machine)
    }
}

/// Membership of a machine in a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Membership {
    /// The workspace.
    pub workspace: String,
    /// Names of the person and this machine.
    #[serde(flatten)]
    pub names: Names,
    /// The log of this machine.
    pub origin: String,
    /// The last event of this log before the machine joined.
    pub since: u64,
}

impl Membership {
    /// Reads it; `None` if this machine has not joined, or the log is another one by now.
    pub fn read(disk: &Disk, mesh: &Path, origin: &str) -> Result<Option<Self>, DiskError> {
        let bytes = disk.read_if_there(&mesh.join(FILE))?.unwrap_or_default();
        let known: Option<Self> = serde_json::from_slice(&bytes).ok();
        Ok(known.filter(|known| known.origin == origin))
    }

    /// Writes it.
    pub fn write(&self, disk: &Disk, mesh: &Path) -> Result<(), DiskError> {
        disk.create_private_dir(&mesh.join(FOLDER))?;
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        disk.replace(&mesh.join(FILE), &bytes, 0o600)
    }

    /// Removes it. Returns whether it was there.
    pub fn remove(disk: &Disk, mesh: &Path) -> Result<bool, DiskError> {
        disk.remove_file(&mesh.join(FILE))
    }

    /// Name of the consumer of this machine. A server's permissions name it.
    pub fn consumer(&self) -> String {
        let Names { user, machine } = &self.names;
        // Neither name has this letter.
        format!("{user}_{machine}")
    }

    /// Key of the presence of this machine.
    pub fn presence_key(&self) -> String {
        let Names { user, machine } = &self.names;
        format!("machine.{user}.{machine}")
    }

    /// Subject of the events of this machine.
    pub fn subject(&self) -> String {
        subject(&self.workspace, &self.names, &self.origin)
    }
}

/// Returns the subject of the events of a log. A server's permissions name its beginning.
pub(crate) fn subject(workspace: &str, names: &Names, origin: &str) -> String {
    let Names { user, machine } = names;
    format!("callosum.{workspace}.events.{user}.{machine}.{origin}")
}
