//! What a source tree says of itself: its files, their languages, symbols, imports and tests.
//!
//! Start with [`walk::SourceTree`], which lists the files worth reading, then [`outline::outline`],
//! which reads one of them, and [`resolve::Resolver`], which says what file an import means.
//!
//! What is deliberately not here: agents, notes, digests, ranking for a reader (that is
//! `callosum-agents::scout`), reading manifests, and the grammar of shell commands (that is the
//! guard's). Nothing here decides what matters; it says what is there, and on which line.

#![forbid(unsafe_code)]

pub mod language;
pub mod outline;
pub mod resolve;
pub mod sections;
pub mod walk;
