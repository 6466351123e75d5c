//! What follows from the events: tasks, messages, discoveries, and what else the bridge file shows.
//!
//! Start with [`Board`]. [`Deed`] is what an event does to it; [`Order`] is what somebody wants done, which
//! [`Board::decide`] turns into deeds or refuses.
//!
//! Deliberately not here: files, and what the bridge file looks like.

mod change;
mod claim;
mod deed;
mod id;
mod lease;
mod message;
mod order;
mod output;
mod refusal;
mod room;
mod session;
pub(crate) mod state;
mod tally;
mod task;

pub(crate) use self::change::way;

pub use self::{
    claim::CLAIM,
    deed::{Deed, Receipt},
    lease::{LEASE, Lease},
    message::{Discovery, Message},
    order::{MESSAGE_TTL, NewTask, Order},
    output::{OutputOutcome, OutputReceipt},
    refusal::Refusal,
    session::{BEGINS, ENDS, PROCESS, Process, Session},
    state::Board,
    tally::Tally,
    task::{Claim, Status, Task},
};
