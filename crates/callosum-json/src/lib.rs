//! JSON that two readers agree on: the canonical form, checksums, and objects without duplicate
//! keys.
//!
//! Start with [`canonical::canonicalize`]. [`Checksum`] is the hash over that form, and
//! [`GrowingChecksum`] the hash of a file that grows. [`UniqueKeys`] reads a value and rejects
//! duplicate keys.
//!
//! Deliberately not here: what a value means, and files.

#![forbid(unsafe_code)]

pub mod canonical;
mod checksum;
mod incremental_checksum;
mod unique_keys;

pub use crate::{
    checksum::{Checksum, Hashing, InvalidChecksum},
    incremental_checksum::GrowingChecksum,
    unique_keys::UniqueKeys,
};
