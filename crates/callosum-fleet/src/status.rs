//! [`FleetStatus`]: what the last round found, in a file that every process of this machine reads; and [`Peer`], the other
//! machines as the server knows them.

use std::path::Path;

use callosum_host::{Disk, DiskError};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Names, membership::FOLDER};

/// The file, in the mesh's folder.
const FILE: &str = "fleet/status.json";

/// Time for which a machine counts as present after its last sign of life.
const PRESENT: SignedDuration = SignedDuration::from_mins(5);

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
    /// Place in the stream of the last message of this machine.
    #[serde(default)]
    pub accepted_at: u64,
    /// The last event of this log that was looked at.
    pub examined: u64,
    /// Events that were sent since the machine joined.
    pub sent: u64,
    /// Events that were received since the machine joined.
    pub received: u64,
    /// Messages that were passed over, since they are not what their subject says.
    pub refused_messages: u64,
    /// Events of others that were received and not taken in: they are not of those that cross, or there is no room.
    #[serde(default)]
    pub refused_events: u64,
    /// Events of others that can no longer be received.
    pub gaps: u64,
    /// Tasks that are not shared, since another machine has one of the same id.
    pub not_shared: u64,
    /// Other machines.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// When they were looked at.
    #[serde(default)]
    pub looked: Option<Looked>,
}

/// A moment by two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Looked {
    /// By the clock of this machine.
    pub here: Timestamp,
    /// By the server's clock.
    pub there: Timestamp,
}

/// Another machine of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Peer {
    /// Names of the person and the machine.
    #[serde(flatten)]
    pub names: Names,
    /// Its log.
    pub origin: String,
    /// Time of its last sign of life, by the server's clock.
    pub seen: Timestamp,
    /// Place in the stream up to which its log has everything.
    #[serde(default)]
    pub through: u64,
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

    /// Returns the machines that were seen in the last minutes before `now`. The clock of this machine may be wrong: of it
    /// only the time since the others were looked at counts.
    pub fn present(&self, now: Timestamp) -> impl Iterator<Item = &Peer> {
        let looked = self.looked;
        self.peers.iter().filter(move |peer| {
            looked.is_some_and(|Looked { here, there }| {
                now.duration_since(here).abs() + there.duration_since(peer.seen) < PRESENT
            })
        })
    }

    /// Whether this machine's last message is in the log of every other one that is present; no others have nothing.
    pub fn is_synced_by_peers(&self, now: Timestamp) -> bool {
        let mut present = self.present(now).peekable();
        present.peek().is_some() && present.all(|peer| self.is_with(peer))
    }

    /// Whether another machine has all that this one sent.
    pub fn is_with(&self, peer: &Peer) -> bool {
        peer.through >= self.accepted_at
    }

    /// Whether the other status differs only in the times of the last round.
    pub(crate) fn is_same_but_for_time(&self, other: &Self) -> bool {
        let timeless = Self {
            last_round: other.last_round,
            last_success: other.last_success,
            ..self.clone()
        };
        timeless == *other
    }

    /// Removes it.
    pub fn remove(disk: &Disk, mesh: &Path) -> Result<(), DiskError> {
        disk.remove_file(&mesh.join(FILE)).map(drop)
    }
}
