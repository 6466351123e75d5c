//! Other shells, put into the words of bash as far as their commands can be told.
//!
//! What comes out is read like any other text, and is no program: only which commands would run,
//! in which order, over which words is kept. What is not known here goes through as it is, and is
//! then unreadable or an unknown command, never nothing.

mod fish;
mod powershell;

#[cfg(test)]
mod tests;

pub(super) use self::{fish::fish, powershell::powershell};
