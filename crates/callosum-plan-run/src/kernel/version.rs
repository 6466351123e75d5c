//! [`SemanticVersion`]: three numbers; the first changes with each incompatible change.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::change::ChangeLevel;

/// A version, ordered as its numbers are. What a provider states behind `-` or `+` is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SemanticVersion {
    major: u64,
    minor: u64,
    patch: u64,
}

/// A text that is no version.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is not a version (allowed: up to three numbers, as in 1.2.3)")]
pub struct NoVersion(pub String);

impl SemanticVersion {
    /// The version of a capability whose provider states none.
    pub const FIRST: Self = Self {
        major: 1,
        minor: 0,
        patch: 0,
    };

    /// Returns the version that a provider states, or none if the text is none. An entry of the registry without a version has
    /// `0.0.0`, which states none.
    pub fn stated(text: &str) -> Option<Self> {
        let unstated = Self {
            major: 0,
            minor: 0,
            patch: 0,
        };
        text.parse().ok().filter(|version| *version != unstated)
    }

    /// Returns the next version after a change: `stated` if that is higher than this one, else this one with the number
    /// raised that the change asks for.
    #[must_use]
    pub fn after(self, level: ChangeLevel, stated: Option<Self>) -> Self {
        if let Some(stated) = stated.filter(|stated| *stated > self) {
            return stated;
        }
        match level {
            ChangeLevel::Same => self,
            ChangeLevel::Patch => Self {
                patch: self.patch.saturating_add(1),
                ..self
            },
            ChangeLevel::Minor => Self {
                minor: self.minor.saturating_add(1),
                patch: 0,
                ..self
            },
            ChangeLevel::Major => Self {
                major: self.major.saturating_add(1),
                minor: 0,
                patch: 0,
            },
        }
    }
}

impl FromStr for SemanticVersion {
    type Err = NoVersion;

    fn from_str(text: &str) -> Result<Self, NoVersion> {
        let refuse = || NoVersion(text.chars().take(40).collect());
        let core = text.trim().trim_start_matches('v');
        let core = core.split(['-', '+']).next().unwrap_or_default();
        let mut numbers = [0; 3];
        for (index, part) in core.split('.').enumerate() {
            let number = numbers.get_mut(index).ok_or_else(refuse)?;
            if !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(refuse());
            }
            *number = part.parse().map_err(|_| refuse())?;
        }
        let [major, minor, patch] = numbers;
        Ok(Self {
            major,
            minor,
            patch,
        })
    }
}

impl TryFrom<String> for SemanticVersion {
    type Error = NoVersion;

    fn try_from(text: String) -> Result<Self, NoVersion> {
        text.parse()
    }
}

impl From<SemanticVersion> for String {
    fn from(version: SemanticVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for SemanticVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            major,
            minor,
            patch,
        } = self;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> SemanticVersion {
        text.parse().unwrap()
    }

    /// CCOS-CAP-1: a version rises by what changed, or to what its provider states if that is higher.
    #[test]
    fn a_version_rises_by_the_change() {
        for (from, level, stated, to) in [
            ("1.2.3", ChangeLevel::Same, None, "1.2.3"),
            ("1.2.3", ChangeLevel::Patch, None, "1.2.4"),
            ("1.2.3", ChangeLevel::Minor, Some("1.2.4"), "1.2.4"),
            ("1.2.3", ChangeLevel::Minor, Some("1.2.3"), "1.3.0"),
            ("1.2.3", ChangeLevel::Major, Some("0.9"), "2.0.0"),
            ("1.2.3", ChangeLevel::Patch, Some("3"), "3.0.0"),
        ] {
            let stated = stated.map(version);
            assert_eq!(version(from).after(level, stated), version(to), "{from}");
        }
        assert_eq!(SemanticVersion::stated("v4.6-beta+1"), Some(version("4.6")));
        for none in [
            "",
            "0.0.0",
            "latest",
            "1.2.3.4",
            "1..2",
            "1.-2",
            "99999999999999999999",
        ] {
            assert_eq!(SemanticVersion::stated(none), None, "{none}");
        }
    }
}
