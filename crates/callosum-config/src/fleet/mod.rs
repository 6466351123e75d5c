//! [`FleetSetting`]: servers and workspace by which several machines share tasks and messages, from the user's configuration.
//!
//! The user's own file alone is read: a repository names no server to which events are sent. Credentials are secrets, and
//! are in a file or a variable that the table names.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError, machine};
use toml::{Table, Value};

use super::{Environment, Homes};

/// The keys of the table.
const KEYS: [&str; 9] = [
    "servers",
    "workspace",
    "user",
    "machine",
    "repositories",
    "creds_file",
    "creds_env",
    "ca_file",
    "replicas",
];

/// Most servers of a cluster, and most repositories.
const MOST: usize = 32;

/// Longest name of a workspace, a user or a machine.
const LONGEST_NAME: usize = 32;

/// Most bytes of a file with credentials.
const LONGEST_CREDS: u64 = 16 * 1024;

/// Allowed values of a name.
const NAME: &str = "1 to 32 lowercase letters, digits and `-`";

/// Allowed values of `servers`.
const SERVERS: &str = "a list of 1 to 32 addresses such as `tls://nats.example.com:4222`; \
    `nats://` is for this machine only (`127.0.0.1`, `::1`, `localhost`), and an address holds no password";

/// Allowed values of `repositories`.
const REPOSITORIES: &str = "a list of 1 to 32 patterns such as `github.com/acme/*`; `*` shares all";

/// Allowed values of `replicas`.
const REPLICAS: &str =
    "1, 3 or 5: servers that keep each event, of a workspace that this machine creates";

/// Servers and workspace of the fleet.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetSetting {
    /// Addresses of the servers, each with its scheme.
    pub servers: Vec<String>,
    /// Name of what the machines share.
    pub workspace: String,
    /// Name of the person.
    pub user: String,
    /// Name of this machine.
    pub machine: String,
    /// Patterns of the repositories whose events are shared.
    pub repositories: Vec<String>,
    /// Credentials; `None` for a server on this machine that asks for none.
    pub credentials: Option<Credentials>,
    /// File with the certificates of the authority that signed the servers' certificates.
    pub ca_file: Option<PathBuf>,
    /// Number of servers that are to keep each event, if this machine creates the workspace.
    pub replicas: usize,
}

/// Credentials of a machine.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Name and password.
    Password(String, String),
    /// A token.
    Token(String),
}

impl std::fmt::Debug for FleetSetting {
    /// Leaves the credentials out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetSetting")
            .field("servers", &self.servers)
            .field("workspace", &self.workspace)
            .field("user", &self.user)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

/// Reason that the table `mesh.fleet` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FleetSettingError {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is no TOML.
    #[error("cannot parse {}: {reason}", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The fault.
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
    /// The variable of the credentials is not set here.
    #[error("{}: `mesh.fleet.creds_env` names ${variable}, which is not set", path.display())]
    Unset {
        /// The file.
        path: PathBuf,
        /// The variable.
        variable: String,
    },
    /// The file with the credentials cannot be used.
    #[error("{}: `mesh.fleet.creds_file` names {}, {reason}", path.display(), creds.display())]
    Creds {
        /// The file.
        path: PathBuf,
        /// The file with the credentials.
        creds: PathBuf,
        /// The fault, and what is allowed.
        reason: String,
    },
}

