//! Servers that a person's own settings of a client name, in place of its makers'.
//!
//! Servers in variables are [`Client::servers`]' data and need no reading. Deliberately not here:
//! whether an executor may reach them, which is the business of confinement.

use std::path::Path;

use serde_json::Value;

use super::{
    Client, KeysIn,
    api_key::{json, overrule},
};

impl Client {
    /// The addresses of servers that the text of one of its settings has; `words` are those of its command, which
    /// may overrule them. Settings that cannot be understood name none.
    pub(crate) fn servers_in(&self, file: &Path, text: &str, words: &[String]) -> Vec<String> {
        let is_env = file.file_name().is_some_and(|name| name == ".env");
        match self.keys_in {
            KeysIn::DotEnv if is_env => in_env_file(text, self.servers),
            KeysIn::Helper | KeysIn::DotEnv => in_variables(text, self.servers),
            KeysIn::ChosenProvider => of_chosen_provider(text, words),
            KeysIn::Providers => of_all_providers(text),
        }
    }
}

fn in_env_file(text: &str, variables: &[&str]) -> Vec<String> {
    let named = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let (name, value) = line
            .strip_prefix("export ")
            .unwrap_or(line)
            .split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        variables.contains(&name.trim()).then(|| value.to_owned())
    });
    named.collect()
}

/// Variables that the settings set for the client.
fn in_variables(text: &str, variables: &[&str]) -> Vec<String> {
    let settings = json(text).unwrap_or_default();
    let values = variables
        .iter()
        .filter_map(|name| settings["env"][name].as_str());
    values.map(str::to_owned).collect()
}

fn of_chosen_provider(text: &str, words: &[String]) -> Vec<String> {
    let Ok(mut settings) = text.parse::<toml::Table>() else {
        return Vec::new();
    };
    for (option, setting) in words.iter().zip(words.iter().skip(1)) {
        if ["-c", "--config"].contains(&option.as_str()) {
            overrule(&mut settings, setting);
        }
    }
    let chosen = settings.get("model_provider").and_then(|it| it.as_str());
    let server = chosen.and_then(|chosen| {
        let providers = settings.get("model_providers")?;
        providers.get(chosen)?.get("base_url")?.as_str()
    });
    server.map(str::to_owned).into_iter().collect()
}

fn of_all_providers(text: &str) -> Vec<String> {
    let settings = json(text).unwrap_or_default();
    let providers = settings["provider"].as_object().into_iter().flatten();
    let servers = providers.filter_map(|(_, provider): (_, &Value)| {
        provider["options"]["baseURL"].as_str().map(str::to_owned)
    });
    servers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_format::Dialect;

    fn servers(dialect: Dialect, file: &str, text: &str, command: &str) -> Vec<String> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let client = Client::of(dialect).unwrap();
        client.servers_in(Path::new(file), text, &words)
    }

    /// CAL-EXE-2: a gateway that a person's settings name is one to talk to.
    #[test]
    fn a_server_is_found_in_the_settings_of_each_client() {
        let codex = "model_provider = \"own\"\n[model_providers.own]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                     [model_providers.other]\nbase_url = \"http://127.0.0.1:2/v1\"\n";
        let of_codex = |command| servers(Dialect::Codex, "config.toml", codex, command);
        assert_eq!(of_codex("codex exec"), ["http://127.0.0.1:1/v1"]);
        let overruled = of_codex("codex exec -c model_provider=other");
        assert_eq!(overruled, ["http://127.0.0.1:2/v1"]);
        let opencode = r#"{"provider": {"own": {"options": {"baseURL": "http://localhost:3/v1"}}, "x": {}}} // mine"#;
        let found = servers(Dialect::Opencode, "opencode.json", opencode, "opencode run");
        assert_eq!(found, ["http://localhost:3/v1"]);
        let claude = r#"{"env": {"ANTHROPIC_BASE_URL": "https://gate.example"}}"#;
        let found = servers(Dialect::Claude, "settings.json", claude, "claude");
        assert_eq!(found, ["https://gate.example"]);
        let env = "export GOOGLE_GEMINI_BASE_URL='http://127.0.0.1:4'\nOTHER=http://x\n";
        let found = servers(Dialect::Gemini, "/h/.gemini/.env", env, "gemini");
        assert_eq!(found, ["http://127.0.0.1:4"]);
        assert_eq!(
            servers(Dialect::Codex, "config.toml", "no = ", "codex"),
            [""; 0]
        );
    }
}
