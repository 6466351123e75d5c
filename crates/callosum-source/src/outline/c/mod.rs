//! C and C++ files: one set of rules, since the one grammar extends the other.

mod declarations;
mod declarator;
mod dialect;
mod macros;
mod names;
mod preprocess;

pub(super) use self::{declarations::C, dialect::dialect, preprocess::bleached};