impl FleetSetting {
    /// Reads the table `mesh.fleet`; `None` if there is none, so that nothing leaves this machine.
    ///
    /// # Errors
    /// If the file cannot be read, a key or value is not allowed, or the credentials are missing. All faults of keys
    /// and values are named at once.
    pub fn read(
        disk: &Disk,
        homes: &Homes,
        environment: &Environment,
    ) -> Result<Option<Self>, FleetSettingError> {
        let path = &homes.user_config;
        let Some(bytes) = disk.read_if_there(path)? else {
            return Ok(None);
        };
        let not_toml = |reason: &str| FleetSettingError::NotToml {
            path: path.clone(),
            reason: reason.to_owned(),
        };
        let text = String::from_utf8(bytes).map_err(|_| not_toml("it is not UTF-8"))?;
        let file: Table = text
            .parse()
            .map_err(|error: toml::de::Error| not_toml(error.message()))?;
        let Some(table) = file.get("mesh").and_then(|mesh| mesh.get("fleet")) else {
            return Ok(None);
        };
        let mut reader = Reader {
            faults: Vec::new(),
            table: table.as_table(),
        };
        let setting = reader.read();
        let faults = reader.faults;
        if !faults.is_empty() {
            let path = path.clone();
            return Err(FleetSettingError::NotAllowed { path, faults });
        }
        let place = table.as_table().and_then(CredsPlace::of);
        let credentials = match place {
            None => None,
            Some(CredsPlace::Variable(variable)) => {
                let value = environment.get(&variable).and_then(|value| value.to_str());
                let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
                    let path = path.clone();
                    return Err(FleetSettingError::Unset { path, variable });
                };
                Some(Credentials::of(value))
            }
            Some(CredsPlace::File(file)) => {
                let creds = environment.at_home(&file);
                Some(read_creds(disk, path, &creds)?)
            }
        };
        let ca_file = setting
            .ca_file
            .map(|file| environment.at_home(&file.to_string_lossy()));
        Ok(Some(Self {
            credentials,
            ca_file,
            ..setting
        }))
    }
}

/// Place of the credentials.
enum CredsPlace {
    File(String),
    Variable(String),
}

impl CredsPlace {
    fn of(table: &Table) -> Option<Self> {
        let text = |key: &str| table.get(key)?.as_str().map(str::to_owned);
        let file = text("creds_file").map(Self::File);
        file.or_else(|| text("creds_env").map(Self::Variable))
    }
}

impl Credentials {
    /// Reads `USER:PASSWORD`, or a token if there is no colon.
    fn of(text: &str) -> Self {
        let text = text.trim();
        match text.split_once(':') {
            Some((user, password)) => Self::Password(user.to_owned(), password.to_owned()),
            None => Self::Token(text.to_owned()),
        }
    }
}

/// Reads a file with credentials, which only its user may read.
fn read_creds(disk: &Disk, path: &Path, creds: &Path) -> Result<Credentials, FleetSettingError> {
    let wrong = |reason: String| FleetSettingError::Creds {
        path: path.to_owned(),
        creds: creds.to_owned(),
        reason,
    };
    let Some(owner) = disk.ownership(creds)? else {
        return Err(wrong("which does not exist".to_owned()));
    };
    if owner.mode & 0o077 != 0 {
        let mode = owner.mode & 0o777;
        let allowed = "only its user may read it: run `chmod 600` on it";
        return Err(wrong(format!("whose mode is {mode:o} ({allowed})")));
    }
    let bytes = disk.read_at_most(creds, LONGEST_CREDS)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    if text.contains("BEGIN NATS USER JWT") {
        let allowed = "allowed: `USER:PASSWORD` or a token on one line";
        return Err(wrong(format!("which holds a JWT ({allowed})")));
    }
    if text.trim().is_empty() || text.trim().lines().count() > 1 {
        let allowed = "allowed: `USER:PASSWORD` or a token on one line";
        return Err(wrong(format!("which holds something else ({allowed})")));
    }
    Ok(Credentials::of(&text))
}

/// Reads values, and keeps what is wrong with them.
struct Reader<'t> {
    faults: Vec<String>,
    table: Option<&'t Table>,
}

