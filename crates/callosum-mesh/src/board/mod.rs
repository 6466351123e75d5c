//! What follows from the events: tasks, messages, discoveries, and what else the bridge file shows.
//!
//! Start with [`Board`]. [`Effect`] is what an event does to it; [`Command`] is what somebody wants done, which
//! [`Board::decide`] turns into deeds or refuses.
//!
//! Deliberately not here: files, and what the bridge file looks like.

mod change;
mod claim;
mod command;
mod command_error;
mod counts;
mod effect;
mod id;
mod lease;
mod limits;
mod message;
mod output;
mod session;
pub(crate) mod state;
mod task;

pub(crate) use self::change::way;

pub use self::{
    claim::CLAIM,
    command::{Command, MESSAGE_TTL, NewTask},
    command_error::BoardError,
    counts::Tally,
    effect::{Effect, Receipt},
    lease::{LEASE, Lease},
    message::{Discovery, Message},
    output::{OutputOutcome, OutputReceipt},
    session::{BEGINS, ENDS, PROCESS, Process, Session},
    state::Board,
    task::{Claim, Status, Task},
};
