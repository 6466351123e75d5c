//! The project's root folder, and the place of its state.
//!
//! Start with [`Roots`]. Git's files are read directly; no program is started for it.

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
