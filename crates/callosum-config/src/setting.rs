//! [`Setting`]: a value and where it comes from.

use std::{fmt, path::PathBuf};

/// A value that is in force, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Origin of the value.
    pub origin: Origin,
}

/// Origin of a value; each outweighs those before it (CAL-CFG-1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The program itself.
    Default,
    /// The project's `.calrc`.
    Calrc(PathBuf),
    /// A variable of the environment.
    Environment(&'static str),
    /// A flag on the command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Calrc(path) => write!(f, "`{}`", path.display()),
            Self::Environment(name) => write!(f, "the variable {name}"),
            Self::Flag => f.write_str("the command line"),
        }
    }
}
