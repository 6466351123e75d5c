//! [`for_an_analysis`]: a client's settings as it sees them in the sandbox.
//!
//! A user's settings name tool servers, with keys in their environment, headers, arguments and
//! addresses, hooks that are called over HTTP, and what was typed in other projects. A `.env` and
//! the settings' own environment hold any text that the user put there. None of that is the
//! client's own, and an analysis asks no such server, so the copy names none. Deliberately not
//! here: which files these are ([`Client`](crate::client::Client)), and copying them.

use std::path::Path;

use jsonc_parser::{ParseOptions, cst::CstRootNode};
use serde_json::Value;

/// Keys of tool servers, at any depth in a file: the name of Claude Code, Gemini CLI and Qwen Code,
/// then that of Codex.
const SERVERS: [&str; 2] = ["mcpServers", "mcp_servers"];

/// Key of tool servers at the top of a file: opencode's name, and the prefix of other names.
const SERVERS_AT_TOP: &str = "mcp";

/// Keys of Codex's settings that concern others: the destination of its traces, with headers, and
/// the variables of the programs that it starts.
const OTHERS_OF_CODEX: [&str; 2] = ["otel", "shell_environment_policy"];

/// Key of variables at the top of Claude Code's settings, set for it and all that it starts.
const ENVIRONMENT: &str = "env";

/// Keys under which Claude Code keeps data about each project next to its settings, and in that the
/// history of prompts.
const PROJECTS: (&str, &str) = ("projects", "history");

/// Key of hooks, and the kind of hook that has headers of its own.
const HOOKS: (&str, &str) = ("hooks", "http");

/// Returns a settings file without tool servers, or a `.env` with only the variables in `named`;
/// `None` if it cannot be read in the format that its name implies.
pub(super) fn for_an_analysis(path: &Path, bytes: &[u8], named: &[&str]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    if path.file_name()? == ".env" {
        return Some(variables(text, named).into_bytes());
    }
    if path.extension().is_some_and(|it| it == "toml") {
        let mut whole: toml::Table = text.parse().ok()?;
        whole.remove(SERVERS_AT_TOP);
        for key in OTHERS_OF_CODEX {
            whole.remove(key);
        }
        strip_table(&mut whole);
        return Some(toml::to_string(&whole).ok()?.into_bytes());
    }
    // All of these clients take comments.
    let root = CstRootNode::parse(text, &ParseOptions::default()).ok()?;
    let mut whole = root.to_serde_value()?;
    if let Some(fields) = whole.as_object_mut() {
        fields.shift_remove(SERVERS_AT_TOP);
        if let Some(Value::Object(variables)) = fields.get_mut(ENVIRONMENT) {
            variables.retain(|name, _| is_the_clients(name, named));
        }
        if let Some(Value::Object(projects)) = fields.get_mut(PROJECTS.0) {
            let projects = projects.values_mut().filter_map(Value::as_object_mut);
            projects.for_each(|project| drop(project.shift_remove(PROJECTS.1)));
        }
        if let Some(hooks) = fields.get_mut(HOOKS.0) {
            without_http(hooks);
        }
    }
    strip(&mut whole);
    serde_json::to_vec_pretty(&whole).ok()
}

/// Whether a variable is one of those that are `named`, or of the same maker: begins as one of them does.
fn is_the_clients(name: &str, named: &[&str]) -> bool {
    let maker = |name: &str| name.split_once('_').map(|(maker, _)| maker.to_owned());
    let own = maker(name);
    named
        .iter()
        .any(|known| *known == name || own.is_some() && maker(known) == own)
}

