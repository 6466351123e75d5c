//! Go files.

mod commands;
mod declarations;
mod names;
mod services;

pub(super) use self::declarations::Go;
