//! [`Needs`]: folders and hosts that a known client needs because its own variables name them.
//!
//! An entry lists the folders and hosts that a client may use ([`Executor::grant_needs`]). A person
//! whose variables point the client at another folder or another server has granted that already,
//! and the client gets those variables.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use callosum_host::Disk;

use crate::{client::Client, registry::Executor};
use callosum_sandbox::Whitelisted;

/// Folders, files and hosts that the variables of a known client name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Path of its own folder; a replacement is made for it and mounted there.
    pub(super) own: Option<String>,
    /// Files in it that the client reads, unless its entry lists them.
    pub(super) readable: Vec<String>,
    /// Its logins in that.
    pub(super) logins: Vec<String>,
    /// Files that the client gets a copy of.
    pub(super) copied: Vec<String>,
    /// Readable files that it gets a copy of, without the parts that are not its own.
    pub(super) settings: Vec<String>,
    /// Variables that may be in such a copy.
    pub(super) variables: Vec<&'static str>,
    /// Paths that it writes if it cannot get a folder of its own.
    pub(super) kept: Vec<String>,
    /// The servers that it is to talk to.
    pub(super) hosts: Vec<Whitelisted>,
}

impl Needs {
    /// Returns the same as [`of`](Self::of), and the servers that the user's own settings of the
    /// client name: the user has granted them as much as those of variables. A file that cannot be
    /// read names none.
    pub(super) fn with_settings(
        executor: &Executor,
        environment: &[(OsString, OsString)],
        disk: &Disk,
    ) -> Self {
        let mut needs = Self::of(executor, environment);
        let Some(client) = Client::behind(executor) else {
            return needs;
        };
        let home = value(environment, "HOME").map(Path::new);
        let words = shlex::split(&executor.command_template).unwrap_or_default();
        for path in &needs.settings {
            let text = at(path, home).and_then(|path| Some((disk.read(&path).ok()?, path)));
            let Some((text, path)) = text else {
                continue;
            };
            let text = String::from_utf8_lossy(&text);
            let servers = client.servers_in(&path, &text, &words);
            needs
                .hosts
                .extend(servers.iter().filter_map(|url| server(url)));
        }
        needs
    }

    /// Reads what an executor is given. Values that make no sense name nothing.
    pub(super) fn of(executor: &Executor, environment: &[(OsString, OsString)]) -> Self {
        let Some(client) = Client::behind(executor) else {
            return Self::default();
        };
        let value = |name: &str| {
            let mut known = environment.iter();
            let found = known.find(|(known, _)| known == name)?;
            found.1.to_str().filter(|value| !value.is_empty())
        };
        let folder = client.home.variable.and_then(value);
        let servers = client.servers.iter().copied().filter_map(value);
        let hosts = servers.filter_map(server).collect();
        let all =
            |paths: &[&str]| -> Vec<String> { paths.iter().map(ToString::to_string).collect() };
        let variables: Vec<&str> = [client.login.variables, client.passed].concat();
        let usual = format!("~/{}/", client.home.folder);
        let Some(folder) = folder else {
            let granted = all(client.writes);
            let granted_once = all(client.keeps);
            let may = |wishes: &[String]| wishes.iter().any(|one| executor.writable.contains(one));
            let is_granted = may(&granted) || may(&granted_once);
            return Self {
                own: Some(usual.trim_end_matches('/').to_owned()),
                // Older entries granted the folder alone.
                readable: if may(&granted_once) {
                    all(client.reads)
                } else {
                    Vec::new()
                },
                logins: if is_granted { granted } else { Vec::new() },
                copied: all(client.copies),
                settings: all(client.names_servers),
                variables,
                kept: if is_granted { granted_once } else { Vec::new() },
                hosts,
            };
        };
        let there = |paths: &[&str]| {
            let within = |path: &&str| {
                path.strip_prefix(&usual)
                    .map(|rest| format!("{folder}/{rest}"))
            };
            paths.iter().filter_map(within).collect()
        };
        let beside = |path: &&str| format!("{folder}/{}", path.rsplit('/').next().unwrap_or(path));
        Self {
            own: Some(folder.to_owned()),
            readable: there(client.reads),
            logins: there(client.writes),
            copied: client.copies.iter().map(beside).collect(),
            settings: there(client.names_servers),
            variables,
            kept: vec![format!("{folder}/")],
            hosts,
        }
    }
}

/// A path that an entry names as its person would: from the home folder, or whole.
fn at(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(within) => Some(home?.join(within)),
        None => Some(PathBuf::from(path)),
    }
}

