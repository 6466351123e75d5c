//! [`Fleet`]: one machine's part of a workspace, and one round of replication.

use std::{collections::BTreeMap, path::Path, time::Duration};

use callosum_host::Disk;
use callosum_mesh::Mesh;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    FleetError, FleetStatus, Membership, Names, Peer, Places, Server, ServerError,
    crossing::Filter,
    publish::{Publisher, Sent},
    receive::{self, Incoming},
};

/// Time after which the presence of this machine is written again if nothing has changed.
const PRESENCE: Duration = Duration::from_secs(15);

/// Events that a round moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Events that were sent.
    pub sent: u64,
    /// Events that were received.
    pub received: u64,
}

/// Sign of life of a machine, which the others read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Presence {
    #[serde(flatten)]
    names: Names,
    /// Its log.
    origin: String,
    /// The last event of each other log that is in this one.
    received: BTreeMap<String, u64>,
}

/// One machine's part of a workspace.
pub struct Fleet<'f> {
    /// The membership of this machine.
    pub membership: Membership,
    /// Patterns of the repositories whose events are shared.
    pub repositories: Vec<String>,
    /// Places of this machine.
    pub places: &'f mut dyn Places,
    /// The result of the rounds so far.
    pub status: FleetStatus,
    /// The presence that was written last, and when.
    presence: Option<(Presence, std::time::Instant)>,
    disk: Disk,
}

impl<'f> Fleet<'f> {
    /// Returns the part of a machine that has joined.
    pub fn new(
        disk: &Disk,
        mesh: &Path,
        membership: Membership,
        repositories: Vec<String>,
        places: &'f mut dyn Places,
    ) -> Result<Self, FleetError> {
        Ok(Self {
            status: FleetStatus::read(disk, mesh)?,
            membership,
            repositories,
            places,
            presence: None,
            disk: disk.clone(),
        })
    }

    /// Sends what happened here, and takes in what happened elsewhere, until there is no more. Then waits at most this
    /// long for the next event of another machine, and takes it in.
    ///
    /// The status is written to its file, also if the round fails.
    pub fn sync(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        wait: Duration,
    ) -> Result<Round, FleetError> {
        let done = self.round(mesh, server, wait);
        self.note(mesh, done.as_ref().err());
        done
    }

    /// Notes that a round failed before it began, as without a connection.
    pub fn note_failure(&mut self, mesh: &Mesh, error: &FleetError) {
        self.note(mesh, Some(error));
    }

    fn note(&mut self, mesh: &Mesh, error: Option<&FleetError>) {
        let now = mesh.journal().now();
        let status = &mut self.status;
        status.last_round = Some(now);
        status.reason = error.map(ToString::to_string);
        status.is_refused = error.is_some_and(FleetError::is_refusal);
        if let Some(error) = error {
            status.is_connected = !(error.is_offline() || error.is_refusal());
            status.failures += 1;
        } else {
            status.is_connected = true;
            status.last_success = Some(now);
            status.failures = 0;
        }
        // It is a summary of what the log and the server have.
        drop(status.write(&self.disk, mesh.folder()));
    }

    fn round(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        wait: Duration,
    ) -> Result<Round, FleetError> {
        let mut round = Round {
            sent: self.publish(mesh, server)?,
            received: 0,
        };
        let mut wait = wait;
        loop {
            let Incoming { events, pulled } = self.receive(mesh, server, wait)?;
            round.received += events;
            if pulled == 0 {
                break;
            }
            wait = Duration::ZERO;
        }
        if round.received > 0 {
            // The effects of those events here; they are no events of this log.
            round.sent += self.publish(mesh, server)?;
        }
        self.show_presence(mesh, server)?;
        Ok(round)
    }

    fn publish(&mut self, mesh: &mut Mesh, server: &mut dyn Server) -> Result<u64, FleetError> {
        let mut publisher = Publisher {
            membership: &self.membership,
            filter: Filter {
                repositories: &self.repositories,
                places: self.places,
            },
            disk: &self.disk,
        };
        let Sent {
            events,
            accepted,
            examined,
            not_shared,
        } = publisher.publish(mesh, server)?;
        self.status.accepted = accepted;
        self.status.examined = examined;
        self.status.sent += events;
        self.status.not_shared += not_shared;
        Ok(events)
    }

    fn receive(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        wait: Duration,
    ) -> Result<Incoming, FleetError> {
        let mut filter = Filter {
            repositories: &self.repositories,
            places: self.places,
        };
        let status = &mut self.status;
        let incoming = receive::receive(mesh, server, &self.membership, &mut filter, status, wait)?;
        self.status.received += incoming.events;
        Ok(incoming)
    }

    /// Writes that this machine is there and what it has, and reads the same of the others.
    fn show_presence(&mut self, mesh: &Mesh, server: &mut dyn Server) -> Result<(), FleetError> {
        let presence = Presence {
            names: self.membership.names.clone(),
            origin: self.membership.origin.clone(),
            received: mesh.received()?,
        };
        let is_known = self
            .presence
            .as_ref()
            .is_some_and(|(known, at)| *known == presence && at.elapsed() < PRESENCE);
        if is_known {
            return Ok(());
        }
        let value = serde_json::to_vec(&presence).unwrap_or_default();
        server.put(&self.membership.presence_key(), value)?;
        self.presence = Some((presence, std::time::Instant::now()));
        self.status.peers = self.peers(server)?;
        Ok(())
    }

    /// Returns the other machines of the workspace.
    pub fn peers(&self, server: &mut dyn Server) -> Result<Vec<Peer>, ServerError> {
        let mut peers = Vec::new();
        for key in server.keys("machine")? {
            if key == self.membership.presence_key() {
                continue;
            }
            let Some(entry) = server.entry(&key)? else {
                continue;
            };
            let Ok(presence) = serde_json::from_slice::<Presence>(&entry.value) else {
                continue;
            };
            let Names { user, machine } = &presence.names;
            // A machine writes to its own key alone.
            if key != format!("machine.{user}.{machine}") {
                continue;
            }
            let received = presence.received.get(&self.membership.origin);
            peers.push(Peer {
                names: presence.names,
                origin: presence.origin,
                seen: entry.changed,
                received: received.copied().unwrap_or(0),
            });
        }
        peers.sort_by(|one, other| one.names.cmp(&other.names));
        Ok(peers)
    }
}

impl FleetStatus {
    /// Returns the machines that were seen in the last minutes before `now`.
    pub fn present(&self, now: Timestamp) -> impl Iterator<Item = &Peer> {
        let is_present = move |peer: &&Peer| now.duration_since(peer.seen).as_mins().abs() < 5;
        self.peers.iter().filter(is_present)
    }
}
