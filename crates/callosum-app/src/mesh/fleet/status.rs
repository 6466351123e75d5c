//! `callosum mesh fleet status`: what the last round of replication found. Asks no server.

use callosum_fleet::{Acknowledged, FleetStatus, Peer};
use callosum_mesh::Mesh;
use schemars::JsonSchema;
use serde::Serialize;

use super::{IS_BUILT_IN, membership, setting, unusable};
use crate::CommandError;
use crate::context::Context;
use crate::mesh::open;

/// `callosum mesh fleet status --json` and `join --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FleetStatusOutput {
    /// Whether the program was built with the client of NATS.
    pub built_in: bool,
    /// Whether the user's configuration has a table `mesh.fleet`.
    pub configured: bool,
    /// Addresses of the servers.
    pub servers: Vec<String>,
    /// Whether this machine has joined.
    pub joined: bool,
    /// The workspace that it joined.
    pub workspace: Option<String>,
    /// The person.
    pub user: Option<String>,
    /// This machine, as others see it.
    pub machine: Option<String>,
    /// The log of this machine.
    pub origin: String,
    /// Whether a server answered in the last round.
    pub connected: bool,
    /// Whether the server refused the credentials in the last round.
    pub refused: bool,
    /// Time of the last round; null before the first.
    pub last_round: Option<String>,
    /// Time of the last round that went through.
    pub last_success: Option<String>,
    /// Rounds since then that failed.
    pub failures: u64,
    /// Reason of the last failure.
    pub reason: Option<String>,
    /// The last event of this log.
    pub end: u64,
    /// Events of this log that were not looked at yet. Some of them may stay on this machine.
    pub waiting: u64,
    /// The last event of this log that a server accepted; 0 if none.
    pub accepted: u64,
    /// Events that were sent since the machine joined.
    pub sent: u64,
    /// Events that were received since the machine joined.
    pub received: u64,
    /// Messages that were passed over, since they are not what their subject says.
    pub refused_messages: u64,
    /// Events that were received and not taken in: they are not of those that cross, or the board has no room for more of
    /// other machines.
    pub refused_events: u64,
    /// Gaps in the events of others that can no longer be closed.
    pub gaps: u64,
    /// Tasks that are not shared, since another machine has one of the same id.
    pub not_shared: u64,
    /// Class of durability of the last event of this log that is shared: `logged_locally` while events wait,
    /// `accepted_by_server`, or `synced_by_peers`.
    pub durability: String,
    /// Other machines of the workspace, as the last round saw them.
    pub peers: Vec<FleetPeerOutput>,
}

/// Another machine.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FleetPeerOutput {
    /// The person.
    pub user: String,
    /// The machine.
    pub machine: String,
    /// Its log.
    pub origin: String,
    /// Time at which it was there, by the server's clock.
    pub seen: String,
    /// Whether it has everything that this machine sent in its log, on disk.
    pub has_all: bool,
}

/// Returns the state of the fleet on this machine.
pub fn status(context: &Context) -> Result<FleetStatusOutput, CommandError> {
    let homes = &context.project.homes;
    let read = setting(&context.disk, homes, &context.environment);
    let setting = read.map_err(|error| unusable(&error))?;
    let mut mesh = open::mesh_anyway(context)?;
    let membership = membership(context, &mesh)?;
    let status = FleetStatus::read(&context.disk, mesh.folder());
    let status = status.map_err(|error| open::explain(&error.into()))?;
    let end = mesh.board().map_err(|error| open::explain(&error))?.seq;
    let names = membership.as_ref().map(|known| known.names.clone());
    let examined = status
        .examined
        .max(membership.as_ref().map_or(end, |known| known.since));
    let waiting = end.saturating_sub(examined);
    let text = |time: Option<jiff::Timestamp>| time.map(|time| time.to_string());
    Ok(FleetStatusOutput {
        built_in: IS_BUILT_IN,
        configured: setting.is_some(),
        servers: setting.map(|setting| setting.servers).unwrap_or_default(),
        joined: membership.is_some(),
        workspace: membership.map(|known| known.workspace),
        user: names.as_ref().map(|names| names.user.clone()),
        machine: names.map(|names| names.machine),
        origin: mesh.journal().origin().to_owned(),
        connected: status.is_connected,
        refused: status.is_refused,
        last_round: text(status.last_round),
        last_success: text(status.last_success),
        failures: status.failures,
        reason: status.reason.clone(),
        end,
        waiting,
        accepted: status.accepted,
        sent: status.sent,
        received: status.received,
        refused_messages: status.refused_messages,
        refused_events: status.refused_events,
        gaps: status.gaps,
        not_shared: status.not_shared,
        durability: durability(&status, waiting, &mesh).as_str().to_owned(),
        peers: status.peers.iter().map(|it| peer(&status, it)).collect(),
    })
}

fn peer(status: &FleetStatus, peer: &Peer) -> FleetPeerOutput {
    FleetPeerOutput {
        user: peer.names.user.clone(),
        machine: peer.names.machine.clone(),
        origin: peer.origin.clone(),
        seen: peer.seen.to_string(),
        has_all: status.is_with(peer),
    }
}

/// Class of durability of the last event of this log that is shared.
fn durability(status: &FleetStatus, waiting: u64, mesh: &Mesh) -> Acknowledged {
    if status.accepted == 0 || waiting > 0 {
        return Acknowledged::LoggedLocally;
    }
    if status.is_synced_by_peers(mesh.journal().now()) {
        Acknowledged::SyncedByPeers
    } else {
        Acknowledged::AcceptedByServer
    }
}
