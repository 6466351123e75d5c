//! The log of what was told on this machine: append-only, a line of JSON each, in numbered files.
//!
//! Start with [`Journal`]. Every process may append and read at the same time, with or without a
//! daemon; a [`Turn`] is the right to append. [`Reader`] follows the log from a [`Cursor`].
//!
//! Deliberately not here: what an event means.

mod condition;
mod cursor;
mod files;
mod mark;
mod once;
mod open;
mod reader;
mod turn;

pub(crate) use self::once::{Key, reused};
pub use self::{
    condition::Condition,
    cursor::{Cursor, CursorError},
    once::Once,
    open::{Journal, JournalError, Retention, Tip},
    reader::{Batch, Notice, Reader},
    turn::{Durability, Rest, Turn, Unsynced},
};
