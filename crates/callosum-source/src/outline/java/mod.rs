//! Java files.

mod annotations;
mod declarations;
mod names;

pub(super) use self::declarations::Java;
