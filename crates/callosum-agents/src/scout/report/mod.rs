//! Digests: four answers about a tree, each statement with the line it leans on.
//!
//! Start with [`digest`]. Each kind has a file that says what it tells and in which order; how
//! much of it fits is the page's business.

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
