//! Rust files.

mod commands;
mod items;
mod macro_items;
mod names;
mod paths;
mod routes;

pub(super) use self::{items::Rust, macro_items::Opened};
