//! Rust files.

mod commands;
mod items;
mod names;
mod opened;
mod paths;
mod routes;

pub(super) use self::{items::Rust, opened::Opened};
