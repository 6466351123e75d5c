//! [`AgentName`]: who says something, and to whom.

use std::{fmt, str::FromStr};

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

/// The name of an agent or of whoever else takes part: `claude-code`, `codex`, `gemini-cli`, or any
/// of lower-case letters, digits, `.`, `_` and `-`, at most 64 of them.
///
/// The names of programs (`claude`, `gemini`) become the seed's names, and capitals small letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentName(String);

impl AgentName {
    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = AgentNameError;

    fn from_str(text: &str) -> Result<Self, AgentNameError> {
        let name = text.to_ascii_lowercase();
        let is_sound = !name.is_empty()
            && name.len() <= LONGEST
            && name.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
        if !is_sound {
            return Err(AgentNameError {
                found: text.chars().take(LONGEST).collect(),
            });
        }
        let known = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        Ok(Self(
            known.map_or(name.clone(), |(_, name)| (*name).to_owned()),
        ))
    }
}

impl TryFrom<String> for AgentName {
    type Error = AgentNameError;

    fn try_from(text: String) -> Result<Self, AgentNameError> {
        text.parse()
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
    "`{found}` is no agent's name: up to 64 letters, digits, `.`, `_` and `-`, as in `claude-code`"
)]
pub struct AgentNameError {
    /// Its beginning.
    pub found: String,
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
}
