//! [`settings`]: the tables `models` and `arbiter`, with every fault in them.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use toml::{Table, Value};

use super::{ModelKind, ModelSetting, ModelSettings, ServedModels, TokenPlace};

/// Most models, and most names in a list.
const MOST: usize = 32;

/// Longest name, in bytes.
const LONGEST_NAME: usize = 64;

/// Names that mean something else: built-in models, and the built-in executor.
const RESERVED: [&str; 2] = ["echo", "scout"];

const NAME: &str =
    "1 to 64 letters, digits, `.`, `_` and `-`, a letter or digit first, and not `echo` or `scout`";

const URL: &str =
    "https://HOST/…, or http:// with a loopback address, without user, query and fragment";

/// Returns what the tables say, and each fault with its key, its value and what is allowed.
pub(super) fn settings(file: &Table, folder: &Path) -> (ModelSettings, Vec<String>) {
    let mut reader = Reader {
        folder,
        faults: Vec::new(),
    };
    let mut settings = ModelSettings::default();
    match file.get("models") {
        None => {}
        Some(Value::Table(models)) if models.len() > MOST => {
            let count = Value::String(models.len().to_string());
            reader.refuse("models", &count, "at most 32 tables");
        }
        Some(Value::Table(models)) => {
            for (name, value) in models {
                settings.models.extend(reader.model(name, value));
            }
        }
        Some(value) => reader.refuse("models", value, "a table for each model"),
    }
    if let Some(value) = file.get("arbiter") {
        reader.arbiter(value, &mut settings);
    }
    (settings, reader.faults)
}

struct Reader<'f> {
    folder: &'f Path,
    faults: Vec<String>,
}

