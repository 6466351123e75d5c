//! A bead's file as text, changed line by line.
//!
//! Start with [`Sheet`]. No YAML printer keeps comments, anchors and the order of keys, so a change
//! is made at its place in the text and the new text is parsed again. If the result is not exactly
//! the old content plus the change, it is discarded, and the next way to write the change is tried.

mod apply_merge;
mod lines;
mod scalars;
mod sheet;
#[cfg(test)]
mod tests;

pub(super) use self::sheet::LARGEST;
pub use self::sheet::{Sheet, SheetError, Step};
