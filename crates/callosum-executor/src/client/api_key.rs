//! [`Key`]: source of a client's key for its models, if its own settings configure one.
//!
//! Start with [`Client::keys`]. Only two facts leave this file: that a key exists, or the name of
//! the variable that holds it. No part of a key is kept or reported. Deliberately not here: logins
//! ([`LoginStatus`](super::LoginStatus)), and whether a variable is set and passed on, which the
//! program knows.

use std::path::{Path, PathBuf};

use callosum_host::{Disk, DiskError};
use jsonc_parser::{ParseOptions, cst::CstRootNode};
use serde_json::Value;

use super::Client;

/// Source of a client's key, as an alternative to a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// Its settings have one, or the server that they name wants none.
    Settled,
    /// It is looked for in this variable.
    Variable(String),
}

/// Place in a client's settings that configures keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysIn {
    /// A helper that prints one, or variables that are set for the client.
    Helper,
    /// The provider that is chosen, in TOML.
    ChosenProvider,
    /// A `.env` next to the settings, and the key that the user typed when choosing the kind of
    /// login.
    DotEnv,
    /// The options of any provider, in JSON.
    Providers,
}

impl Client {
    /// Returns the keys that the client's settings configure, in its own `folder` and elsewhere
    /// below `home`. `words` are the words of its command, which may override them.
    ///
    /// Settings that cannot be parsed configure nothing. A file that cannot be read is an error.
    pub fn keys(
        &self,
        disk: &Disk,
        home: &Path,
        folder: &Path,
        words: &[String],
    ) -> Result<Vec<Key>, DiskError> {
        let mut keys = Vec::new();
        for path in self.names_servers {
            let path = self.below(path, home, folder);
            let bytes = match disk.read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.is_absent() => Vec::new(),
                Err(error) => return Err(error),
            };
            let text = String::from_utf8_lossy(&bytes);
            let is_env = path.file_name().is_some_and(|name| name == ".env");
            keys.extend(match self.keys_in {
                KeysIn::DotEnv if is_env => in_env_file(&text, self.login.variables),
                KeysIn::Helper | KeysIn::DotEnv => in_settings(&text, self.login.variables),
                KeysIn::ChosenProvider => of_chosen_provider(&text, words),
                KeysIn::Providers => of_any_provider(&text),
            });
        }
        Ok(keys)
    }

    /// Returns a path of its table, which begins with `~/`; its own folder may be another than
    /// usual.
    fn below(&self, path: &str, home: &Path, folder: &Path) -> PathBuf {
        let path = path.trim_start_matches("~/");
        match Path::new(path).strip_prefix(self.home.folder) {
            Ok(own) => folder.join(own),
            Err(_) => home.join(path),
        }
    }
}

/// The variables of a `.env` that are given a value.
fn in_env_file(text: &str, variables: &[&str]) -> Vec<Key> {
    let gives = |line: &str| {
        let line = line.trim_start();
        let (name, value) = line
            .strip_prefix("export ")
            .unwrap_or(line)
            .split_once('=')?;
        let is_there = !value.trim().trim_matches(['"', '\'']).is_empty();
        (is_there && variables.contains(&name.trim())).then_some(Key::Settled)
    };
    text.lines().filter_map(gives).collect()
}

/// A helper, a variable that is set in the settings, or a key that was typed.
fn in_settings(text: &str, variables: &[&str]) -> Vec<Key> {
    let Some(settings) = json(text) else {
        return Vec::new();
    };
    let variables = variables.iter().map(|name| format!("/env/{name}"));
    let pointers = ["/apiKeyHelper", "/security/auth/apiKey"].map(str::to_owned);
    let mut values = pointers
        .into_iter()
        .chain(variables)
        .filter_map(|pointer| settings.pointer(&pointer)?.as_str());
    values
        .any(|value| !value.is_empty())
        .then_some(Key::Settled)
        .into_iter()
        .collect()
}

/// Finds the key of the provider that the settings choose, or the command.
fn of_chosen_provider(text: &str, words: &[String]) -> Vec<Key> {
    let Ok(mut settings) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    for (option, setting) in words.iter().zip(words.iter().skip(1)) {
        if ["-c", "--config"].contains(&option.as_str()) {
            overrule(&mut settings, setting);
        }
    }
    if words.iter().any(|word| word == "--oss") {
        return vec![Key::Settled];
    }
    let Some(chosen) = settings.get("model_provider").and_then(|it| it.as_str()) else {
        return Vec::new();
    };
    // Servers on this machine that the client knows by these names.
    if ["ollama", "lmstudio"].contains(&chosen) {
        return vec![Key::Settled];
    }
    let providers = settings.get("model_providers");
    let Some(provider) = providers.and_then(|all| all.get(chosen)) else {
        return Vec::new();
    };
    if let Some(variable) = provider.get("env_key").and_then(|it| it.as_str()) {
        return vec![Key::Variable(variable.to_owned())];
    }
    let wants_login = provider
        .get("requires_openai_auth")
        .and_then(toml::Value::as_bool)
        .unwrap_or_default();
    if wants_login {
        Vec::new()
    } else {
        vec![Key::Settled]
    }
}

/// Writes `a.b=value` into settings; a value that is no TOML is a text.
pub(super) fn overrule(settings: &mut toml::Table, setting: &str) {
    let Some((key, value)) = setting.split_once('=') else {
        return;
    };
    let value = format!("value = {value}")
        .parse::<toml::Table>()
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| value.into());
    let mut parts: Vec<&str> = key.trim().split('.').collect();
    let Some(last) = parts.pop() else {
        return;
    };
    let mut table = settings;
    for part in parts {
        let inner = table
            .entry(part)
            .or_insert_with(|| toml::Table::new().into());
        let Some(inner) = inner.as_table_mut() else {
            return;
        };
        table = inner;
    }
    table.insert(last.to_owned(), value);
}

