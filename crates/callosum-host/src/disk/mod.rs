//! Files, by way of one handle that a test can replace.
//!
//! Start with [`Disk`]. Below it is the [`FileSystem`] trait, whose methods are one system call
//! each: an implementation of it can record, reorder or fail any single call. Combinations of calls
//! (an atomic replacement, reading a whole file, retrying a short write) are written once, on top
//! of the trait, so that a fault between two calls is a fault that a test can reach.

mod atomic;
mod file;
mod file_system;
mod handle;
#[cfg(target_os = "linux")]
mod open_writers;
mod ownership;
mod real;
mod temp_dir;
mod temp_names;

pub use self::{
    atomic::NewFile,
    file::DiskFile,
    file_system::{
        Access, Create, EntryKind, FileHandle, FileId, FileStat, FileSystem, ListedEntry, OpenHow,
    },
    handle::{Disk, DiskError, Operation},
    ownership::{Ownership, user},
    temp_dir::{HeldScratch, Scratch},
};
