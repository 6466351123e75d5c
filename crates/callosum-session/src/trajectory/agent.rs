//! [`Agent`]: a name that may be part of a file's name.

use std::fmt;

/// Agent that is meant if none is named (Seed LOA §4.2).
pub const DEFAULT_AGENT: &str = "implementing-tasks";

/// Longest name, in bytes.
const LONGEST: usize = 64;

/// The name of an agent, checked: letters, digits, `.`, `_` and `-`, beginning with a letter or a
/// digit. No name leads to another folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Agent(String);

impl Agent {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, AgentError> {
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let begins_well = name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins_well && name.len() <= LONGEST && name.bytes().all(is_of_name) {
            Ok(Self(name.to_owned()))
        } else {
            Err(AgentError {
                name: name.escape_debug().take(2 * LONGEST).collect(),
            })
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of its file of a day, such as `implementing-tasks-2024-01-15.jsonl`.
    pub fn file_of(&self, day: &str) -> String {
        format!("{self}-{day}.jsonl")
    }
}

impl Default for Agent {
    fn default() -> Self {
        Self(DEFAULT_AGENT.to_owned())
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error for an invalid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not an agent name: use 1 to {LONGEST} of a-z, A-Z, 0-9, `.`, `_` and `-`")]
pub struct AgentError {
    /// Given name, its control characters escaped.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-SEC-1: a name is part of a file's name and leads nowhere else.
    #[test]
    fn a_hostile_name_is_no_name() {
        for name in [
            "../../etc/x",
            "",
            ".hidden",
            "-rf",
            "a/b",
            "a b",
            "a\0b",
            "$(id)",
            "é",
            &"a".repeat(65),
        ] {
            assert!(Agent::new(name).is_err(), "{name}");
        }
        let agent = Agent::new("impl.v2_x-1").unwrap();
        assert_eq!(agent.file_of("2024-01-15"), "impl.v2_x-1-2024-01-15.jsonl");
    }
}
