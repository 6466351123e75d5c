//! Go files.

mod declarations;
mod services;

pub(super) use self::declarations::Go;
