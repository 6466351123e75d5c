//! The hashlog: one line an entry, the index of the ledger file and a chain of its own.
//!
//! [`line`] writes and reads its lines. [`index`] is derived from them: their places sorted by a
//! hash of the task's id, so that one of a million is found by reading a few. [`opened`] asks both.

mod index;
mod line;
mod opened;

pub(crate) use self::{
    index::{Row, complete, is_right, refresh},
    line::{HashlogLine, ReadRange, head_of, write_line},
    opened::{Hashlog, HashlogRequest},
};
