//! [`SinkSetting`]: a destination to which the daemon forwards events, from the user's configuration.
//!
//! The user's own file alone is read: a repository names no address to which agents' messages are
//! sent. An address is a secret, and is in a variable that the file names.

use std::{collections::BTreeMap, path::PathBuf};

use callosum_host::{Disk, DiskError};
use callosum_mesh::topic::Pattern;
use serde::Deserialize;

use super::{Environment, Homes};

/// Most places that events are passed on to.
const MOST: usize = 16;

/// Most patterns of one.
const MOST_TOPICS: usize = 32;

/// Longest name of one.
const LONGEST_NAME: usize = 32;

/// One place that events are passed on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SinkSetting {
    /// Its name: the key of its table.
    pub name: String,
    /// Protocol of the sink.
    pub kind: SinkKind,
    /// Topics that are forwarded.
    pub topics: Vec<Pattern>,
    /// The variable that holds its address.
    pub variable: String,
    /// The address; `None` where the variable is not set.
    pub address: Option<String>,
}

/// Protocol of a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SinkKind {
    /// Discord's webhooks.
    Discord,
}

/// The part of the file that is about this.
#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    sinks: BTreeMap<String, Table>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: SinkKind,
    url_env: String,
    #[serde(default)]
    topics: Vec<String>,
}

/// Reason that the user's configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SinksError {
    /// It cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// It is no TOML, or a table is not as it must be.
    #[error("cannot parse {}: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The fault, with its place.
        reason: String,
    },
    /// A value is none.
    #[error("{}: `{key}` is `{value}` (allowed: {allowed})", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The value.
        value: String,
        /// Allowed values.
        allowed: &'static str,
    },
}

impl SinkSetting {
    /// Reads all of them from the user's configuration; none where there is no such file.
    pub fn read_all(
        disk: &Disk,
        homes: &Homes,
        environment: &Environment,
    ) -> Result<Vec<Self>, SinksError> {
        let path = &homes.user_config;
        let Some(bytes) = disk.read_if_there(path)? else {
            return Ok(Vec::new());
        };
        let form = |reason: String| SinksError::Form {
            path: path.clone(),
            reason,
        };
        let text = String::from_utf8(bytes).map_err(|error| form(error.to_string()))?;
        let file: File = toml::from_str(&text).map_err(|error| {
            // Without the line itself, which may hold an address.
            let at = error.span().map_or(0, |span| span.start);
            let before = text.get(..at).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            form(format!("line {line}: {}", error.message()))
        })?;
        let wrong = |key: String, value: &str, allowed: &'static str| SinksError::Value {
            path: path.clone(),
            key,
            value: value.chars().take(80).collect(),
            allowed,
        };
        if file.sinks.len() > MOST {
            let count = file.sinks.len().to_string();
            return Err(wrong("sinks".to_owned(), &count, "at most 16 tables"));
        }
        let mut sinks = Vec::new();
        for (name, table) in file.sinks {
            let is_name = !name.is_empty()
                && name.len() <= LONGEST_NAME
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            if !is_name {
                let allowed = "1 to 32 lowercase letters, digits and `-`";
                return Err(wrong("sinks".to_owned(), &name, allowed));
            }
            let is_variable = !table.url_env.is_empty()
                && table
                    .url_env
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_variable {
                // A user who put the address itself there does not want it repeated.
                let allowed = "the name of a variable that holds the address";
                let key = format!("sinks.{name}.url_env");
                return Err(wrong(key, "not shown", allowed));
            }
            let key = || format!("sinks.{name}.topics");
            if table.topics.len() > MOST_TOPICS {
                let count = table.topics.len().to_string();
                return Err(wrong(key(), &count, "at most 32 patterns"));
            }
            let mut topics = Vec::new();
            for topic in &table.topics {
                let pattern = topic.parse::<Pattern>();
                let allowed = "topic patterns such as `calc.*`";
                topics.push(pattern.map_err(|_| wrong(key(), topic, allowed))?);
            }
            if topics.is_empty() {
                topics.push(Pattern::all());
            }
            let address = environment.get(&table.url_env);
            let address = address
                .and_then(|address| address.to_str())
                .map(str::to_owned);
            sinks.push(Self {
                kind: table.kind,
                topics,
                address,
                variable: table.url_env,
                name,
            });
        }
        Ok(sinks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    fn read(text: &str) -> Result<Vec<SinkSetting>, String> {
        let ground = TestDir::new();
        let homes = ground.homes();
        let disk = Disk::real();
        disk.create_dir_all(homes.user_config.parent().unwrap())
            .unwrap();
        disk.replace(&homes.user_config, text.as_bytes(), 0o600)
            .unwrap();
        let environment = [("HOOK", "https://example.org/x")].into_iter().collect();
        SinkSetting::read_all(&disk, &homes, &environment).map_err(|error| error.to_string())
    }

    /// CALC-L1-1: what is passed on, and where, is the user's own to say.
    #[test]
    fn a_sink_names_its_topics_and_the_variable_with_its_address() {
        let sinks = read(
            "[sinks.team]\nkind = \"discord\"\nurl_env = \"HOOK\"\ntopics = [\"calc.*\"]\n[other]\nkey = 1\n",
        );
        let sinks = sinks.unwrap();
        assert_eq!((&*sinks[0].name, &*sinks[0].variable), ("team", "HOOK"));
        assert_eq!(sinks[0].address.as_deref(), Some("https://example.org/x"));
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        for (text, part) in [
            ("[sinks.a]\nkind = \"slack\"\nurl_env = \"X\"\n", "line 2"),
            ("[sinks.a]\nkind = \"discord\"\n", "url_env"),
            (
                "[sinks.a]\nkind = \"discord\"\nurl_env = \"X\"\nurl = \"x\"\n",
                "unknown field",
            ),
            (
                "[sinks.\"../a\"]\nkind = \"discord\"\nurl_env = \"X\"\n",
                "lowercase letters",
            ),
            (
                "[sinks.a]\nkind = \"discord\"\nurl_env = \"X\"\ntopics = [\"..\"]\n",
                "sinks.a.topics",
            ),
            (
                "[sinks.a]\nkind = \"discord\"\nurl_env = \"https://x/secret\"\n",
                "name of a variable",
            ),
            ("[", "config.toml"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
