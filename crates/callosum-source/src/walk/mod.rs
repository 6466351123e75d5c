//! The files of a tree that are worth reading, and their text.
//!
//! Start with [`SourceTree::read`]. Listing opens no file but those that say what to leave out; [`SourceTree::text`] opens one, and
//! [`SourceTree::map_texts`] all of them, on every core. What cannot be read is named with the
//! reason and never stops the rest.

mod ignored;
mod listing;
mod scope;
mod text;
mod tree;

#[cfg(test)]
mod tests;

pub use self::{
    scope::{PathError, RelativePath, Scope},
    text::{BINARY_PROBE, MAX_TEXT_BYTES},
    tree::{Skipped, SourceFile, SourceTree, WalkError, Why},
};
