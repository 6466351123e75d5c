//! Which folder is the project's root, and where its state lives.
//!
//! Start with [`Roots`]. What git says is read from its files; no program is started for it.

mod find;
mod git;
mod index;

#[cfg(test)]
mod tests;

pub(crate) use self::find::{RootError, Roots};
