//! [`Repository`]: identity of a repository that is the same on each machine that has it.
//!
//! It is the address of the remote `origin`, without scheme, credentials and `.git`: a clone by SSH and one by HTTPS are one
//! repository. Without a remote it is the first root commit. Not both: a shallow clone does not have its root commit, and a
//! fork shares it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Most bytes of an identity.
const LONGEST: usize = 256;

/// Beginning of the identity of a repository without a remote.
const ROOT: &str = "root/";

/// Identity of a repository, such as `github.com/acme/app`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String")]
pub struct Repository(String);

impl Repository {
    /// Returns the repository with this address of its remote `origin`; `None` if the address names only a folder of one
    /// machine.
    pub fn of_remote(address: &str) -> Option<Self> {
        let address = address.trim();
        let (host, path) = match address.split_once("://") {
            Some(("file", _)) => return None,
            Some((_, rest)) => rest.split_once('/')?,
            // `git@github.com:acme/app.git`, but no path of this machine.
            None => {
                let (host, path) = address.split_once(':')?;
                if host.contains('/') {
                    return None;
                }
                (host, path)
            }
        };
        let host = host.rsplit('@').next().unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default();
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let identity = format!("{}/{path}", host.to_ascii_lowercase());
        (!host.is_empty() && !path.is_empty()).then_some(())?;
        identity.try_into().ok()
    }

    /// Returns the repository with this first root commit, and without a remote.
    pub fn of_root_commit(commit: &str) -> Option<Self> {
        let commit = commit.trim();
        let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| Self(format!("{ROOT}{commit}")))
    }

    /// The identity as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a pattern names it. A `*` matches any text.
    pub fn matches(&self, pattern: &str) -> bool {
        let mut parts = pattern.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = self.0.strip_prefix(first) else {
            return false;
        };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return rest.ends_with(part);
            }
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

impl TryFrom<String> for Repository {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/~+".contains(&byte);
        let mut parts = text.split('/');
        let is_path = parts.all(|part| !part.is_empty() && part != "." && part != "..");
        if is_path && text.len() <= LONGEST && text.bytes().all(is_letter) {
            Ok(Self(text))
        } else {
            Err("it is no identity of a repository".to_owned())
        }
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-FUT-1: a repository has one identity on all machines, and no credentials in it.
    #[test]
    fn clones_by_any_protocol_are_one_repository() {
        for address in [
            "https://github.com/acme/app.git",
            "https://ana:hunter2@github.com/acme/app",
            "git@github.com:acme/app.git",
            "ssh://git@GitHub.com:22/acme/app.git/",
            "git://github.com/acme/app",
        ] {
            let found = Repository::of_remote(address).map(|it| it.to_string());
            assert_eq!(found.as_deref(), Some("github.com/acme/app"), "{address}");
        }
        for address in [
            "/srv/app.git",
            "../app",
            "file:///srv/app",
            "",
            "host:",
            "https://x",
        ] {
            assert_eq!(Repository::of_remote(address), None, "{address}");
        }
        assert_eq!(Repository::of_remote("host:../../etc"), None);
    }

    #[test]
    fn a_pattern_names_some_repositories() {
        let app = Repository::of_remote("git@github.com:acme/app.git").unwrap();
        for (pattern, is_it) in [
            ("*", true),
            ("github.com/acme/*", true),
            ("github.com/*/app", true),
            ("github.com/acme/app", true),
            ("github.com/acme/ap", false),
            ("github.com/acme", false),
            ("*/app2", false),
            ("gitlab.com/*", false),
        ] {
            assert_eq!(app.matches(pattern), is_it, "{pattern}");
        }
    }
}
