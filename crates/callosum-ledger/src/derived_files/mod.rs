//! Ledger files and hashlogs processed one piece at a time, because they may be larger than memory.
//!
//! [`ComparedViews`] compares existing files with the journal; [`NewViews`] writes files from it.
//! Both receive one entry after the other. [`difference`] compares two files, and [`Window`] is the
//! part of a file that is in memory. [`Expected`] holds the bytes that a few entries add to both.

mod compared;
mod difference;
mod expected;
mod new;
mod window;

pub(crate) use self::{
    compared::ComparedViews,
    difference::{difference, is_beginning},
    expected::Expected,
    new::{NewViews, copy, each_piece, hash_of, mode_like},
    window::Window,
};
