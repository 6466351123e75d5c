//! Guarantees of the mesh, over real files.

mod board;
mod bridge;
mod classify;
mod digest;
mod drop_ins;
mod edits;
mod gaps;
mod incoming;
mod journal;
mod leases;
mod messages;
mod news;
mod open_files;
mod place;
mod resting;
mod same_agent;
mod spare;
mod statuses;
mod tasks;