impl Reader<'_> {
    fn read(&mut self) -> FleetSetting {
        let setting = FleetSetting {
            servers: self.servers(),
            workspace: self.name("workspace", None),
            user: self.name("user", None),
            machine: self.name("machine", own_name()),
            repositories: self.repositories(),
            credentials: None,
            ca_file: self.text("ca_file").map(PathBuf::from),
            replicas: self.replicas(),
        };
        let Some(table) = self.table else {
            self.faults = vec!["`mesh.fleet` must be a table".to_owned()];
            return setting;
        };
        for key in table.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            let allowed = KEYS.join(", ");
            let key = key.escape_debug();
            self.faults.push(format!(
                "unknown key `mesh.fleet.{key}` (allowed: {allowed})"
            ));
        }
        let has = |key: &str| table.contains_key(key);
        if has("creds_file") && has("creds_env") {
            let what =
                "`mesh.fleet` names both `creds_file` and `creds_env` (allowed: one of them)";
            self.faults.push(what.to_owned());
        }
        let is_remote = setting.servers.iter().any(|server| !is_loopback(server));
        if is_remote && !has("creds_file") && !has("creds_env") {
            let what =
                "`mesh.fleet.creds_file` or `creds_env` is missing (required beyond this machine)";
            self.faults.push(what.to_owned());
        }
        self.text("creds_file");
        let variable = self.text("creds_env");
        let is_variable = |name: &String| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            !name.is_empty() && name.bytes().all(is_letter)
        };
        if variable.is_some_and(|name| !is_variable(&name)) {
            // A user who put the credentials themselves there does not want them repeated.
            let what =
                "`mesh.fleet.creds_env` is not a name of a variable (its value is not shown)";
            self.faults.push(what.to_owned());
        }
        setting
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.table?.get(key)
    }

    fn refuse(&mut self, key: &str, value: Option<&Value>, allowed: &str) {
        let found = match value {
            Some(value) => {
                let text: String = value.to_string().chars().take(80).collect();
                format!("is {text}")
            }
            None => "is missing".to_owned(),
        };
        self.faults
            .push(format!("`mesh.fleet.{key}` {found} (allowed: {allowed})"));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let value = self.value(key)?.clone();
        let text = value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            let shown = (key != "creds_env").then_some(&value);
            self.refuse(key, shown, "text");
        }
        text.map(str::to_owned)
    }

    fn name(&mut self, key: &str, default: Option<String>) -> String {
        let value = self.value(key).cloned();
        let name = match &value {
            Some(value) => value.as_str().map(str::to_owned),
            None => default,
        };
        let Some(name) = name.filter(|name| is_name(name)) else {
            self.refuse(key, value.as_ref(), NAME);
            return String::new();
        };
        name
    }

    fn list(&mut self, key: &str, allowed: &str, is_one: impl Fn(&str) -> bool) -> Vec<String> {
        let value = self.value(key).cloned();
        let list = value.as_ref().and_then(Value::as_array);
        let texts = list.map(|list| {
            let texts = list
                .iter()
                .map(|text| text.as_str().filter(|text| is_one(text)));
            texts.map(|text| text.map(str::to_owned)).collect()
        });
        let texts: Option<Vec<String>> = texts.flatten();
        let Some(texts) = texts.filter(|texts| (1..=MOST).contains(&texts.len())) else {
            // An address may hold a password.
            let is_secret = key == "servers" && value.as_ref().is_some_and(has_password);
            let shown = value.as_ref().filter(|_| !is_secret);
            self.refuse(key, shown, allowed);
            return Vec::new();
        };
        texts
    }

    fn replicas(&mut self) -> usize {
        let Some(value) = self.value("replicas").cloned() else {
            return 1;
        };
        let number = value.as_integer().and_then(|it| usize::try_from(it).ok());
        // A cluster agrees by majority: an even number survives no more than the odd one below it.
        let number = number.filter(|number| matches!(number, 1 | 3 | 5));
        number.unwrap_or_else(|| {
            self.refuse("replicas", Some(&value), REPLICAS);
            1
        })
    }

    fn servers(&mut self) -> Vec<String> {
        self.list("servers", SERVERS, |server| {
            is_loopback(server) || is_address(server, "tls://")
        })
    }

    fn repositories(&mut self) -> Vec<String> {
        self.list("repositories", REPOSITORIES, |pattern| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/*~".contains(&byte);
            !pattern.is_empty() && pattern.len() <= 200 && pattern.bytes().all(is_letter)
        })
    }
}

fn has_password(value: &Value) -> bool {
    value.to_string().contains('@')
}

/// The host name of this machine, as far as it is a name.
fn own_name() -> Option<String> {
    let name = machine::name()?.to_ascii_lowercase();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let name: String = name.chars().filter(|letter| is_letter(*letter)).collect();
    Some(name.chars().take(LONGEST_NAME).collect())
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_letter)
}

/// Whether this is a host with an optional port behind a scheme.
fn is_address(server: &str, scheme: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]".contains(&byte);
    let host = server.strip_prefix(scheme);
    host.is_some_and(|host| !host.is_empty() && host.bytes().all(is_letter))
}

/// Whether a server is on this machine, so that it needs no TLS.
fn is_loopback(server: &str) -> bool {
    let scheme = ["nats://", "tls://"].into_iter();
    let mut hosts = scheme.filter_map(|scheme| {
        is_address(server, scheme).then_some(())?;
        server.strip_prefix(scheme)
    });
    let Some(host) = hosts.next() else {
        return false;
    };
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address: Option<std::net::IpAddr> = host.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}
