//! Settings with which git runs nothing that a repository brings along.
//!
//! The caller adds the git command, and removes the other variables with [`environment`].
//! Deliberately not here: filters of contents, which a repository can give any name; a caller that
//! has git convert files removes them one by one.

use std::ffi::{OsStr, OsString};

/// Settings, each for a `-c`: no hook, no watcher, and no repository that lies as plain files in
/// another one's tree.
pub const SETTINGS: [&str; 3] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",
];

/// Variables: git asks no question, takes no lock for convenience, and fetches no object from the
/// address, or by the program, in the repository's settings.
const VARIABLES: [(&str, &str); 4] = [
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Returns the environment for git: the given one, without the variables that would redirect it.
pub fn environment<'v, N, V>(given: impl Iterator<Item = (N, V)>) -> Vec<(OsString, OsString)>
where
    N: AsRef<OsStr> + 'v,
    V: AsRef<OsStr> + 'v,
{
    let given = given.filter(|(name, _)| !name.as_ref().as_encoded_bytes().starts_with(b"GIT_"));
    let given = given.map(|(name, value)| (name.as_ref().to_owned(), value.as_ref().to_owned()));
    let own = VARIABLES.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    given.chain(own).collect()
}
