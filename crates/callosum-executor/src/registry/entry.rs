//! One entry of the file, read and written.

use serde_json::{Map, Value};

use callosum_sandbox::{Policy, Whitelisted};

use super::executor::{Capabilities, Executor, InvalidId, Kind, Status};

/// Problem of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// It is not an object.
    #[error("not an object")]
    NotAnObject,
    /// A key that it must have is not there.
    #[error("`{key}` is missing")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A value is not an allowed one.
    #[error("`{key}` must be {allowed}")]
    Invalid {
        /// The key.
        key: &'static str,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The id does not fit.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// An entry before it has the same id.
    #[error("an earlier entry has the same id")]
    Duplicate,
}

/// The keys that we know, in the order in which a new entry is written.
const KEYS: [&str; 21] = [
    "id",
    "type",
    "version",
    "status",
    "capabilities",
    "command_template",
    "last_validated",
    "protocol",
    "quiet_ms",
    "total_ms",
    "pass_environment",
    "endpoint",
    "model",
    "api_key_env",
    "context_tokens",
    "tool",
    "argument",
    "confinement",
    "readable",
    "writable",
    "network",
];

/// Fewest tokens of a model that a question and an answer fit into.
const FEWEST_TOKENS: u64 = 1024;

/// Reads an entry. `version` and `capabilities` may be missing: then nothing is believed.
pub(super) fn read_entry(entry: &Value) -> Result<Executor, EntryFault> {
    let entry = entry.as_object().ok_or(EntryFault::NotAnObject)?;
    let id = required(entry, "id")?;
    Executor::check_id(id)?;
    let kind = match required(entry, "type")? {
        "cli" => Kind::Cli,
        "http" => Kind::Http,
        "mcp" => Kind::Mcp,
        _ => return Err(invalid("type", "`cli`, `http` or `mcp`")),
    };
    let status = match required(entry, "status")? {
        "active" => Status::Active,
        "inactive" => Status::Inactive,
        _ => return Err(invalid("status", "`active` or `inactive`")),
    };
    Ok(Executor {
        id: id.to_owned(),
        kind,
        version: text(entry, "version")?.unwrap_or("0.0.0").to_owned(),
        status,
        capabilities: capabilities(entry)?,
        command_template: required(entry, "command_template")?.to_owned(),
        last_validated: text(entry, "last_validated")?.map(str::to_owned),
        protocol: text(entry, "protocol")?.map(str::to_owned),
        quiet_ms: milliseconds(entry, "quiet_ms")?,
        total_ms: milliseconds(entry, "total_ms")?,
        pass_environment: names(entry, "pass_environment")?,
        endpoint: text(entry, "endpoint")?.map(str::to_owned),
        model: text(entry, "model")?.map(str::to_owned),
        api_key_env: variable(entry, "api_key_env")?,
        context_tokens: context_tokens(entry)?,
        tool: text(entry, "tool")?.map(str::to_owned),
        argument: text(entry, "argument")?.map(str::to_owned),
        confinement: policy(entry)?,
        readable: paths(entry, "readable")?,
        writable: paths(entry, "writable")?,
        network: hosts(entry)?,
        extra: entry
            .iter()
            .filter(|(key, _)| !KEYS.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    })
}

impl Executor {
    /// Whether its entry, once written, would be read again.
    pub fn check(&self) -> Result<(), EntryFault> {
        let mut entry = Value::Null;
        write_entry(self, &mut entry);
        read_entry(&entry).map(drop)
    }
}

/// Writes an executor over an entry: keys keep their places, and unset values are removed.
pub(super) fn write_entry(executor: &Executor, entry: &mut Value) {
    if !entry.is_object() {
        *entry = Value::Object(Map::new());
    }
    let Value::Object(entry) = entry else {
        return;
    };
    entry.retain(|key, _| KEYS.contains(&key.as_str()) || executor.extra.contains_key(key));
    let reported = executor.capabilities;
    let mut capabilities = match entry.get("capabilities") {
        Some(Value::Object(known)) => known.clone(),
        _ => Map::new(),
    };
    for (name, able) in [
        ("prompt_input", reported.prompt_input),
        ("json_output", reported.json_output),
        ("filesystem_access", reported.filesystem_access),
        ("checksum_support", reported.checksum_support),
    ] {
        capabilities.insert(name.to_owned(), able.into());
    }
    let list = |all: &[String]| (!all.is_empty()).then(|| all.to_vec().into());
    let text = |value: &Option<String>| value.clone().map(Value::from);
    let values: [Option<Value>; KEYS.len()] = [
        Some(executor.id.clone().into()),
        Some(executor.kind.as_str().into()),
        Some(executor.version.clone().into()),
        Some(executor.status.as_str().into()),
        Some(capabilities.into()),
        Some(executor.command_template.clone().into()),
        text(&executor.last_validated),
        text(&executor.protocol),
        executor.quiet_ms.map(Value::from),
        executor.total_ms.map(Value::from),
        list(&executor.pass_environment),
        text(&executor.endpoint),
        text(&executor.model),
        text(&executor.api_key_env),
        executor.context_tokens.map(Value::from),
        text(&executor.tool),
        text(&executor.argument),
        executor.confinement.map(|policy| policy.as_str().into()),
        list(&executor.readable),
        list(&executor.writable),
        list(&executor.network),
    ];
    for (key, value) in KEYS.into_iter().zip(values) {
        match value {
            Some(value) => {
                entry.insert(key.to_owned(), value);
            }
            None => {
                entry.shift_remove(key);
            }
        }
    }
    for (key, value) in &executor.extra {
        entry.insert(key.clone(), value.clone());
    }
}

fn invalid(key: &'static str, allowed: &'static str) -> EntryFault {
    EntryFault::Invalid { key, allowed }
}

fn text<'e>(
    entry: &'e Map<String, Value>,
    key: &'static str,
) -> Result<Option<&'e str>, EntryFault> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(key, "a string")),
    }
}

