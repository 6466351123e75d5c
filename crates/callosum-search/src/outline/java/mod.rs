//! Java files.

mod annotations;
mod declarations;

pub(super) use self::declarations::Java;
