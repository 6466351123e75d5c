//! A bead's file as text, changed line by line.
//!
//! Start with [`Sheet`]. No printer of YAML keeps comments, anchors and the order of keys, so a change
//! is made where it belongs in the text, and the new text is read back: unless it says exactly what the
//! old one said with the change, it is not kept, and the next way to write the change is tried.

mod apply_merge;
mod document;
mod lines;
mod scalars;
#[cfg(test)]
mod tests;

pub(super) use self::document::LARGEST;
pub use self::document::{Sheet, SheetError, Step};
