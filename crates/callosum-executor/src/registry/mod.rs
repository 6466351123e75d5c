//! `registry.json`: the known executors (seed CAL §3.3, §11.2).
//!
//! [`Registry`] is the file, [`Executor`] one entry. The format and what survives a rewrite are
//! described in `docs/formats/registry.md`.

mod entry;
mod executor;
mod file;
mod fingerprint;
mod implied_files;
mod recipes;

pub use self::{
    entry::EntryFault,
    executor::{Capabilities, EMBEDDED_ID, Executor, InvalidId, Kind, Status},
    file::{LARGEST_REGISTRY, LoadError, Problem, Registry, SaveError},
};

#[cfg(test)]
mod tests;
