//! Files that agents do not write: the guard's own, the clients' hooks, the repository's, the
//! shell's start-up files, and any file outside the project.
//!
//! [`decide_write`] judges one path, for tools that write files; [`writes`] finds the paths that a
//! command would write, so that both ways are judged alike. The table of `writer` lists the files
//! that each program writes.

mod client_settings;
mod mode;
mod transfer;
mod write_denial;
mod writer;
mod writes;

#[cfg(test)]
mod tests;

pub use write_denial::decide_write;
pub(crate) use write_denial::{ALL as OBJECTIONS, objection_to};
pub(crate) use writer::Reach;
pub(crate) use writes::{patch_text, writes};
