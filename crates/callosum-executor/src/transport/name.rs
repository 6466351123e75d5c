//! [`Transport`]: way to reach an executor that is not simply a program.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::registry::{Executor, Kind};

/// A way of reaching an executor (`type` and `protocol` in the registry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// OpenAI's chat completions over HTTP, as most servers of models speak it.
    OpenAi,
    /// Ollama's own chat over HTTP.
    Ollama,
    /// Another Callosum's models over HTTP.
    Callosum,
    /// The protocol of the provider that the model's name begins with; only in builds that have it.
    Hosted,
    /// A tool of a server of the Model Context Protocol, on the server's standard input and output,
    /// or over HTTP.
    Mcp,
    /// A coding agent that speaks the Agent Client Protocol.
    Acp,
}

impl Transport {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::Ollama,
        Self::Callosum,
        Self::Hosted,
        Self::Mcp,
        Self::Acp,
    ];

    /// Returns the transport that an entry names; `None` for a program, and for a protocol that we
    /// do not speak.
    ///
    /// An entry of type `http` without a `protocol` speaks OpenAI's, one of type `mcp` MCP.
    pub fn of(executor: &Executor) -> Option<Self> {
        let named = executor.protocol.as_deref();
        Self::ALL.into_iter().find(|transport| {
            transport.kind() == executor.kind
                && named.map_or(transport.is_usual(), |name| name == transport.as_str())
        })
    }

    /// Whether this build speaks it.
    pub fn is_built_in(self) -> bool {
        self != Self::Hosted || cfg!(feature = "hosted")
    }

    /// Whether it is the default for an entry of its type.
    fn is_usual(self) -> bool {
        matches!(self, Self::OpenAi | Self::Mcp)
    }

    /// Returns the type of its entries.
    pub fn kind(self) -> Kind {
        match self {
            Self::OpenAi | Self::Ollama | Self::Callosum | Self::Hosted => Kind::Http,
            Self::Mcp => Kind::Mcp,
            Self::Acp => Kind::Cli,
        }
    }

    /// Returns the name of our process that speaks it, if the entry's command may be another
    /// program.
    pub(crate) fn speaker(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::Ollama | Self::Callosum | Self::Hosted => None,
            Self::Mcp => Some("mcp"),
            Self::Acp => Some("acp"),
        }
    }

    /// Its name in the registry and in metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Callosum => "callosum",
            Self::Hosted => "hosted",
            Self::Mcp => "mcp",
            Self::Acp => "acp",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
