//! Survey: everything that a digest may use, collected from a tree in one pass.
//!
//! Start with [`Survey::read`]. [`SurveyedFile`] keeps the facts about a file after its text is
//! dropped: its outline and the lines that may be quoted. [`import_graph`] holds the dependencies
//! among files.

pub(super) mod document;
pub(super) mod file;
mod focus;
pub(super) mod import_graph;
pub(crate) mod names;
mod own_state;
mod read;
mod relations;
#[cfg(test)]
mod tests;
mod unlisted;

pub use self::{
    read::{Survey, SurveyError},
    relations::Relation,
};
