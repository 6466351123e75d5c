//! Ledger files and hashlogs taken one piece at a time, for they may be larger than memory.
//!
//! [`ComparedViews`] holds files that are there against what the journal tells; [`NewViews`] writes
//! files from it. Both are told one entry after the other. [`difference`] compares two files, and
//! [`Window`] is the part of a file that is in memory.

mod compared;
mod difference;
mod new;
mod window;

pub(crate) use self::{
    compared::ComparedViews,
    difference::{difference, is_beginning},
    new::{NewViews, copy, each_piece, hash_of},
    window::Window,
};
