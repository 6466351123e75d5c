//! Citations of a text: the places that it cites, and whether its quotes still hold.
//!
//! Start with [`find`], which reads the grammar of `docs/formats/citation.md`. [`cite`] writes it,
//! [`verify`] compares the places with the current tree, and [`mentions`] are places that a text
//! names in other forms. [`digest()`](truncate::digest) cuts a text at the ends of its statements,
//! and [`tokens`] estimates a text's share of a context window. Everything but [`verify`] and
//! [`CitedFile::open`] is pure.
//!
//! Deliberately not here: consequences. A text whose citations do not hold is still a text; the
//! caller decides whether that is good enough.

#![forbid(unsafe_code)]

mod cited_file;
mod code_span;
mod dependencies;
mod grammar;
mod leading;
mod location;
mod mention;
mod path_suffix;
mod quote;
mod summary;
pub mod tokens;
pub mod truncate;
mod verify;

pub use self::{
    cited_file::CitedFile,
    grammar::{Citation, cite, find},
    leading::cite_leading,
    mention::mentions,
    quote::says_enough,
    summary::Review,
    verify::{CitationStatus, LARGEST_FILE, MOST_LINES, Tally, Why, verify},
};
