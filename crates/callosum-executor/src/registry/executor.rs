//! [`Executor`]: one entry of the registry.

use std::{fmt, fmt::Write as _, time::Duration};

use serde_json::{Map, Value};

use crate::{client::Client, output_format::Dialect, sanitize::fit_line};
use callosum_sandbox::{Policy, RequestedPaths};

/// The id of the executor that every installation has.
pub const EMBEDDED_ID: &str = "scout";

/// The command of an executor of type `http`.
const HTTP_TEMPLATE: &str = "{self} executor run http";

/// The command of an executor of type `mcp` on another host.
const MCP_TEMPLATE: &str = "{self} executor run mcp";

/// Longest id, in bytes.
const LONGEST_ID: usize = 64;

/// The key of an entry for the reason why it is inactive.
const INACTIVE_REASON: &str = "inactive_reason";

/// Longest reason that an entry keeps, in bytes.
const LONGEST_REASON: usize = 400;

/// Someone who can be handed a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Executor {
    /// Its name, unique in the registry; see [`Executor::check_id`].
    pub id: String,
    /// The way to reach it.
    pub kind: Kind,
    /// Its own version, as it reports it.
    pub version: String,
    /// Whether its handshake succeeded. Nothing but a handshake or a health check sets it.
    pub status: Status,
    /// The capabilities that it reported.
    pub capabilities: Capabilities,
    /// Its command: split into words as a shell would, without a shell.
    pub command_template: String,
    /// When it last answered a handshake or health check (RFC 3339, UTC).
    pub last_validated: Option<String>,
    /// Its protocol, if that is not the seed's own JSON.
    pub protocol: Option<String>,
    /// Longest allowed silence, in milliseconds, if it needs another than the rest.
    pub quiet_ms: Option<u64>,
    /// Longest allowed time, in milliseconds, if it needs another than the rest.
    pub total_ms: Option<u64>,
    /// Names of environment variables that it is given beyond the common ones.
    pub pass_environment: Vec<String>,
    /// Address of its server, for one that is reached over HTTP.
    pub endpoint: Option<String>,
    /// The model that is asked there.
    pub model: Option<String>,
    /// The environment variable that holds the key for it. The key itself is stored nowhere.
    pub api_key_env: Option<String>,
    /// Context size of its model in tokens, prompt and answer together.
    pub context_tokens: Option<u64>,
    /// The tool of a server of the Model Context Protocol that is called.
    pub tool: Option<String>,
    /// The tool's argument that takes the prompt.
    pub argument: Option<String>,
    /// The sandbox policy of its entry: `required`, `best-effort` or `off`.
    pub confinement: Option<Policy>,
    /// Paths that it may read beyond the project and the system.
    pub readable: Vec<String>,
    /// Paths that it may write beyond its temporary folder.
    pub writable: Vec<String>,
    /// Hosts with their ports that it may connect to.
    pub network: Vec<String>,
    /// Keys that we do not know, kept as they are.
    pub extra: Map<String, Value>,
}

/// The way to reach an executor (`type` in the file).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program that is started.
    Cli,
    /// A server that is asked over HTTP.
    Http,
    /// A server of the Model Context Protocol.
    Mcp,
}

/// Whether an executor may be handed tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its last handshake or health check succeeded.
    Active,
    /// It was never asked, or did not answer as it should.
    Inactive,
}

/// Capabilities that an executor reports (seed CAL §11.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// It takes a prompt, on standard input or as an argument. Required.
    pub prompt_input: bool,
    /// It answers in JSON. Required.
    pub json_output: bool,
    /// It can read the project's files.
    pub filesystem_access: bool,
    /// It puts a checksum on its answers.
    pub checksum_support: bool,
}

impl Executor {
    /// Returns the dialect that the entry names, if it is a program and names one that we read.
    pub fn dialect(&self) -> Option<Dialect> {
        let named = Dialect::named(self.protocol.as_deref()?);
        named.filter(|_| self.kind == Kind::Cli)
    }

    /// Returns the entry of the executor that this program contains.
    ///
    /// It is active from the start: it is this very binary, so it needs no handshake.
    pub fn embedded() -> Self {
        Self {
            id: EMBEDDED_ID.to_owned(),
            kind: Kind::Cli,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            status: Status::Active,
            capabilities: Capabilities {
                prompt_input: true,
                json_output: true,
                filesystem_access: true,
                checksum_support: true,
            },
            command_template: "{self} executor run scout".to_owned(),
            ..Self::cli(EMBEDDED_ID, "")
        }
    }

    /// Makes it inactive, and keeps why with the entry.
    pub fn deactivate(&mut self, reason: &str) {
        self.status = Status::Inactive;
        let reason = fit_line(reason, LONGEST_REASON);
        self.extra
            .insert(INACTIVE_REASON.to_owned(), Value::from(reason));
    }

    /// Makes it active.
    pub fn activate(&mut self) {
        self.status = Status::Active;
        self.extra.shift_remove(INACTIVE_REASON);
    }

    /// Returns the reason why it is inactive, if known.
    pub fn inactive_reason(&self) -> Option<&str> {
        let reason = self.extra.get(INACTIVE_REASON)?.as_str()?;
        (self.status == Status::Inactive).then_some(reason)
    }

    /// Whether it has the command of the embedded executor's entry, under any name.
    pub fn is_embedded(&self) -> bool {
        self.fingerprint() == Self::embedded().fingerprint()
    }

