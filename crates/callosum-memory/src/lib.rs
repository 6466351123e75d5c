//! The memory of past sessions: an index of the turns in the session files of coding agents on this machine.
//!
//! Start with [`Memory`]. [`Memory::update`] reads what clients added to their files, masks secrets and stores each
//! [`Turn`]; [`Memory::search`] finds sessions by words, parts of words and meaning. [`Client`] is a coding agent whose files
//! can be read; the readers of their formats are in `transcript`. Records of ours, such as decisions, are given by
//! [`Memory::write_records`], and found beside the sessions.
//!
//! The clients' files are only read. The index can be removed at any time, and is made again from them.
//!
//! Deliberately not here: whether the person turned the memory on, places of clients' folders, output, and checks of what a
//! turn claims.

#![forbid(unsafe_code)]

mod calls;
mod client;
mod memory;
mod origin;
mod rank;
mod records;
mod related;
mod search;
mod session_files;
mod store;
mod transcript;
mod turn;
mod turn_id;
mod update;
mod vectors;

pub use self::{
    client::Client,
    memory::{Memory, MemoryError, Sizes, StoredTurn, remove},
    origin::{Origin, RecordKind},
    records::{Record, RecordWriter},
    related::RelatedHit,
    search::{RankBy, SessionHit, SessionSearch, TurnHit},
    session_files::ClientFolder,
    turn::{LONGEST_TEXT, Speaker, Turn},
    update::{MemoryScope, UpdateProgress, UpdateReport},
};
