//! What agents tell one another: events, and what follows from them.
//!
//! Start with [`Mesh`], every way in. [`event`] is the seed's form of what is told, [`journal`] where it is
//! kept, [`board`] what follows from it, and [`bridge`] the file that shows it to people and takes their edits.
//!
//! What is deliberately not here: sockets, which are the daemon's, hooks' wire formats, and deciding who gets a
//! task.

#![forbid(unsafe_code)]

pub mod addressee;
pub mod agent;
pub mod board;
pub mod bridge;
pub mod classify;
pub mod conflict;
pub mod digest;
pub mod digest_source;
mod displaced;
mod editing;
pub mod event;
mod incoming;
pub mod journal;
mod leased_path;
mod memory;
mod mesh;
pub mod mesh_store;
mod moment;
mod news;
mod orders;
pub mod output_file;
pub mod presence;
pub mod route;
mod sessions;
mod strict;
pub mod throttle;
mod told;
pub mod topic;
mod voice;

pub use crate::{
    digest::quoted,
    editing::warning,
    incoming::is_about_board,
    leased_path::leased_path,
    mesh::{Decided, Mesh, MeshError, Undecided},
    voice::Voice,
};