impl Reader<'_> {
    fn model(&mut self, name: &str, value: &Value) -> Option<ModelSetting> {
        if !is_name(name) || RESERVED.contains(&name) {
            self.refuse("models", &Value::String(name.to_owned()), NAME);
            return None;
        }
        let key = format!("models.{name}");
        let Value::Table(table) = value else {
            self.refuse(&key, value, "a table");
            return None;
        };
        let kinds = ModelKind::ALL.join(", ");
        let word = match table.get("kind") {
            None => {
                self.missing(&format!("{key}.kind"), &kinds);
                return None;
            }
            Some(value) => match value.as_str() {
                Some(word) if ModelKind::ALL.contains(&word) => word,
                _ => {
                    self.refuse(&format!("{key}.kind"), value, &kinds);
                    return None;
                }
            },
        };
        let known: &[&str] = match word {
            "stub" => &["kind", "trust_tier", "script"],
            "local" => &["kind", "trust_tier", "url", "model", "context_tokens"],
            _ => &[
                "kind",
                "trust_tier",
                "url",
                "model",
                "token_file",
                "token_env",
            ],
        };
        self.known(&key, table, known);
        let tier = self.number(&key, table, "trust_tier", 0..=2);
        let kind = match word {
            "stub" => ModelKind::Stub {
                script: self.path(&key, table, "script")?,
            },
            "local" => {
                let context_tokens = self.number(&key, table, "context_tokens", 1_024..=10_000_000);
                ModelKind::Local {
                    url: self.url(&key, table)?,
                    model: self
                        .text(&key, table, "model", "the model's name at its server")
                        .unwrap_or_else(|| "default".to_owned()),
                    context_tokens,
                }
            }
            _ => {
                let url = self.url(&key, table);
                let token = self.token(&key, table, "");
                let model = self.text(&key, table, "model", "the model's name there");
                if model.is_none() && !table.contains_key("model") {
                    self.missing(&format!("{key}.model"), "the model's name there");
                }
                ModelKind::RemoteArbiter {
                    url: url?,
                    token: token?,
                    model: model?,
                }
            }
        };
        Some(ModelSetting {
            name: name.to_owned(),
            kind,
            trust_tier: tier.and_then(|tier| u8::try_from(tier).ok()),
        })
    }

    fn arbiter(&mut self, value: &Value, settings: &mut ModelSettings) {
        let Value::Table(table) = value else {
            self.refuse("arbiter", value, "a table");
            return;
        };
        let known = [
            "planner",
            "reviewers",
            "serve_models",
            "serve_token_file",
            "serve_token_env",
        ];
        self.known("arbiter", table, &known);
        settings.planner = self.text("arbiter", table, "planner", "the name of a model");
        settings.reviewers = self.names(table, "reviewers");
        let served = self.names(table, "serve_models");
        for name in &served {
            if name != RESERVED[0] && settings.get(name).is_none() {
                let allowed = "names of the tables `models`, and `echo`";
                let shown = Value::String(name.clone());
                self.refuse("arbiter.serve_models", &shown, allowed);
            }
        }
        let has_token =
            table.contains_key("serve_token_file") || table.contains_key("serve_token_env");
        if served.is_empty() && !has_token {
            return;
        }
        if let Some(token) = self.token("arbiter", table, "serve_")
            && !served.is_empty()
        {
            settings.served = Some(ServedModels {
                names: served,
                token,
            });
        }
    }

    fn known(&mut self, key: &str, table: &Table, known: &[&str]) {
        for name in table.keys().filter(|name| !known.contains(&name.as_str())) {
            let name = name.escape_debug();
            let allowed = known.join(", ");
            self.faults
                .push(format!("`{key}.{name}` is unknown (allowed: {allowed})"));
        }
    }

    fn text(&mut self, key: &str, table: &Table, name: &str, allowed: &str) -> Option<String> {
        let value = table.get(name)?;
        let text = value.as_str().filter(|text| {
            let is_shown = |c: char| !c.is_control();
            (1..=200).contains(&text.len()) && text.chars().all(is_shown)
        });
        if text.is_none() {
            self.refuse(&format!("{key}.{name}"), value, allowed);
        }
        text.map(str::to_owned)
    }

    fn names(&mut self, table: &Table, name: &str) -> Vec<String> {
        let Some(value) = table.get(name) else {
            return Vec::new();
        };
        let names = value.as_array().map(|names| {
            let names = names
                .iter()
                .map(|name| name.as_str().filter(|name| is_name(name)));
            names
                .map(|name| name.map(str::to_owned))
                .collect::<Option<Vec<_>>>()
        });
        let names = names.flatten().filter(|names| names.len() <= MOST);
        if names.is_none() {
            let allowed = "a list of up to 32 names of models";
            self.refuse(&format!("arbiter.{name}"), value, allowed);
        }
        names.unwrap_or_default()
    }

    fn number(
        &mut self,
        key: &str,
        table: &Table,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = table.get(name)?;
        let number = value
            .as_integer()
            .and_then(|number| u64::try_from(number).ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let allowed = format!("a whole number from {} to {}", range.start(), range.end());
            self.refuse(&format!("{key}.{name}"), value, &allowed);
        }
        number
    }

    fn url(&mut self, key: &str, table: &Table) -> Option<String> {
        let name = format!("{key}.url");
        let Some(value) = table.get("url") else {
            self.missing(&name, URL);
            return None;
        };
        let url = value.as_str().filter(|url| is_safe(url));
        if url.is_none() {
            // An address with a password in it is not shown.
            let shown = value.as_str().filter(|url| !url.contains(['@', '?']));
            let shown = Value::String(shown.unwrap_or("not shown").to_owned());
            self.refuse(&name, &shown, URL);
        }
        url.map(str::to_owned)
    }

    fn path(&mut self, key: &str, table: &Table, name: &str) -> Option<PathBuf> {
        let allowed = "the path of a file, below the folder of this one unless it is absolute";
        if !table.contains_key(name) {
            self.missing(&format!("{key}.{name}"), allowed);
        }
        let path = self.text(key, table, name, allowed)?;
        Some(self.folder.join(path))
    }

    /// Reads `…token_file` or `…token_env`; one of them must be given.
    fn token(&mut self, key: &str, table: &Table, prefix: &str) -> Option<TokenPlace> {
        let (file, variable) = (format!("{prefix}token_file"), format!("{prefix}token_env"));
        let allowed =
            format!("`{file}`, a file, or `{variable}`, a variable, that holds the token");
        match (table.get(&file), table.get(&variable)) {
            (Some(_), None) => self.path(key, table, &file).map(TokenPlace::File),
            (None, Some(value)) => {
                let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                let name = value.as_str();
                let name = name.filter(|name| !name.is_empty() && name.bytes().all(is_word));
                if name.is_none() {
                    // A token that was put here by mistake is not repeated.
                    let shown = Value::String("not shown".to_owned());
                    let allowed = "the name of a variable that holds the token";
                    self.refuse(&format!("{key}.{variable}"), &shown, allowed);
                }
                name.map(|name| TokenPlace::Variable(name.to_owned()))
            }
            (None, None) => {
                self.missing(&format!("{key}.{file}"), &allowed);
                None
            }
            (Some(_), Some(_)) => {
                let what =
                    format!("`{key}` has both `{file}` and `{variable}` (allowed: one of them)");
                self.faults.push(what);
                None
            }
        }
    }

    fn missing(&mut self, key: &str, allowed: &str) {
        self.faults
            .push(format!("`{key}` is missing (allowed: {allowed})"));
    }

    fn refuse(&mut self, key: &str, value: &Value, allowed: &str) {
        let shown: String = value.to_string().chars().take(80).collect();
        self.faults
            .push(format!("`{key}` is {shown} (allowed: {allowed})"));
    }
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(fits)
}

/// Whether no one between here and the server can read what is sent there.
fn is_safe(url: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"@?#\"\\".contains(&byte);
    if !url.bytes().all(is_plain) {
        return false;
    }
    let authority = |rest: &str| rest.split('/').next().unwrap_or_default().to_owned();
    if let Some(rest) = url.strip_prefix("https://") {
        return !host(&authority(rest)).is_empty();
    }
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let authority = authority(rest);
    let host = host(&authority);
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// Returns the host without its port and without brackets.
fn host(authority: &str) -> &str {
    if let Some(inner) = authority.strip_prefix('[') {
        return inner.split(']').next().unwrap_or_default();
    }
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}
