//! A bead's file as text, changed line by line.
//!
//! Start with [`Sheet`]. No printer of YAML keeps comments, anchors and the order of keys, so a change
//! is made where it belongs in the text, and the new text is read back: unless it says exactly what the
//! old one said with the change, it is not kept, and the next way to write the change is tried.

mod apply_merge;
mod lines;
mod scalars;
mod sheet;
#[cfg(test)]
mod tests;

pub(super) use self::sheet::LARGEST;
pub use self::sheet::{Sheet, SheetError, Step};
