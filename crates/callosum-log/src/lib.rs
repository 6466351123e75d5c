//! The log file of the program: `tracing` events as lines, bounded in size (Seed CAKE §6, `logging`).
//!
//! Start with [`start`], which sends the events of this process to a [`LogFile`]. A hook never calls it: its path has no room
//! for a subscriber.
//!
//! What is deliberately not here: where the file is, and its settings. The caller passes them in.

#![forbid(unsafe_code)]

mod file;
mod level;
mod subscriber;

pub use self::{
    file::{LogError, LogFile},
    level::{Level, UnknownLevel},
    subscriber::{StartError, start, subscriber},
};
