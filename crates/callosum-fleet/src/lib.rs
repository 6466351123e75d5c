//! Events and claims of tasks that several machines share, over NATS JetStream.
//!
//! Start with [`Fleet`], one machine's part of a workspace, and [`Fleet::sync`], one round of replication. `crossing` is the
//! filter of what leaves a machine and what is taken in. `publish` and `receive` move events between a machine's log, which
//! stays the truth, and the workspace's stream. [`claims`] compares and sets who works on a task. [`Server`] is all that this
//! crate asks of a server; `nats` is the real one, behind the feature `nats`. [`replicator`] is the thread that a daemon
//! runs.
//!
//! Deliberately not here: the command line, and the board's own rules (`callosum-mesh`).

#![forbid(unsafe_code)]

mod checkouts;
pub mod claims;
mod crossing;
pub mod durability;
mod envelope;
#[cfg(test)]
mod fake_server;
mod fleet;
mod fleet_error;
mod membership;
#[cfg(feature = "nats")]
pub mod nats;
mod publish;
mod receive;
pub mod replicator;
mod repository;
mod server;
mod status;
#[cfg(test)]
mod tests;

pub use self::{
    checkouts::{Checkouts, Located, Places},
    durability::Acknowledged,
    fleet::{Fleet, Round},
    fleet_error::FleetError,
    membership::{Membership, Names},
    repository::Repository,
    server::{Delivery, KeyEntry, Progress, Published, Server, ServerError, StoredMessage},
    status::{FleetStatus, Peer},
};
