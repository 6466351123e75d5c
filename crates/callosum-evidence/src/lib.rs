//! What a statement leans on: the places it cites, what it cost to make, what it must not carry.
//!
//! Start with [`citation`], which finds the places that a text cites and says where their quotes
//! stand now. [`digest()`](truncate::digest) cuts a text at the ends of its statements. [`tokens`] estimates how much of a context window a text takes, [`secrets`] masks
//! keys and passwords before a text is kept, [`terminal_escape`] makes visible what a terminal would
//! obey before one is shown, and [`quote`] quotes text from elsewhere for agents.
//!
//! What is deliberately not here: deciding what follows from any of it. A text whose citations do
//! not hold is still a text; the caller says whether that is good enough.

#![forbid(unsafe_code)]

pub mod citation;
pub mod quote;
pub mod secrets;
pub mod terminal_escape;
pub mod tokens;
pub mod truncate;
