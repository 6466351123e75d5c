//! Reading a text as the shell reads it.
//!
//! Start with [`read`], which gives a [`Script`](tree::Script) and the [`ParseError`](reader::Fault)s
//! that it met. It reads on behind a fault, so that what follows is seen, and says that there was
//! one, so that nobody takes the whole for understood.
//!
//! What is deliberately not here: expanding words and running anything, even in thought.

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