    /// Creates the entry of a program without a handshake yet: inactive, and without capabilities.
    pub fn cli(id: &str, command_template: &str) -> Self {
        Self {
            id: id.to_owned(),
            kind: Kind::Cli,
            version: "0.0.0".to_owned(),
            status: Status::Inactive,
            capabilities: Capabilities::default(),
            command_template: command_template.to_owned(),
            last_validated: None,
            protocol: None,
            quiet_ms: None,
            total_ms: None,
            pass_environment: Vec::new(),
            endpoint: None,
            model: None,
            api_key_env: None,
            context_tokens: None,
            tool: None,
            argument: None,
            confinement: None,
            readable: Vec::new(),
            writable: Vec::new(),
            network: Vec::new(),
            extra: Map::new(),
        }
    }

    /// Creates the entry of a model's server without a handshake yet. The command is this program,
    /// which asks the server.
    pub fn http(id: &str, endpoint: &str, model: &str) -> Self {
        Self {
            kind: Kind::Http,
            endpoint: Some(endpoint.to_owned()),
            model: Some(model.to_owned()),
            ..Self::cli(id, HTTP_TEMPLATE)
        }
    }

    /// Creates the entry of a hosted provider's model, as `anthropic::claude-…`, without a
    /// handshake yet.
    pub fn hosted(id: &str, model: &str) -> Self {
        Self {
            endpoint: None,
            protocol: Some("hosted".to_owned()),
            ..Self::http(id, "", model)
        }
    }

    /// Creates the entry of a tool of a server that is reached over HTTP, without a handshake yet.
    /// The command is this program, which asks the server.
    pub fn remote_tool(id: &str, endpoint: &str, tool: &str) -> Self {
        Self {
            kind: Kind::Mcp,
            endpoint: Some(endpoint.to_owned()),
            tool: Some(tool.to_owned()),
            ..Self::cli(id, MCP_TEMPLATE)
        }
    }

    /// Creates the entry of a tool server that is reached over HTTP, as [`Executor::remote_tool`],
    /// with no tool that takes tasks.
    pub fn remote_tools(id: &str, endpoint: &str) -> Self {
        Self {
            tool: None,
            ..Self::remote_tool(id, endpoint, "")
        }
    }

    /// Whether it takes tasks: a tool server does if its entry names a tool that takes a prompt.
    pub fn takes_tasks(&self) -> bool {
        self.kind != Kind::Mcp || self.tool.is_some()
    }

    /// Whether it is on another host, so that the command is this program, which asks it there.
    pub fn is_remote(&self) -> bool {
        match self.kind {
            Kind::Http => true,
            Kind::Mcp => self.endpoint.is_some(),
            Kind::Cli => false,
        }
    }

    /// Returns the way to reach it, on one line: its command, and the address of its server if it
    /// has one.
    pub fn way(&self) -> String {
        let mut way = self.command_template.clone();
        let parts = [
            ("at", &self.endpoint),
            ("model", &self.model),
            ("key in", &self.api_key_env),
            ("tool", &self.tool),
        ];
        for (name, value) in parts {
            if let Some(value) = value {
                let _ = write!(way, " · {name} {value}");
            }
        }
        way
    }

    /// Checks that an id is fit for file names, tables and command lines.
    pub fn check_id(id: &str) -> Result<(), InvalidId> {
        let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        if starts_well && id.len() <= LONGEST_ID && id.chars().all(fit) {
            Ok(())
        } else {
            Err(InvalidId { id: id.to_owned() })
        }
    }

    /// Grants the requirements of a known client, for settings that the entry leaves out.
    ///
    /// An entry of another program is not changed: a person has to set its requirements.
    pub fn grant_needs(&mut self) {
        let Some(client) = Client::behind(self) else {
            return;
        };
        for (named, needs) in [
            (&mut self.readable, client.reads),
            (&mut self.writable, client.writes),
            (&mut self.network, client.hosts),
        ] {
            if named.is_empty() {
                named.extend(needs.iter().map(ToString::to_string));
            }
        }
    }

    /// Whether its entry names places to write to beyond what the client that it is keeps of its own: its login,
    /// which [`Executor::grant_needs`] names.
    pub fn may_change_files(&self) -> bool {
        !self.writable.iter().all(|place| self.keeps(place))
    }

    /// Whether a place is what the client that it is keeps of its own: its login, or its folder.
    pub fn keeps(&self, place: &str) -> bool {
        Client::behind(self)
            .is_some_and(|client| client.writes.contains(&place) || client.keeps.contains(&place))
    }

    /// Returns the paths that it sees in addition to the project and the system.
    pub fn wishes(&self) -> RequestedPaths {
        RequestedPaths {
            readable: self.readable.clone(),
            writable: self.writable.clone(),
        }
    }

    /// Returns the longest allowed silence, if its entry sets one.
    pub fn quiet(&self) -> Option<Duration> {
        self.quiet_ms.map(Duration::from_millis)
    }

    /// Returns the longest allowed time, if its entry sets one.
    pub fn total(&self) -> Option<Duration> {
        self.total_ms.map(Duration::from_millis)
    }
}

/// An id that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is not an executor id: use 1 to 64 letters, digits, `.`, `_` or `-`, starting with a \
     letter or digit",
    id.escape_debug()
)]
pub struct InvalidId {
    /// The given text.
    pub id: String,
}

impl Kind {
    /// Its name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Http => "http",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Status {
    /// Its name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Inactive => "inactive",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
