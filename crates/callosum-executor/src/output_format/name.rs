//! [`Dialect`]: output format that an entry names.

use std::fmt;

/// A way of answering that is not the seed's protocol (`protocol` in the registry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `claude -p --output-format stream-json` or `json`.
    Claude,
    /// `codex exec --json`.
    Codex,
    /// `gemini --output-format stream-json` or `json`.
    Gemini,
    /// `opencode run --format json`.
    Opencode,
    /// `qwen --output-format stream-json` or `json`.
    Qwen,
    /// Anything that writes its answer as plain text.
    Text,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Qwen,
        Self::Text,
    ];

    /// Returns the dialect with this name in the registry.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|dialect| dialect.as_str() == name)
    }

    /// Its name in the registry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
