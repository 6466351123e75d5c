//! [`Source`]: ranks the places that state a decision (Seed LOA §2.2).

use std::fmt;

/// Source of a statement; earlier ones take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The tree as it is.
    Code,
    /// A bead.
    Bead,
    /// `NOTES.md`.
    Notes,
    /// The trajectory.
    Trajectory,
    /// A design document.
    Design,
    /// A document that is no longer maintained.
    Legacy,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "code",
            Self::Bead => "bead",
            Self::Notes => "NOTES.md",
            Self::Trajectory => "trajectory",
            Self::Design => "design",
            Self::Legacy => "legacy document",
        })
    }
}