/// Takes out the hooks that are asked over HTTP, wherever they stand.
fn without_http(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(without_http),
        Value::Array(items) => {
            items.retain(|item| item.get("type").and_then(Value::as_str) != Some(HOOKS.1));
            items.iter_mut().for_each(without_http);
        }
        _ => {}
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !SERVERS.contains(&key.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn strip_table(table: &mut toml::Table) {
    for key in SERVERS {
        table.remove(key);
    }
    for (_, value) in table.iter_mut() {
        if let Some(inner) = value.as_table_mut() {
            strip_table(inner);
        }
    }
}

/// The lines of a `.env` that set a named variable. Of a value over several lines only the first stays.
fn variables(text: &str, named: &[&str]) -> String {
    let sets_a_named_one = |line: &&str| {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let name = line.split('=').next().unwrap_or_default().trim();
        line.contains('=') && named.contains(&name)
    };
    let lines = text.lines().filter(sets_a_named_one);
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, text: &str) -> Option<String> {
        let bytes = for_an_analysis(Path::new(name), text.as_bytes(), &["GEMINI_API_KEY"]);
        bytes.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// CAL-SEC-1: servers of tools are in no copy, wherever they are named, and all else is.
    #[test]
    fn a_copy_names_no_servers_of_tools() {
        let file = r#"{
            // A comment, which is no JSON.
            "theme": "dark",
            "mcpServers": {"a": {"command": "x", "env": {"KEY": "canary"}}, "odd": 7},
            "mcp": {"b": {"type": "remote", "headers": {"A": "canary"}}},
            "projects": {"/p": {"mcp": "kept", "mcpServers": {"b": {"url": "https://u?key=canary"}}}},
            "list": [{"mcpServers": {"c": {"args": ["--key", "canary"]}}, "d": 1}],
        }"#;
        let copy: Value = serde_json::from_str(&shown("settings.json", file).unwrap()).unwrap();
        assert_eq!(
            copy,
            serde_json::json!({
                "theme": "dark", "projects": {"/p": {"mcp": "kept"}}, "list": [{"d": 1}]
            })
        );
        let file = "model = \"m\"\n[otel.exporter.otlp-http.headers]\nx = \"canary\"\n\
            [shell_environment_policy.set]\nKEY = \"canary\"\n[mcp_servers.a]\nbearer_token = \"canary\"\n\
            [mcp_servers.a.http_headers]\nX = \"canary\"\n\
            [profiles.p]\nmodel = \"n\"\n[profiles.p.mcp_servers.b.env]\nKEY = \"canary\"\n";
        let copy: toml::Table = shown("config.toml", file).unwrap().parse().unwrap();
        let kept = "model = \"m\"\n[profiles.p]\nmodel = \"n\"\n";
        assert_eq!(copy, kept.parse().unwrap());
    }

    /// CAL-SEC-1: neither are there variables of others, hooks with headers, nor what was typed elsewhere.
    #[test]
    fn a_copy_has_what_is_the_clients_own() {
        let file = r#"{
            "env": {"GEMINI_MODEL": "m", "GITHUB_TOKEN": "canary", "PLAIN": "canary"},
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "http", "url": "https://h", "headers": {"A": "canary"}},
                {"type": "command", "command": "callosum hook claude"}]}]},
            "projects": {"/p": {"history": [{"display": "canary"}], "hasTrustDialogAccepted": true}}
        }"#;
        let copy: Value = serde_json::from_str(&shown("settings.json", file).unwrap()).unwrap();
        assert_eq!(
            copy,
            serde_json::json!({
                "env": {"GEMINI_MODEL": "m"},
                "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                    {"type": "command", "command": "callosum hook claude"}]}]},
                "projects": {"/p": {"hasTrustDialogAccepted": true}}
            })
        );
    }

    /// CAL-SEC-1: of variables there are those that the client itself is known to want.
    #[test]
    fn a_copy_has_the_logins_variables_and_no_others() {
        let file = "# canary\nDATABASE_URL=canary\nexport GEMINI_API_KEY=own\n GEMINI_API_KEY = \"own\"\n\
            GEMINI_API_KEY_2=canary\nGEMINI_API_KEY\nSPLIT=\"a\ncanary\"\n";
        assert_eq!(
            shown(".env", file).unwrap(),
            "export GEMINI_API_KEY=own\n GEMINI_API_KEY = \"own\"\n"
        );
    }

    /// CAL-SEC-1: what cannot be read is not shown as it is.
    #[test]
    fn a_file_that_cannot_be_read_is_not_shown() {
        for (name, text) in [("settings.json", "{broken"), ("config.toml", "= broken")] {
            assert_eq!(shown(name, text), None, "{name}");
        }
        assert_eq!(
            for_an_analysis(Path::new("a.json"), b"{\"\xff\": 1}", &[]),
            None
        );
    }
}
