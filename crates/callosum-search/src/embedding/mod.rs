//! Meaning of words: vectors of a static model that is installed on the machine.
//!
//! Start with [`Model`]. A static model has one vector for each piece of a word and nothing to run,
//! so a text costs a few look-ups. Three parts: [`wordpiece`] splits a word into [`pieces`], and
//! [`vectors`] holds the matrix of their vectors.
//!
//! Deliberately not here: fetching a model, models that have to be run, and servers.

mod model;
mod pieces;
mod vectors;
mod wordpiece;

#[cfg(test)]
pub(super) mod tests;

pub(super) use self::model::{ALIKE, cosine};
pub use self::model::{Model, ModelError};
