//! Digests: four answers about a tree, each statement with the line that supports it.
//!
//! Start with [`digest`]. Each kind has a file with its sections in their order; how much of them
//! fits is the page's business.

mod api;
mod build;
mod deps;
mod entry;
mod external_packages;
mod identity;
mod modules;
mod plural;
mod runners;
mod scan;
mod test_references;
#[cfg(test)]
mod tests;
mod tests_report;
mod write;

pub use self::write::{Digest, Limits, UnknownSection, digest, digest_section};
