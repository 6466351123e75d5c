//! Facts about a source tree: its files, their languages, symbols, imports and tests.
//!
//! Start with [`walk::SourceTree`], which lists the files worth reading, then [`outline::outline`],
//! which reads one of them, and [`resolve::Resolver`], which finds the file of an import.
//!
//! Deliberately not here: digests (those are `callosum-scout`'s), the passage index (that is
//! `callosum-search`'s), reading manifests, and the grammar of shell commands (that is the
//! guard's). Nothing here decides what matters in a tree; it reports what is there, and on which
//! line.

#![forbid(unsafe_code)]

pub mod language;
pub mod outline;
pub mod resolve;
pub mod sections;
pub mod syntax;
pub mod walk;
