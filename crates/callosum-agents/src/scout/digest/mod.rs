//! Digests: four answers about a tree, each statement with the line it leans on.
//!
//! Start with [`digest`]. Each kind has a file that says what it tells and in which order; how
//! much of it fits is the page's business.

mod api;
mod building;
mod deps;
mod entry;
mod identity;
mod outside;
mod parts;
mod phrase;
mod reach;
mod runners;
mod scan;
mod testing;
#[cfg(test)]
mod tests;
mod write;

pub use self::write::{Digest, Limits, UnknownSection, digest, digest_section};
