//! [`FleetStatus`]: what the last round found, in a file that every process of this machine reads; and [`Peer`], the other
//! machines as the server knows them.

use std::path::Path;

use callosum_host::{Disk, DiskError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Names, membership::FOLDER};

/// The file, in the mesh's folder.
const FILE: &str = "fleet/status.json";

/// Outcome of the last round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FleetStatus {
    /// Whether a server answered.
    pub is_connected: bool,
    /// Whether the server refused the credentials.
    pub is_refused: bool,
    /// Time of the last round.
    pub last_round: Option<Timestamp>,
    /// Time of the last round that went through.
    pub last_success: Option<Timestamp>,
    /// Rounds since then that failed.
    pub failures: u64,
    /// Reason of the last failure.
    pub reason: Option<String>,
    /// The last event of this log that a server accepted; 0 if none.
    pub accepted: u64,
    /// The last event of this log that was looked at.
    pub examined: u64,
    /// Events that were sent since the machine joined.
    pub sent: u64,
    /// Events that were received since the machine joined.
    pub received: u64,
    /// Messages that were passed over, since they are not what their subject says.
    pub refused_messages: u64,
    /// Events of others that can no longer be received.
    pub gaps: u64,
    /// Tasks that are not shared, since another machine has one of the same id.
    pub not_shared: u64,
    /// Other machines.
    #[serde(default)]
    pub peers: Vec<Peer>,
}

/// Another machine of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Peer {
    /// Names of the person and the machine.
    #[serde(flatten)]
    pub names: Names,
    /// Its log.
    pub origin: String,
    /// Time of its last round, by the server's clock.
    pub seen: Timestamp,
    /// The last event of this machine that it has in its log.
    pub received: u64,
}

impl FleetStatus {
    /// Reads it. A file that cannot be understood counts as none.
    pub fn read(disk: &Disk, mesh: &Path) -> Result<Self, DiskError> {
        let bytes = disk.read_if_there(&mesh.join(FILE))?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    pub(crate) fn write(&self, disk: &Disk, mesh: &Path) -> Result<(), DiskError> {
        disk.create_private_dir(&mesh.join(FOLDER))?;
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        disk.replace_unsynced(&mesh.join(FILE), &bytes, 0o600)
    }

    /// Removes it.
    pub fn remove(disk: &Disk, mesh: &Path) -> Result<(), DiskError> {
        disk.remove_file(&mesh.join(FILE)).map(drop)
    }
}
