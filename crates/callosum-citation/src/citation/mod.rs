//! Citations: the places that a text names, and whether its quotes are there.
//!
//! [`find`] reads the grammar of `docs/formats/citation.md`, [`cite`] writes it, and [`verify`]
//! looks the places up; [`mentions`] are places that a text names in other forms. Everything but
//! [`verify`] and [`CitedFile::open`] is pure.

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
