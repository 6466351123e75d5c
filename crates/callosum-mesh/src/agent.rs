//! [`AgentName`]: name of a sender or recipient of events.

use std::{fmt, str::FromStr};

use callosum_redact::secrets::mask;
use serde::{Deserialize, Serialize};

/// Most bytes of a name.
const LONGEST: usize = 64;

/// Names by which agents are also known, and the seed's name for each (Seed CALC §4).
const OTHER_NAMES: [(&str, &str); 5] = [
    ("claude", "claude-code"),
    ("codex-cli", "codex"),
    ("gemini", "gemini-cli"),
    ("qwen", "qwen-code"),
    ("qwen-cli", "qwen-code"),
];

/// Name of an agent or another participant: `claude-code`, `codex`, `gemini-cli`, or any other name
/// of lower-case letters, digits, `.`, `_` and `-`. A name has at most 64 characters and contains
/// no secret. A name that is already in the log is read even if it contains one.
///
/// Names of programs (`claude`, `gemini`) become the seed's names, and capitals become small
/// letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

/// Name under which the mesh records what it does by itself.
pub const US: &str = "callosum";

impl AgentName {
    /// Returns the author of what the mesh does by itself.
    pub(crate) fn us() -> Self {
        Self(US.to_owned())
    }

    /// Parses the name of an author. Rejects `callosum`, which only the program itself uses.
    pub fn of_speaker(text: &str) -> Result<Self, AgentNameError> {
        let name: Self = text.parse()?;
        if name.is_us() {
            return Err(AgentNameError {
                found: name.0,
                why: "reserved for Callosum itself",
            });
        }
        Ok(name)
    }

    /// Reads a name that may have a secret in it, as one that was kept before.
    fn of_any(text: &str) -> Result<Self, AgentNameError> {
        let name = text.to_ascii_lowercase();
        let is_sound = !name.is_empty()
            && name.len() <= LONGEST
            && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if !is_sound {
            return Err(AgentNameError {
                found: mask(text).text.chars().take(LONGEST).collect(),
                why: "not an agent name",
            });
        }
        let known = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        Ok(Self(
            known.map_or(name.clone(), |(_, name)| (*name).to_owned()),
        ))
    }

    /// Whether the program itself speaks.
    pub fn is_us(&self) -> bool {
        self.0 == US
    }

    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = AgentNameError;

    fn from_str(text: &str) -> Result<Self, AgentNameError> {
        let name = Self::of_any(text)?;
        let masked = mask(text);
        if masked.found.is_empty() {
            return Ok(name);
        }
        Err(AgentNameError {
            found: masked.text,
            why: "not an agent name, since it contains a secret",
        })
    }
}

impl TryFrom<String> for AgentName {
    type Error = AgentNameError;

    fn try_from(text: String) -> Result<Self, AgentNameError> {
        Self::of_any(&text)
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text is no agent's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is {}: use up to 64 letters, digits, `.`, `_` and `-`, as in `claude-code`",
    .why
)]
pub struct AgentNameError {
    /// Its beginning, without secrets.
    pub found: String,
    /// Reason for the rejection.
    pub why: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_names_become_those_of_the_seed() {
        for (text, expected) in [
            ("claude", "claude-code"),
            ("Gemini", "gemini-cli"),
            ("codex", "codex"),
            ("reviewer-2", "reviewer-2"),
        ] {
            assert_eq!(text.parse::<AgentName>().unwrap().as_str(), expected);
        }
        for text in ["", "-x", "a b", "../x", "\u{202e}x", "é"] {
            assert!(text.parse::<AgentName>().is_err(), "{text:?}");
        }
        assert!("a".repeat(65).parse::<AgentName>().is_err());
    }

    /// CALC-SEC-1: a secret is no name, and is not shown where it is refused; what was kept under one is read.
    #[test]
    fn a_secret_is_not_a_name() {
        let secret = "AKIAIOSFODNN7EXAMPLE";
        let error = secret.parse::<AgentName>().unwrap_err().to_string();
        assert!(error.contains("contains a secret"), "{error}");
        assert!(!error.contains(secret), "{error}");
        assert!(AgentName::try_from(secret.to_owned()).is_ok());
    }

    /// CALC-SEC-1: no one else speaks in our name.
    #[test]
    fn our_own_name_is_no_speakers() {
        assert!(AgentName::of_speaker("codex").is_ok());
        for ours in ["callosum", "Callosum"] {
            let error = AgentName::of_speaker(ours).unwrap_err();
            assert!(
                error.to_string().contains("reserved for Callosum itself"),
                "{error}"
            );
        }
    }
}
