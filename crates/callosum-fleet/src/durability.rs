//! [`Acknowledged`]: what an acknowledgement means for a loss of power, a lost disk, and other machines.

use serde::{Deserialize, Serialize};

/// Class of durability of an event, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Acknowledged {
    /// It is in the log of its machine, which the system has confirmed as on disk. It survives a loss of power of this
    /// machine, and no other machine has it yet.
    LoggedLocally,
    /// A server has accepted it. It survives the loss of this machine. A server that is set to `sync_interval: 2m`, the
    /// default, may lose what it accepted in the last two minutes in a loss of power; this machine then sends it again.
    AcceptedByServer,
    /// Every other machine of the workspace that was seen in the last minutes has it in its own log, on disk.
    SyncedByPeers,
}

impl Acknowledged {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LoggedLocally => "logged_locally",
            Self::AcceptedByServer => "accepted_by_server",
            Self::SyncedByPeers => "synced_by_peers",
        }
    }
}
