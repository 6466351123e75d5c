//! Other shells, translated into bash as far as their commands can be recognized.
//!
//! The result is read like any other text, and is no program: it only keeps which commands would
//! run, in which order, over which words. Anything unknown passes through as it is, and is then
//! unreadable or an unknown command, never nothing.

mod fish;
mod powershell;

#[cfg(test)]
mod tests;

pub(super) use self::{fish::fish, powershell::powershell};
