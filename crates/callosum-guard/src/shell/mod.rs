//! Reading a text as the shell reads it.
//!
//! Start with [`read`], which returns a [`Script`](tree::Script) and the
//! [`ParseError`](reader::ParseError)s that it met. It reads on behind an error, so that what
//! follows is seen, and reports the error, so that no caller takes the whole for understood.
//!
//! Deliberately not here: expanding words and running anything, even in simulation.

pub(crate) mod ansi;
mod compound;
pub(crate) mod reader;
mod redirect;
mod simple;
pub(crate) mod tree;
mod word;

#[cfg(test)]
mod comparison;

pub(crate) use reader::{Budget, ParseError, read};
