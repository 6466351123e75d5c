//! The event log of this machine: append-only, a line of JSON each, in numbered files.
//!
//! Start with [`Journal`]. Every process may append and read at the same time, with or without a
//! daemon; a [`LogWriter`] is the right to append. [`Reader`] follows the log from a [`Cursor`].
//!
//! Deliberately not here: what an event means.

mod cursor;
mod files;
mod idempotency;
mod open;
mod reader;
mod sequence_mark;
mod stats;
mod writer;

pub(crate) use self::idempotency::{Key, reused};
pub use self::{
    cursor::{Cursor, CursorError},
    idempotency::Once,
    open::{Journal, JournalError, LogEnd, Retention},
    reader::{Batch, Notice, Reader},
    stats::Condition,
    writer::{Durability, LogWriter, Rest, Unsynced},
};
