//! Evidence of a statement: the places that it cites, its cost, and the secrets that it must not
//! contain.
//!
//! Start with [`citation`], which finds the places that a text cites and checks their quotes
//! against the current tree. [`digest()`](truncate::digest) cuts a text at the ends of its
//! statements. [`tokens`] estimates a text's share of a context window, [`secrets`] masks keys and
//! passwords before a text is stored, [`terminal_escape`] makes control characters visible before
//! one is shown, and [`quote`] quotes text from elsewhere for agents.
//!
//! Deliberately not here: consequences. A text whose citations do not hold is still a text; the
//! caller decides whether that is good enough.

#![forbid(unsafe_code)]

pub mod citation;
pub mod quote;
pub mod secrets;
pub mod terminal_escape;
pub mod tokens;
pub mod truncate;
