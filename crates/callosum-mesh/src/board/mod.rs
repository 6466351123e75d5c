//! State that follows from the events: tasks, messages, discoveries, and the other contents of the
//! bridge file.
//!
//! Start with [`Board`]. [`Effect`] is the change that an event makes to it. [`Command`] is a
//! change that an author requests, which [`Board::decide`] turns into effects or rejects.
//!
//! Deliberately not here: files, and the format of the bridge file.

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

pub(crate) use self::{change::way, session::session_draft};

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
    state::{Board, REFUSED, SHARED, UNSHARED},
    task::{Change, Claim, Status, Task},
};
