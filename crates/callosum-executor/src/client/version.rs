//! [`Version`]: three numbers, found in what a program says of itself.

use std::fmt;

/// A version of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// The first thing in a text that looks like a version: `codex-cli 0.169.0`, `v1.2.3-beta`,
    /// `2.1.330 (Claude Code)`.
    pub fn find(text: &str) -> Option<Self> {
        let mut starts = text
            .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '-' | '+'))
            .map(|word| word.trim_start_matches('v'));
        starts.find_map(Self::read)
    }

    fn read(word: &str) -> Option<Self> {
        let mut numbers = word.splitn(3, '.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        let rest = numbers.next()?;
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        let (patch, after) = rest.split_at(digits.unwrap_or(rest.len()));
        // A fourth number makes it an address or a date.
        let is_version = !after.starts_with('.');
        is_version.then_some(Self(major, minor, patch.parse().ok()?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_clients_say() {
        for (text, version) in [
            ("2.1.330 (Claude Code)", Some(Version(2, 1, 330))),
            ("codex-cli 0.169.0\n", Some(Version(0, 169, 0))),
            (
                "WARNING: see 127.0.0.1\n0.61.0-nightly.3",
                Some(Version(0, 61, 0)),
            ),
            ("v1.18.33", Some(Version(1, 18, 33))),
            ("no version", None),
            ("1.2", None),
            ("99999999999.1.1", None),
        ] {
            assert_eq!(Version::find(text), version, "{text}");
        }
        assert!(Version(0, 169, 0) > Version(0, 46, 9));
    }
}
