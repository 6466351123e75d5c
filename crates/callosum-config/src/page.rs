//! [`PageSetting`]: a proxy with TLS by which the page is reached, from the user's configuration.
//!
//! The user's own file alone is read. The token is a secret, and is in a variable that the file names.

use std::path::PathBuf;

use callosum_host::{Disk, DiskError};
use serde::Deserialize;

use super::{Environment, Homes};

/// Fewest characters of a token: 96 random bits in base64.
const SHORTEST_TOKEN: usize = 16;

/// A proxy with TLS by which other machines reach the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSetting {
    /// Name and port in the addresses that people type.
    pub host: String,
    /// The secret that a person enters once per browser.
    pub token: String,
}

/// The part of the file that is about this.
#[derive(Debug, Default, Deserialize)]
struct File {
    page: Option<Table>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    host: String,
    token_env: String,
}

/// Reason that the table `page` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PageSettingError {
    /// The file cannot be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is no TOML, or the table has other keys.
    #[error("cannot parse {}: {reason}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The variable of the token is not set here.
    #[error(
        "{}: `page.token_env` names ${variable}, which is not set; without a token no proxy is answered",
        path.display()
    )]
    Unset {
        /// The file.
        path: PathBuf,
        /// The variable.
        variable: String,
    },
    /// A value cannot be used.
    #[error("{}: `page.{key}` {reason}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key.
        key: &'static str,
        /// The fault, and what is allowed.
        reason: String,
    },
}

impl PageSetting {
    /// Reads the table `page`; `None` if there is none, so that the page is reached on this machine only.
    ///
    /// # Errors
    /// If the file cannot be read, or the table has no host or no token of at least 16 characters.
    pub fn read(
        disk: &Disk,
        homes: &Homes,
        environment: &Environment,
    ) -> Result<Option<Self>, PageSettingError> {
        let path = &homes.user_config;
        let Some(bytes) = disk.read_if_there(path)? else {
            return Ok(None);
        };
        let form = |reason: String| PageSettingError::Form {
            path: path.clone(),
            reason,
        };
        let text = String::from_utf8(bytes).map_err(|error| form(error.to_string()))?;
        let file: File = toml::from_str(&text).map_err(|error| form(error.message().to_owned()))?;
        let Some(Table { host, token_env }) = file.page else {
            return Ok(None);
        };
        let wrong = |key, reason: String| PageSettingError::Value {
            path: path.clone(),
            key,
            reason,
        };
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_host) {
            let reason =
                format!("is `{host}` (allowed: a host name, with a port if it is not 443)");
            return Err(wrong("host", reason));
        }
        let token = environment.get(&token_env).and_then(|token| token.to_str());
        match token {
            Some(token) if token.len() >= SHORTEST_TOKEN => Ok(Some(Self {
                host,
                token: token.to_owned(),
            })),
            Some(_) => {
                let reason =
                    format!("names ${token_env}, which is too short (at least 16 characters)");
                Err(wrong("token_env", reason))
            }
            None => Err(PageSettingError::Unset {
                path: path.clone(),
                variable: token_env,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    fn read(text: &str) -> Result<Option<PageSetting>, String> {
        let ground = TestDir::new();
        let homes = ground.homes();
        let disk = Disk::real();
        disk.create_dir_all(homes.user_config.parent().unwrap())
            .unwrap();
        disk.replace(&homes.user_config, text.as_bytes(), 0o600)
            .unwrap();
        let variables = [("TOKEN", "0123456789abcdef"), ("SHORT", "0123")];
        let environment = variables.into_iter().collect();
        PageSetting::read(&disk, &homes, &environment).map_err(|error| error.to_string())
    }

    /// CALC-SEC-1: beyond loopback the page needs a proxy with a token.
    #[test]
    fn a_proxy_needs_a_host_and_a_token() {
        assert_eq!(read("[other]\nkey = 1\n"), Ok(None));
        let found = read("[page]\nhost = \"agents.example.com\"\ntoken_env = \"TOKEN\"\n");
        assert_eq!(found.unwrap().unwrap().host, "agents.example.com");
        for (text, words) in [
            ("[page]\nhost = \"a\"\n", "token_env"),
            ("[page]\nhost = \"a\"\ntoken_env = \"SHORT\"\n", "too short"),
            ("[page]\nhost = \"a\"\ntoken_env = \"NONE\"\n", "not set"),
            (
                "[page]\nhost = \"https://a/\"\ntoken_env = \"TOKEN\"\n",
                "allowed: a host name",
            ),
            (
                "[page]\nhost = \"a\"\ntoken_env = \"TOKEN\"\nx = 1\n",
                "unknown field",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
