//! `.calrc`: the project's settings, as JSON (Seed CAL §14.2, `docs/config.md`).
//!
//! Start with [`Calrc`], which reads it; [`edit`] changes one value and leaves every other byte.

mod edit;
mod read;

#[cfg(test)]
mod tests;

pub(crate) use self::edit::{Change, edit};
pub use self::{
    edit::EditError,
    read::{Calrc, CalrcError},
};
