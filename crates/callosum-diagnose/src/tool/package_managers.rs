//! apt, dpkg, apk, dnf and Homebrew.

use super::{
    programs::high,
    scan::{mentions, mentions_any, quoted, starts_any},
};
use crate::finding::Finding;

/// Reads apt, dpkg, apk, dnf and Homebrew.
pub(super) fn packages(at: usize, line: &str) -> Option<Finding> {
    let missing = |name: &str| {
        let mut finding = high(at, "DependencyError", line);
        finding.module = Some(name.trim_matches(['\'', '"', '.']).to_owned());
        Some(finding)
    };
    if let Some(message) = line.strip_prefix("E: ") {
        if let Some(name) = message.strip_prefix("Unable to locate package ") {
            return missing(name);
        }
        if mentions(message, "has no installation candidate")
            || starts_any(
                message,
                &[
                    "Version '",
                    "Unable to correct problems",
                    "Unmet dependencies",
                ],
            )
        {
            return missing(quoted(message).unwrap_or_default());
        }
        if mentions_any(message, &["Permission denied", "are you root?"]) {
            return Some(high(at, "PermissionError", message));
        }
        if message.starts_with("Failed to fetch ") {
            return Some(high(at, "ConnectionError", message));
        }
        if message.starts_with("Could not get lock ") {
            return Some(high(at, "BuildError", message));
        }
        return None;
    }
    if let Some(rest) = line
        .strip_prefix("Error: No available formula with the name ")
        .or(line.strip_prefix("No match for argument: "))
    {
        return missing(rest.split(". ").next().unwrap_or(rest));
    }
    if line == "ERROR: unable to select packages:" {
        return missing("");
    }
    None
}
