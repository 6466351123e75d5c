//! Citations of a text: the places that it cites, and whether its quotes still hold.
//!
//! Start with [`citation`], which finds the places that a text cites and checks their quotes
//! against the current tree. [`digest()`](truncate::digest) cuts a text at the ends of its
//! statements, and [`tokens`] estimates a text's share of a context window.
//!
//! Deliberately not here: consequences. A text whose citations do not hold is still a text; the
//! caller decides whether that is good enough.

#![forbid(unsafe_code)]

pub mod citation;
pub mod tokens;
pub mod truncate;
