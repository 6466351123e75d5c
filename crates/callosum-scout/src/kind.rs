//! [`Kind`]: one of the four questions about a tree.

use std::{fmt, str::FromStr};

use super::report::UnknownSection;

/// A question that scout can answer.
///
/// The four are the test cases of Seed CAL §9.4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The layout, the entry points, and the most important parts.
    #[default]
    Scan,
    /// The dependencies among the parts, and on packages from outside.
    Deps,
    /// The tests, the code that they mention, and the code that they never mention.
    Tests,
    /// The interface of the tree for other code.
    Api,
}

impl Kind {
    /// All four, in the order in which a reader meets them.
    pub const ALL: [Self; 4] = [Self::Scan, Self::Deps, Self::Tests, Self::Api];

    /// The name used on the command line and in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Deps => "deps",
            Self::Tests => "tests",
            Self::Api => "api",
        }
    }

    /// The names of its digest's sections, in order of reading.
    pub fn sections(self) -> &'static [&'static str] {
        match self {
            Self::Scan => &[
                "what-it-is",
                "entry-points",
                "where",
                "most-used",
                "most-named",
                "build",
                "languages",
                "around",
                "not-read",
            ],
            Self::Deps => &[
                "parts",
                "cycles",
                "packages",
                "dev-packages",
                "unseen",
                "undeclared",
                "local-packages",
            ],
            Self::Tests => &[
                "in-short",
                "run",
                "areas",
                "most-tested",
                "by-part",
                "unreached",
                "names",
            ],
            Self::Api => &[
                "offered", "macros", "routes", "commands", "inside", "methods", "internal",
            ],
        }
    }

    /// Checks that its digest has a section of this name.
    pub fn check_section(self, name: &str) -> Result<(), UnknownSection> {
        if self.sections().contains(&name) {
            return Ok(());
        }
        Err(UnknownSection {
            kind: self,
            name: name.chars().take(40).collect(),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A kind that scout does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown kind `{0}` (known: scan, deps, tests, api)")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| UnknownKind(name.chars().take(40).collect()))
    }
}