/// The keys of providers, each written out, or the name of a variable.
fn of_any_provider(text: &str) -> Vec<Key> {
    let settings = json(text);
    let providers = settings.as_ref().and_then(|all| all.get("provider"));
    let providers = providers.and_then(Value::as_object).into_iter().flatten();
    let key = |(_, provider): (_, &Value)| {
        let options = provider.get("options");
        let setting = options.and_then(|options| options.get("apiKey"));
        let setting = setting
            .and_then(Value::as_str)
            .filter(|key| !key.is_empty());
        match setting.map(|setting| setting.strip_prefix("{env:").ok_or(setting)) {
            Some(Ok(variable)) => Some(Key::Variable(variable.trim_end_matches('}').to_owned())),
            Some(Err(_)) => Some(Key::Settled),
            // A server of one's own that is given no key wants none.
            None => options?.get("baseURL").map(|_| Key::Settled),
        }
    };
    providers.filter_map(key).collect()
}

/// JSON as these clients read it: with comments.
pub(super) fn json(text: &str) -> Option<Value> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    root.to_serde_value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::Dialect;

    fn variable(name: &str) -> Vec<Key> {
        vec![Key::Variable(name.to_owned())]
    }

    /// Returns a client's keys if one file below its home has this text.
    fn keys(dialect: Dialect, file: &str, text: &str, command: &str) -> Vec<Key> {
        let home = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let file = home.path().join(file);
        disk.create_dir_all(file.parent().unwrap()).unwrap();
        disk.replace(&file, text.as_bytes(), 0o600).unwrap();
        let client = Client::of(dialect).unwrap();
        let folder = client.folder(home.path(), None);
        let words = shlex::split(command).unwrap();
        client.keys(&disk, home.path(), &folder, &words).unwrap()
    }

    /// CAL-EXE-1: the variable is that of the provider which is chosen, by settings or by the command.
    #[test]
    fn the_chosen_providers_key_is_the_one_that_counts() {
        let codex =
            |text: &str, command: &str| keys(Dialect::Codex, ".codex/config.toml", text, command);
        let two = "model_provider = \"mine\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"\n\
                   [model_providers.free]\nbase_url = \"http://127.0.0.1:1\"\n\
                   [model_providers.house]\nrequires_openai_auth = true\n";
        assert_eq!(codex(two, "codex exec -"), variable("MY_KEY"));
        assert_eq!(
            codex(two, "codex exec -c model_provider=free -"),
            [Key::Settled]
        );
        assert_eq!(
            codex(two, "codex exec --config model_provider='\"house\"'"),
            []
        );
        let own = "codex -c model_provider=x -c 'model_providers.x.env_key=\"X_KEY\"' exec -";
        assert_eq!(codex("", own), variable("X_KEY"));
        assert_eq!(codex("", "codex exec --oss -"), [Key::Settled]);
        assert_eq!(codex("model = \"m\"\n", "codex exec -"), []);
        assert_eq!(codex("= broken", "codex exec -"), []);
    }

    /// CAL-EXE-1: a key in opencode's own file is one, by value or by the name of a variable.
    #[test]
    fn a_key_in_a_providers_options_is_seen() {
        let opencode = |options: &str| {
            let text =
                format!("{{// a comment\n\"provider\": {{\"p\": {{\"options\": {options}}}}}}}");
            let file = ".config/opencode/opencode.json";
            keys(Dialect::Opencode, file, &text, "opencode run")
        };
        assert_eq!(opencode(r#"{"apiKey": "canary"}"#), [Key::Settled]);
        assert_eq!(opencode(r#"{"apiKey": "{env:P_KEY}"}"#), variable("P_KEY"));
        assert_eq!(opencode(r#"{"apiKey": "{file:~/.key}"}"#), [Key::Settled]);
        let local = opencode(r#"{"baseURL": "http://127.0.0.1:1"}"#);
        assert_eq!(local, [Key::Settled]);
        assert_eq!(opencode(r#"{"apiKey": ""}"#), []);
        assert_eq!(opencode("{}"), []);
    }

    /// CAL-EXE-1: what a `.env`, a helper or a chosen kind of login gives is a key too.
    #[test]
    fn other_clients_keys_are_seen_where_they_stand() {
        let gemini = |text: &str| keys(Dialect::Gemini, ".gemini/.env", text, "gemini");
        assert_eq!(gemini("export GEMINI_API_KEY=canary\n"), [Key::Settled]);
        assert_eq!(gemini("GEMINI_API_KEY=\"\"\nOTHER=canary\n"), []);
        let claude = |text: &str| keys(Dialect::Claude, ".claude/settings.json", text, "claude -p");
        assert_eq!(claude(r#"{"apiKeyHelper": "pass show x"}"#), [Key::Settled]);
        let set = r#"{"env": {"ANTHROPIC_AUTH_TOKEN": "canary"}}"#;
        assert_eq!(claude(set), [Key::Settled]);
        assert_eq!(claude(r#"{"env": {"OTHER": "canary"}}"#), []);
        let typed = r#"{"security": {"auth": {"apiKey": "canary"}}}"#;
        let qwen = keys(Dialect::Qwen, ".qwen/settings.json", typed, "qwen");
        assert_eq!(qwen, [Key::Settled]);
    }
}
