//! `callosum bead diff`: differences between a bead, the notes, the trajectory and the code.

use callosum_session::divergence::Fork;
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum bead diff --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BeadDiffOutput {
    /// The bead.
    pub id: String,
    /// Differences between two sources.
    pub forks: Vec<ForkOutput>,
}

/// Two that do not say the same.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ForkOutput {
    /// The trusted source: `code`, `bd`, `bead`, `NOTES.md` or `trajectory`.
    pub trusted_source: String,
    /// The other source: one of these, `design` or `legacy document`.
    pub stale_source: String,
    /// Difference between the two.
    pub what: String,
}

impl ForkOutput {
    /// Returns what is printed about a fork.
    pub fn of(fork: Fork) -> Self {
        Self {
            trusted_source: fork.wins.to_string(),
            stale_source: fork.loses.to_string(),
            what: fork.what,
        }
    }

    /// It on one line.
    pub fn line(&self) -> String {
        format!(
            "{} overrides {}: {}\n",
            self.trusted_source, self.stale_source, self.what
        )
    }
}
