//! [`KnownPrograms`]: the programs that matter to the caller of the analysis.
//!
//! The analysis follows any command that it is sure of. A text that may be one, a word behind an unknown program and the
//! copy of a program count only if they name a known program. The names come from the rules, which are above.

use super::pattern;

/// Programs without rules that run what they are given.
const RUNNERS: [&str; 10] = [
    "bash", "sh", "zsh", "eval", "xargs", "find", "env", "timeout", "nice", "nohup",
];

/// The names of the programs that there are rules for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownPrograms {
    names: &'static [&'static str],
}

impl KnownPrograms {
    /// Takes the names; one may be there several times.
    pub(crate) const fn new(names: &'static [&'static str]) -> Self {
        Self { names }
    }

    /// Whether there are rules for a program of this name, or it runs what it is given.
    pub(super) fn contains(self, name: &str) -> bool {
        self.names.contains(&name) || RUNNERS.contains(&name)
    }

    /// Lists the names that fit a pattern of a shell.
    pub(super) fn matching(self, pattern: &str) -> impl Iterator<Item = &'static str> {
        let names = self.names.iter().copied();
        names.filter(move |name| pattern::matches(pattern, name))
    }
}