fn required<'e>(entry: &'e Map<String, Value>, key: &'static str) -> Result<&'e str, EntryFault> {
    text(entry, key)?.ok_or(EntryFault::Missing { key })
}

fn milliseconds(entry: &Map<String, Value>, key: &'static str) -> Result<Option<u64>, EntryFault> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(millis) if millis > 0 => Ok(Some(millis)),
            _ => Err(invalid(key, "a whole number of milliseconds above 0")),
        },
    }
}

fn context_tokens(entry: &Map<String, Value>) -> Result<Option<u64>, EntryFault> {
    match entry.get("context_tokens") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(tokens) if tokens >= FEWEST_TOKENS => Ok(Some(tokens)),
            _ => Err(invalid("context_tokens", "a whole number of at least 1024")),
        },
    }
}

fn variable(entry: &Map<String, Value>, key: &'static str) -> Result<Option<String>, EntryFault> {
    match text(entry, key)? {
        None => Ok(None),
        Some(name) if !name.is_empty() && !name.contains(['=', '\0', '*']) => {
            Ok(Some(name.to_owned()))
        }
        Some(_) => Err(invalid(key, "the name of an environment variable")),
    }
}

fn names(entry: &Map<String, Value>, key: &'static str) -> Result<Vec<String>, EntryFault> {
    strings(
        entry,
        key,
        "a list of names of environment variables",
        |name| !name.contains(['=', '\0']),
    )
}

fn paths(entry: &Map<String, Value>, key: &'static str) -> Result<Vec<String>, EntryFault> {
    strings(entry, key, "a list of paths", |path| !path.contains('\0'))
}

fn hosts(entry: &Map<String, Value>) -> Result<Vec<String>, EntryFault> {
    let allowed = "a list of hosts with ports, as `api.example.com:443`, or `*`";
    strings(entry, "network", allowed, |host| {
        Whitelisted::parse(host).is_ok()
    })
}

fn policy(entry: &Map<String, Value>) -> Result<Option<Policy>, EntryFault> {
    let Some(name) = text(entry, "confinement")? else {
        return Ok(None);
    };
    let known = Policy::named(name).map(Some);
    known.ok_or_else(|| invalid("confinement", "`required`, `best-effort` or `off`"))
}

/// A list of strings that are not empty and fit.
fn strings(
    entry: &Map<String, Value>,
    key: &'static str,
    allowed: &'static str,
    is_fit: impl Fn(&str) -> bool,
) -> Result<Vec<String>, EntryFault> {
    let all = match entry.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(value) => value.as_array(),
    };
    let read = |text: &Value| {
        let text = text.as_str()?;
        (!text.is_empty() && is_fit(text)).then(|| text.to_owned())
    };
    all.and_then(|all| all.iter().map(read).collect())
        .ok_or_else(|| invalid(key, allowed))
}

fn capabilities(entry: &Map<String, Value>) -> Result<Capabilities, EntryFault> {
    let wrong = || invalid("capabilities", "an object of booleans");
    let reported = match entry.get("capabilities") {
        None | Some(Value::Null) => return Ok(Capabilities::default()),
        Some(value) => value.as_object().ok_or_else(wrong)?,
    };
    let able = |name: &str| match reported.get(name) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(wrong),
    };
    Ok(Capabilities {
        prompt_input: able("prompt_input")?,
        json_output: able("json_output")?,
        filesystem_access: able("filesystem_access")?,
        checksum_support: able("checksum_support")?,
    })
}
