//! [`Client`]: a coding agent whose past sessions can be read.

use std::fmt;

/// A coding agent whose past sessions can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// opencode.
    Opencode,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Qwen,
        Self::Opencode,
    ];

    /// Returns its name, as it is in the index, in output and in `--agent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini-cli",
            Self::Qwen => "qwen-code",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the client of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns the command that resumes a session, as its words. It is run in the session's folder.
    pub fn resume(self, session: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::ClaudeCode => &["claude", "--resume"],
            Self::Codex => &["codex", "resume"],
            Self::Gemini => &["gemini", "--resume"],
            Self::Qwen => &["qwen", "--resume"],
            Self::Opencode => &["opencode", "--session"],
        };
        let words = words.iter().copied().chain([session]);
        words.map(str::to_owned).collect()
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_client() {
        for client in Client::ALL {
            assert_eq!(Client::of(client.name()), Some(client));
        }
        assert_eq!(Client::of("cursor"), None);
    }
}
