//! Rust files.

mod commands;
mod items;
mod paths;
mod routes;

pub(super) use self::items::Rust;
