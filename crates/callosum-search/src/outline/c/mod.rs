//! C and C++ files: one set of rules, since the one grammar extends the other.

mod bleach;
mod declarations;
mod declarator;
mod dialect;
mod macros;
mod names;

pub(super) use self::{bleach::bleached, declarations::C, dialect::dialect};
