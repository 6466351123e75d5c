//! Which folder is the project's root, and where its state lives.
//!
//! Start with [`Roots`]. What git says is read from its files; no program is started for it.

mod belief;
mod find;
mod git;
mod index;
mod shared;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    belief::ForeignMark,
    find::{RootError, Roots},
    git::is_repository,
    shared::{foreign_state, is_calrc_foreign},
};
