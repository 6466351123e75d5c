//! tmux through control mode: one connection per server, and no process per look.
//!
//! Start with [`Connection`]. [`sockets`] finds the servers of this user, [`reply`] reads the protocol without any
//! input or output of its own.

mod capture;
mod connection;
mod listing;
pub mod reply;
mod sockets;
mod turn;

pub use self::{
    capture::{CapturedScreen, Requested, Snapshot, Wanted, WhileReading},
    connection::{Connection, Tmux, TmuxError},
    listing::TmuxPane,
    sockets::{is_default, sockets},
};
