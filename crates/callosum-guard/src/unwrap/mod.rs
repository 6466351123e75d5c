//! From a text to the commands that would run, however they are wrapped.
//!
//! Start with [`unwrap`]. It walks through what [`shell`](crate::shell) read as the shell would,
//! remembers what can be known (variables, the working folder, functions, files written on the
//! way), and follows every program that runs another: `sudo`, `xargs`, `bash -c`, `python -c`.
//! What comes out is a list of [`Call`]s, each with its words as they would be given.
//!
//! What is deliberately not here: whether a call is dangerous. Both sides of `&&` and every arm of
//! a `case` are taken to run.

mod assign;
mod brace;
mod builtin;
mod call;
mod carrier;
mod code;
mod collect;
mod descriptor;
mod dialect;
mod emptied;
mod expand;
mod flow;
mod folder;
mod invocation;
mod keepers;
mod listing;
mod output;
mod parents;
pub(crate) mod pattern;
mod perhaps;
mod plain;
mod processes;
mod renamed;
mod scope;
mod secrets;
pub(crate) mod setting;
mod state;
mod text;
pub(crate) mod value;
mod walk;
pub(crate) mod wrapper;

pub(crate) use call::{Call, Found, Write};
pub(crate) use carrier::SHELLS;
pub(crate) use walk::unwrap;
