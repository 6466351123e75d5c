//! What words mean: vectors of a static model that is installed on the machine.
//!
//! Start with [`Model`]. A static model has one vector for each piece of a word and nothing that runs,
//! so a text is understood in the time of a few look-ups. Two parts: which [`pieces`] a word has, and
//! the [`matrix`] of their vectors.
//!
//! What is deliberately not here: fetching a model, models that have to be run, and servers.

mod model;
mod vectors;
mod wordpiece;

#[cfg(test)]
pub(super) mod tests;

pub(super) use self::model::{ALIKE, cosine};
pub use self::model::{Model, ModelError};
