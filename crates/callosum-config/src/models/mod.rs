//! [`ModelSettings`]: the models that the user's configuration names, and which of them `callosum do` asks.
//!
//! The tables `models` and `arbiter` of `config.toml`. Only the user's own file is read: no file of a repository names
//! an address to which prompts go. A token is in a file or a variable that the table names. Start with
//! [`ModelSettings::load`]; `read` takes the values apart. Nothing here opens a script or a connection.

mod read;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use toml::Table;

use crate::Environment;

/// The name of the model of a file.
const LOCAL: &str = "local";

/// A model that the user's configuration names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSetting {
    /// The name: the key of its table.
    pub name: String,
    /// The kind, with what it needs.
    pub kind: ModelKind,
    /// Trust tier, 0 to 2, if the table has one.
    pub trust_tier: Option<u8>,
}

/// A kind of model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Answers from a script.
    Stub {
        /// The script, below the folder of the configuration unless it is absolute.
        script: PathBuf,
    },
    /// Another Callosum over HTTP.
    RemoteArbiter {
        /// The address.
        url: String,
        /// The model's name there.
        model: String,
        /// The place of the token.
        token: TokenPlace,
    },
    /// A server with OpenAI's interface, such as llama.cpp's.
    Local {
        /// The address.
        url: String,
        /// The model's name at the server; most servers with one model take any.
        model: String,
        /// Tokens of prompt and reply that the model takes, if the table says so.
        context_tokens: Option<u64>,
    },
    /// A model file, for which a server is started. It comes from the environment, not from the file.
    File {
        /// The file, in llama.cpp's GGUF.
        model: PathBuf,
        /// The program that serves it: a path, or a name to look up.
        program: PathBuf,
    },
}

impl ModelKind {
    /// The words of `kind` in the file.
    pub const ALL: [&str; 3] = ["local", "remote-arbiter", "stub"];

    /// Returns its word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stub { .. } => "stub",
            Self::RemoteArbiter { .. } => "remote-arbiter",
            Self::Local { .. } | Self::File { .. } => "local",
        }
    }
}

/// The place of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenPlace {
    /// A file that holds nothing else.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

/// The models that the daemon serves, and the token that a request must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedModels {
    /// Names of configured models, or `echo`.
    pub names: Vec<String>,
    /// The place of the token.
    pub token: TokenPlace,
}

/// The models of the user's configuration, and their use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// The models, ordered by name.
    pub models: Vec<ModelSetting>,
    /// The model that proposes plans unless another is named.
    pub planner: Option<String>,
    /// The models that review plans unless others are named.
    pub reviewers: Vec<String>,
    /// The models that the daemon serves, if any.
    pub served: Option<ServedModels>,
}

/// Error of a configuration of models that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelSettingsError {
    /// The file cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is no TOML.
    #[error("{} is not valid TOML: {reason}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The fault, with its line.
        reason: String,
    },
    /// Keys or values are not allowed.
    #[error("{}: {}", path.display(), faults.join("; "))]
    NotAllowed {
        /// The file.
        path: PathBuf,
        /// Each with its key, its value and what is allowed.
        faults: Vec<String>,
    },
}

impl ModelSettings {
    /// Reads the user's configuration. A missing file names no model.
    pub fn load(disk: &Disk, path: &Path) -> Result<Self, ModelSettingsError> {
        let Some(bytes) = disk.read_if_there(path)? else {
            return Ok(Self::default());
        };
        let not_toml = |reason: String| ModelSettingsError::NotToml {
            path: path.to_owned(),
            reason,
        };
        let text = String::from_utf8(bytes).map_err(|_| not_toml("it is not UTF-8".to_owned()))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            // Without the line itself, which may hold an address.
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            not_toml(format!("line {line}: {}", error.message()))
        })?;
        let folder = path.parent().unwrap_or(path);
        let (settings, faults) = read::settings(&table, folder);
        if faults.is_empty() {
            return Ok(settings);
        }
        Err(ModelSettingsError::NotAllowed {
            path: path.to_owned(),
            faults,
        })
    }

    /// Adds the model `local` of a file, unless a table has that name. A relative path begins in `folder`.
    #[must_use]
    pub fn with_model_file(mut self, environment: &Environment, folder: &Path) -> Self {
        let Some(model) = environment.path("RTFS_LOCAL_MODEL_PATH") else {
            return self;
        };
        if self.get(LOCAL).is_none() {
            let program = environment.path("CALLOSUM_LLAMA_SERVER");
            let program = program.unwrap_or_else(|| PathBuf::from("llama-server"));
            self.models.push(ModelSetting {
                name: LOCAL.to_owned(),
                kind: ModelKind::File {
                    model: folder.join(model),
                    program,
                },
                trust_tier: None,
            });
            self.models.sort_by(|one, other| one.name.cmp(&other.name));
        }
        self
    }

    /// Returns the model of a name.
    pub fn get(&self, name: &str) -> Option<&ModelSetting> {
        self.models.iter().find(|model| model.name == name)
    }
}
