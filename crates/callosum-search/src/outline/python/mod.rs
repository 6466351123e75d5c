//! Python files.

mod commands;
mod definitions;
mod routes;

pub(super) use self::definitions::Python;