/// The host of an address such as `https://models.example:8443/v1`.
fn server(url: &str) -> Option<Whitelisted> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let port = match scheme.to_ascii_lowercase().as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let named = Whitelisted::parse(host).or_else(|_| Whitelisted::parse(&format!("{host}:{port}")));
    named
        .ok()
        .filter(|named| named.host != callosum_sandbox::ANY)
}

/// The value of a variable.
pub(super) fn value<'e>(environment: &'e [(OsString, OsString)], name: &str) -> Option<&'e OsStr> {
    let mut known = environment.iter();
    known
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.as_os_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::Known;

    #[test]
    fn the_server_of_an_address_is_its_host_and_port() {
        let read = |url: &str| server(url).map(|one| (one.host, one.port.unwrap()));
        assert_eq!(
            read("https://Models.example/v1"),
            Some(("models.example".into(), 443))
        );
        assert_eq!(
            read("http://user:word@127.0.0.1:18080"),
            Some(("127.0.0.1".into(), 18080))
        );
        assert_eq!(read("http://[::1]:1/x"), Some(("::1".into(), 1)));
        for wrong in [
            "",
            "models.example",
            "ftp://a",
            "http://",
            "http://*",
            "http://a b/",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    /// CAL-SEC-1: an entry that was written when the whole folder was granted gives no more than one of
    /// today, and one that grants no login gives none.
    #[test]
    fn an_entry_of_before_grants_what_one_of_today_does() {
        let of = |writable: &[&str]| {
            let mut executor = Executor::cli("claude", "claude -p");
            executor.protocol = Some("claude".to_owned());
            executor.writable = writable.iter().map(ToString::to_string).collect();
            Needs::of(&executor, &[])
        };
        let before = of(&["~/.claude/", "~/.claude.json"]);
        assert_eq!(before.logins, ["~/.claude/.credentials.json"]);
        assert!(
            before
                .readable
                .contains(&"~/.claude/settings.json".to_owned())
        );
        let today = of(&["~/.claude/.credentials.json"]);
        assert_eq!(today.logins, before.logins);
        assert_eq!(today.own.as_deref(), Some("~/.claude"));
        let none = of(&[]);
        assert!(none.logins.is_empty() && none.kept.is_empty());
    }

    /// A variable of one client means nothing to another, and nothing to an unknown client.
    #[test]
    fn only_a_clients_own_variables_count() {
        let environment: Vec<(OsString, OsString)> = [
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"),
            ("CLAUDE_CONFIG_DIR", "/srv/claude"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:2"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
        let of = |protocol: Option<&str>| {
            let mut executor = Executor::cli("a", "a");
            executor.protocol = protocol.map(str::to_owned);
            Needs::of(&executor, &environment)
        };
        let claude = of(Some("claude"));
        assert_eq!(claude.own.as_deref(), Some("/srv/claude"));
        assert_eq!(claude.kept, ["/srv/claude/"]);
        assert_eq!(claude.logins, ["/srv/claude/.credentials.json"]);
        assert!(
            claude
                .readable
                .contains(&"/srv/claude/settings.json".to_owned())
        );
        assert_eq!(claude.copied, ["/srv/claude/.claude.json"]);
        assert_eq!(claude.hosts[0].port, Some(1));
        assert_eq!(of(Some("qwen")).hosts[0].port, Some(2));
        assert_eq!(of(Some("text")), Needs::default());
        assert_eq!(of(None), Needs::default());
    }

    /// CAL-EXE-2: a gateway of a person's own settings is reached as one that a variable names.
    #[test]
    fn a_server_that_settings_name_is_reached() {
        let home = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let own = home.path().join(".codex");
        disk.create_dir_all(&own).unwrap();
        let settings = "model_provider = \"own\"\n[model_providers.own]\nbase_url = \"http://127.0.0.1:7/v1\"\n";
        disk.replace(&own.join("config.toml"), settings.as_bytes(), 0o600)
            .unwrap();
        let codex = Known::named("codex").unwrap().entry();
        let environment = [("HOME".into(), home.path().into())];
        let needs = Needs::with_settings(&codex, &environment, &disk);
        let hosts: Vec<String> = needs.hosts.iter().map(ToString::to_string).collect();
        assert_eq!(hosts, ["127.0.0.1:7"]);
        let elsewhere = [("HOME".into(), "/nowhere".into())];
        let none = Needs::with_settings(&codex, &elsewhere, &disk);
        assert_eq!(none.hosts, []);
    }
}
