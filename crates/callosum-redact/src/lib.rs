//! Text from elsewhere, made safe to store and to show.
//!
//! Start with [`secrets`], which finds keys and passwords and masks them before a text is stored.
//! [`terminal_escape`] makes control characters visible before a text is shown, and [`quote`]
//! quotes text so that an agent does not take it for instructions.
//!
//! Deliberately not here: decisions. A caller decides whether a text that holds a secret is
//! stored, sent or refused.

#![forbid(unsafe_code)]

pub mod quote;
pub mod secrets;
pub mod terminal_escape;
