//! How git is started where nothing that a repository brings may run.
//!
//! Whoever starts git adds what it is to do, and takes the other variables out by
//! [`environment`]. What is deliberately not here: filters of contents, which a repository names
//! by any name; who has git convert files takes them out one by one.

use std::ffi::{OsStr, OsString};

/// Settings, each for a `-c`: no hook, no watcher, and no repository that lies as plain files in
/// another one's tree.
pub const SETTINGS: [&str; 3] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "safe.bareRepository=explicit",
];

/// Variables: nobody is asked, no lock is taken for convenience, and no object is fetched from where
/// the repository's settings say, by the program that they say.
const VARIABLES: [(&str, &str); 4] = [
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// The environment that git is started with: what is given, less what would lead it elsewhere.
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
