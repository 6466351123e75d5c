//! [`SecretReads`]: files whose reading is asked about or blocked, off unless a person turns it on.
//!
//! A policy holds the list. `secret_read` looks for the files in commands.

use serde::{Deserialize, Serialize};

use crate::{glob::takes_in, verdict::Decision};

/// The list when a person turns it on. A later pattern counts more than an earlier one; `!` takes
/// files out.
const PRESET: [&str; 28] = [
    "~/.ssh",
    "~/.aws",
    "~/.config/gcloud",
    "~/.azure",
    "~/.kube/config",
    "~/.netrc",
    "~/.docker/config.json",
    "~/.npmrc",
    "~/.pypirc",
    "~/.gnupg",
    ".env*",
    "*.pem",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "!~/.ssh/*.pub",
    "!~/.ssh/known_hosts",
    "!~/.ssh/known_hosts.old",
    "!~/.ssh/config",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    "!.envrc.example",
    "!.envrc.sample",
    "!.envrc.template",
];

/// Files whose reading is asked about or blocked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretReads {
    /// Ask or block.
    pub decision: Decision,
    /// Names (`.env*`), paths in the home (`~/.ssh`) or any other (`/etc/x`, `config/keys`), folders with all that is in
    /// them. The last that fits counts; one with `!` before it takes files out.
    pub patterns: Vec<String>,
}

impl SecretReads {
    /// Returns the preset.
    pub fn preset(decision: Decision) -> Self {
        Self {
            decision,
            patterns: PRESET.map(str::to_owned).into(),
        }
    }

    /// Returns whether a file is listed, or a folder or pattern that takes one in. `path` has no links in it.
    pub fn covers(&self, path: &str, home: Option<&str>) -> bool {
        let mut is_listed = false;
        for pattern in &self.patterns {
            let (listed, pattern) = match pattern.strip_prefix('!') {
                Some(pattern) => (false, pattern),
                None => (true, pattern.as_str()),
            };
            // `~/.ssh/*` takes in more than the files that are taken out.
            if listed != is_listed && fits(pattern, path, home, listed) {
                is_listed = listed;
            }
        }
        is_listed
    }
}

/// Returns whether a pattern takes in a path, or, if it `may_stand_for` others, the path is a pattern for such a file.
fn fits(pattern: &str, path: &str, home: Option<&str>, may_stand_for: bool) -> bool {
    let may_expand_to = |name: &str, listed: &str| may_stand_for && may_expand_to(name, listed);
    let path = path.trim_end_matches('/');
    if let Some(inner) = pattern.strip_prefix("~/") {
        let Some(home) = home else {
            return false;
        };
        let pattern = format!("{}/{inner}", home.trim_end_matches('/'));
        return takes_in(&pattern, path) || may_expand_to(path, &pattern);
    }
    if pattern.starts_with('/') {
        return takes_in(pattern, path) || may_expand_to(path, pattern);
    }
    let mut tails = Some(path);
    while let Some(tail) = tails {
        if takes_in(pattern, tail) {
            return true;
        }
        tails = tail.split_once('/').map(|(_, rest)| rest);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    may_expand_to(name, pattern.trim_end_matches('*'))
}

/// Returns whether a name that a shell fills in may be that of a listed file: `~/.ss*/id_rsa`, `.en?`.
fn may_expand_to(name: &str, listed: &str) -> bool {
    name.contains(['*', '?', '[']) && !listed.is_empty() && takes_in(name, listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pattern_that_fits_counts() {
        let mut secrets = SecretReads::preset(Decision::Ask);
        secrets.patterns.push("config/keys".to_owned());
        assert!(secrets.covers("/srv/app/config/keys/x.json", None));
        assert!(!secrets.covers("/srv/app/config/keyset", None));
        secrets.patterns.push("!.env.local".to_owned());
        assert!(!secrets.covers("/srv/app/.env.local", None));
        secrets.patterns.push(".env.local".to_owned());
        assert!(secrets.covers("/srv/app/.env.local", None));
    }
}
