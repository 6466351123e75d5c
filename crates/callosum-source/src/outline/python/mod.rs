//! Python files.

mod commands;
mod definitions;
mod names;
mod routes;

pub(super) use self::definitions::Python;
