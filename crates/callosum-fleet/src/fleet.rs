//! [`Fleet`]: one machine's part of a workspace, and one round of replication.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use callosum_host::Disk;
use callosum_mesh::Mesh;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    FleetError, FleetStatus, Membership, Names, Peer, Places, Server,
    crossing::Filter,
    publish::{End, Publisher, Sent},
    receive::{self, Incoming},
    status::Looked,
};

/// Time after which the presence of this machine is written again if nothing has changed, and the server is asked again
/// what it has of this machine.
const PRESENCE: Duration = Duration::from_secs(15);

/// Shortest time between two writes of the presence, and between two looks at the others'.
const SHORTEST: Duration = Duration::from_secs(1);

/// Time that each other machine adds to that between looks: one request each, so that the looks of a machine cost the same
/// in a fleet of any size.
const PER_PEER: Duration = Duration::from_millis(200);

/// Pulls in a round, after which this machine's own events are sent first.
const MOST_PULLS: usize = 8;

/// Outcome of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Events that were sent.
    pub sent: u64,
    /// Events that were received.
    pub received: u64,
    /// Whether there is more to receive.
    pub is_more: bool,
}

/// Sign of life of a machine, which the others read. Its size does not grow with their number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Presence {
    #[serde(flatten)]
    names: Names,
    /// Its log.
    origin: String,
    /// Place in the stream up to which its log has everything.
    through: u64,
}

/// When something was done last.
#[derive(Debug, Default)]
struct Last(Option<Instant>);

impl Last {
    fn is_over(&self, time: Duration) -> bool {
        self.0.is_none_or(|at| at.elapsed() >= time)
    }

    fn is_now(&mut self) {
        self.0 = Some(Instant::now());
    }
}

/// One machine's part of a workspace, over one connection.
pub struct Fleet<'f> {
    /// The membership of this machine.
    pub membership: Membership,
    /// Patterns of the repositories whose events are shared.
    pub repositories: Vec<String>,
    /// Places of this machine.
    pub places: &'f mut dyn Places,
    /// The result of the rounds so far.
    pub status: FleetStatus,
    /// The part of this log that the server has, and the time of asking.
    end: Option<(End, Instant)>,
    /// Whether something was received since the presence was written.
    is_further: bool,
    presence: Last,
    looked: Last,
    /// The status that was written, and when.
    written: Option<(FleetStatus, Instant)>,
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
            end: None,
            is_further: false,
            presence: Last::default(),
            looked: Last::default(),
            written: None,
            disk: disk.clone(),
        })
    }

    /// Does rounds until there is no more to send or to receive.
    pub fn sync(&mut self, mesh: &mut Mesh, server: &mut dyn Server) -> Result<Round, FleetError> {
        let mut all = Round::default();
        loop {
            let round = self.round(mesh, server, Duration::ZERO)?;
            all.sent += round.sent;
            all.received += round.received;
            if !round.is_more {
                return Ok(all);
            }
        }
    }

    /// Sends what happened here, and takes in what happened elsewhere, up to a number of messages. If there is nothing, waits
    /// at most this long for the next event of another machine, and takes it in.
    ///
    /// The status is written to its file, also if the round fails.
    pub fn round(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        wait: Duration,
    ) -> Result<Round, FleetError> {
        let done = self.exchange(mesh, server, wait);
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
            self.end = None;
        } else {
            status.is_connected = true;
            status.last_success = Some(now);
            status.failures = 0;
        }
        // Rounds in which nothing happens are not worth a write each.
        let is_known = self.written.as_ref().is_some_and(|(written, at)| {
            at.elapsed() < SHORTEST && self.status.is_same_but_for_time(written)
        });
        if !is_known {
            // It is a summary of what the log and the server have.
            drop(self.status.write(&self.disk, mesh.folder()));
            self.written = Some((self.status.clone(), Instant::now()));
        }
    }

    fn exchange(
        &mut self,
        mesh: &mut Mesh,
        server: &mut dyn Server,
        wait: Duration,
    ) -> Result<Round, FleetError> {
        let mut round = Round {
            sent: self.publish(mesh, server)?,
            ..Round::default()
        };
        let mut wait = wait;
        for nth in 1..=MOST_PULLS {
            let Incoming { events, pulled } = self.receive(mesh, server, wait)?;
            round.received += events;
            self.is_further |= pulled > 0;
            round.is_more = pulled > 0 && nth == MOST_PULLS;
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
        let known = self.end.take().filter(|(_, at)| at.elapsed() < PRESENCE);
        if known.is_some() && mesh.board()?.seq == self.status.examined {
            self.end = known;
            return Ok(0);
        }
        let mut publisher = Publisher {
            membership: &self.membership,
            filter: Filter {
                repositories: &self.repositories,
                places: self.places,
            },
            disk: &self.disk,
        };
        let (end, at) = known.unzip();
        let Sent {
            events,
            end,
            examined,
            not_shared,
        } = publisher.publish(mesh, server, end)?;
        self.end = Some((end, at.unwrap_or_else(Instant::now)));
        self.status.accepted = end.last;
        self.status.accepted_at = end.sequence;
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

    /// Writes that this machine is there and what it has, and reads the same of the others, each from time to time.
    fn show_presence(&mut self, mesh: &Mesh, server: &mut dyn Server) -> Result<(), FleetError> {
        let is_due = self.is_further && self.presence.is_over(SHORTEST);
        if is_due || self.presence.is_over(PRESENCE) {
            let presence = Presence {
                names: self.membership.names.clone(),
                origin: self.membership.origin.clone(),
                through: server.progress()?.through,
            };
            let value = serde_json::to_vec(&presence).unwrap_or_default();
            server.put(&self.membership.presence_key(), value)?;
            self.presence.is_now();
            self.is_further = false;
        }
        let now = mesh.journal().now();
        let peers = u32::try_from(self.status.peers.len()).unwrap_or(u32::MAX);
        let between = SHORTEST.max(PER_PEER.saturating_mul(peers));
        let is_due = self.looked.is_over(between) && !self.status.is_synced_by_peers(now);
        if is_due || self.looked.is_over(between.max(PRESENCE)) {
            self.look_at_peers(now, server)?;
            self.looked.is_now();
        }
        Ok(())
    }

    /// Reads the signs of life of the other machines of the workspace.
    fn look_at_peers(&mut self, now: Timestamp, server: &mut dyn Server) -> Result<(), FleetError> {
        let own = self.membership.presence_key();
        let mut peers = Vec::new();
        let mut server_time = None;
        for key in server.keys("machine")? {
            let Some(entry) = server.entry(&key)? else {
                continue;
            };
            if key == own {
                // It was written when this machine last looked or a little before.
                server_time = server_time.max(Some(entry.changed));
                continue;
            }
            let Ok(presence) = serde_json::from_slice::<Presence>(&entry.value) else {
                continue;
            };
            let Names { user, machine } = &presence.names;
            // A machine writes to its own key alone.
            if key != format!("machine.{user}.{machine}") {
                continue;
            }
            server_time = server_time.max(Some(entry.changed));
            peers.push(Peer {
                names: presence.names,
                origin: presence.origin,
                seen: entry.changed,
                through: presence.through,
            });
        }
        peers.sort_by(|one, other| one.names.cmp(&other.names));
        self.status.peers = peers;
        self.status.looked = server_time.map(|there| Looked { here: now, there });
        Ok(())
    }
}
