//! Declarations, imports, tests and interfaces of one source file.
//!
//! Start with [`outline`], which reads a file by its language's grammar; [`Outline`] is the result.
//! Each language has a file of its own, which knows that language's rules of visibility,
//! documentation and tests, and the libraries that serve requests and commands in it.

mod read;
mod symbol;

mod scopes;
mod sentence;
mod uses;
mod walker;

mod c;
mod go;
mod java;
mod javascript;
mod python;
mod rust;

#[cfg(test)]
mod tests;

pub(crate) use self::read::parse;
pub use self::{
    read::{outline, outline_all},
    symbol::{Command, Import, ImportKind, Note, Outline, Reference, Route, Symbol, SymbolKind},
    uses::{Binding, Export, Purpose, Use},
};
