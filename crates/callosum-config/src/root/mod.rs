//! Which folder is the project's root, and where its state lives.
//!
//! Start with [`Roots`]. What git says is read from its files; no program is started for it.

mod belief;
mod find;
mod foreign_state;
mod git;
mod index;

#[cfg(test)]
mod tests;

pub(crate) use self::find::RootError;
pub(crate) use self::foreign_state::{foreign_state, is_calrc_foreign};
pub use self::{belief::ForeignMark, find::Roots, git::is_repository};
