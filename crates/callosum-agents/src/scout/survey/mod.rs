//! Everything that a digest may speak of, gathered from a tree in one pass.
//!
//! Start with [`Survey::read`]. [`SurveyedFile`] is what stays of a file once its text is gone:
//! its outline and those of its lines that may be quoted. [`links`] says which file leans on which.

pub(super) mod document;
pub(super) mod file;
mod focus;
pub(super) mod import_graph;
pub(in crate::scout) mod names;
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
