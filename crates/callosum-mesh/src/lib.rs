//! Communication between agents: events, and the state that follows from them.
//!
//! Start with [`Mesh`], the entry point for everything. [`event`] is the seed's form of an event,
//! [`journal`] stores events, [`board`] is the state that follows from them, and [`bridge`] the
//! file that shows it to people and takes their edits.
//!
//! Deliberately not here: sockets, which are the daemon's, hooks' wire formats, and deciding who
//! gets a task.

#![forbid(unsafe_code)]

pub mod addressee;
pub mod agent;
mod author;
mod auto_lease;
pub mod board;
mod board_replay;
mod board_snapshot;
pub mod bridge;
pub mod classify;
pub mod conflict;
mod delivery;
pub mod digest;
pub mod digest_source;
pub mod event;
mod foreign;
mod ingest;
pub mod journal;
mod leased_path;
mod mesh;
mod mesh_error;
pub mod mesh_store;
mod notifications;
pub mod output_file;
pub mod presence;
mod project_folder;
mod quarantine;
mod quotation;
pub mod route;
mod session_end;
mod sessions;
pub mod throttle;
mod timestamp;
pub mod topic;
mod transaction;

pub use crate::{
    author::Author,
    auto_lease::warning,
    foreign::{Arrival, ForeignEvents},
    ingest::is_about_board,
    leased_path::leased_path,
    mesh::Mesh,
    mesh_error::{Decided, MeshError, Undecided},
    quotation::quoted,
};
