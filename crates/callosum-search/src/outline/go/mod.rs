//! Go files.

mod commands;
mod declarations;
mod services;

pub(super) use self::declarations::Go;
