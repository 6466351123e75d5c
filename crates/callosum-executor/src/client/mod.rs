//! Facts about each coding agent, as data: its command, its files, its requirements.
//!
//! One file per client, each a single [`Client`]. Start with [`Client::of`] and [`Client::behind`].
//! Client output is the business of [`output_format`](crate::output_format). Nothing here runs
//! anything, and no content of a login's file is ever read: only whether it exists. Settings may
//! hold a key, or name the variable that does; only which of the two is reported.

mod adapter;
mod api_key;
mod claude;
mod codex;
mod gemini;
mod hooks;
mod login_status;
mod opencode;
mod qwen;
mod remediation;
mod server;
mod tool_servers;
mod transcripts;
mod version;

pub use self::{
    api_key::{Key, KeysIn},
    hooks::{Allowing, Asking, Denying, Hooks, MessageTargets, Rewriting, TimeUnit},
    login_status::LoginStatus,
    tool_servers::ToolServers,
    version::Version,
};
use crate::output_format::Dialect;

/// A coding agent that can be asked once and answers in JSON of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its id in the registry, and the program to look for.
    pub program: &'static str,
    /// Its command. It takes the prompt on standard input, where length has no limit and nothing in
    /// the prompt can become an option.
    pub command_template: &'static str,
    /// The command that makes it, or a program that drives it, speak the Agent Client Protocol.
    pub acp: Acp,
    /// Arguments that make it print its options, without asking a model.
    pub help: &'static [&'static str],
    /// The first version whose output has the form that we read, as far as known. The handshake
    /// asks the program itself whether it has the options that we use.
    pub oldest: Version,
    /// The command with which a person gets the newest version.
    pub update: &'static str,
    /// The command with which a person reinstalls it if it does not even start.
    pub install: &'static str,
    /// The oldest Node that it runs on; `None` if it comes with all it needs.
    pub node: Option<u32>,
    /// Variables that are passed on to it. None of them is a secret: a secret passes only if the
    /// entry lists it.
    pub passed: &'static [&'static str],
    /// Variables that it is given: no update, no browser, few retries of its own.
    pub set: &'static [(&'static str, &'static str)],
    /// Location of its own files.
    pub home: Home,
    /// Files that it writes in the home folder and needs again: its login, never what a later run
    /// obeys.
    pub writes: &'static [&'static str],
    /// Files that it reads there: its settings, and what its user wrote for it.
    pub reads: &'static [&'static str],
    /// Of these, the files that may name servers of tools, or hold keys that are not its own: of them it is
    /// shown a copy without.
    pub names_servers: &'static [&'static str],
    /// Files that it writes there and can do without if it gets a folder of its own. Shared, they
    /// would let a sandboxed run leave instructions for an unsandboxed one.
    pub keeps: &'static [&'static str],
    /// Files there that it gets a copy of, to be written and discarded.
    pub copies: &'static [&'static str],
    /// The hosts of its makers that it talks to, as an entry names them.
    pub hosts: &'static [&'static str],
    /// Hosts that it contacts for other things than its answer, such as news of itself, and can do
    /// without.
    pub does_without: &'static [&'static str],
    /// Variables that name another server to talk to.
    pub servers: &'static [&'static str],
    /// Its ways to log in.
    pub login: Login,
    /// Place in its settings that configures keys as an alternative to a login.
    pub keys_in: KeysIn,
    /// Its settings, in its own folder.
    pub settings: &'static str,
    /// Its transcripts, in its own folder, with `*` for what varies: one for each place that they have or had.
    pub transcripts: &'static [&'static str],
    /// Session records that show, more than its answer does, whether the answer is whole. Paths in
    /// its own folder, with `*` for what varies; the newest of each counts.
    pub records: &'static [&'static str],
    /// Variables that make it write such records, if it gets a folder of its own; values that begin
    /// with `OWN` are in that folder.
    pub recording: &'static [(&'static str, &'static str)],
    /// Its hooks, in its own folder, if it silently ignores them until a person has trusted them.
    pub hooks_to_trust: Option<&'static str>,
    /// Whether commands of its model may write only to the project by default.
    pub has_sandbox: bool,
    /// The way to turn off its own sandbox, if it has one that cannot start within ours.
    pub inner_sandbox: Option<InnerSandbox>,
    /// Settings that name its tool servers; `None` if that was not tried.
    pub tool_servers: Option<ToolServers>,
    /// Settings that make it ask a program before its tools run; `None` if it has no such settings.
    pub hooks: Option<Hooks>,
}

/// Placeholder for a client's own folder in [`Client::recording`].
pub(crate) const OWN: &str = "{own}/";

/// A sandbox in which a client runs what its model wants run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerSandbox {
    /// The options that choose the sandbox.
    pub options: &'static [&'static str],
    /// The argument after them that means no sandbox.
    pub off: &'static str,
    /// The variable, and its value, with the same effect on an adapter that speaks the Agent Client
    /// Protocol for it.
    pub off_by_variable: (&'static str, &'static str),
}

/// The way in which a client speaks the Agent Client Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acp {
    /// It speaks it, started like this.
    Itself(&'static str),
    /// A program speaks it for it that comes apart from it.
    Through(&'static str),
}

/// Location of a client's own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The variable that names the folder, if there is one.
    pub variable: Option<&'static str>,
    /// The folder below `HOME` if that variable is not set.
    pub folder: &'static str,
}

/// Ways to log in to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Login {
    /// Files below its own folder; after a login, one of them exists.
    pub files: &'static [&'static str],
    /// Variables that replace the login; one is enough. They are secrets, so an entry has to list
    /// them.
    pub variables: &'static [&'static str],
    /// The command with which a person logs in, and where to type it if not in a shell.
    pub command: &'static str,
}

impl Client {
    /// Returns the client of a dialect; plain text may come from any program.
    pub const fn of(dialect: Dialect) -> Option<&'static Self> {
        Some(match dialect {
            Dialect::Claude => &claude::CLIENT,
            Dialect::Codex => &codex::CLIENT,
            Dialect::Gemini => &gemini::CLIENT,
            Dialect::Opencode => &opencode::CLIENT,
            Dialect::Qwen => &qwen::CLIENT,
            Dialect::Text => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Template;
    use callosum_sandbox::Whitelisted;

    /// CAL-SEC-1: what is passed on unasked is no secret.
    #[test]
    fn no_secret_is_passed_on_by_default() {
        for dialect in Dialect::ALL {
            let Some(client) = Client::of(dialect) else {
                continue;
            };
            for name in client.passed {
                let secret = ["KEY", "SECRET", "TOKEN", "PASSWORD"];
                assert!(!secret.iter().any(|part| name.contains(part)), "{name}");
                assert!(!client.login.variables.contains(name), "{name}");
            }
        }
    }

    /// CAL-SEC-1: what is written into an entry is what an entry may say.
    #[test]
    fn requirements_of_clients_are_valid_in_an_entry() {
        for client in Dialect::ALL.into_iter().filter_map(Client::of) {
            for host in client.hosts {
                assert!(Whitelisted::parse(host).is_ok(), "{host}");
            }
            for name in client.servers {
                assert!(client.passed.contains(name), "{name}");
            }
            let shown = client.writes.iter().chain(client.reads);
            for path in shown.chain(client.keeps).chain(client.copies) {
                assert!(path.starts_with("~/"), "{path}");
            }
            let folder = format!("~/{}/", client.home.folder);
            assert!(client.keeps.contains(&folder.as_str()), "{folder}");
        }
    }

    /// CAL-SEC-1: of its own files a held client writes none but its login.
    #[test]
    fn a_client_leaves_no_orders_for_its_next_run() {
        for client in Dialect::ALL.into_iter().filter_map(Client::of) {
            for path in client.writes {
                let name = path.rsplit('/').next().unwrap();
                assert!(client.login.files.contains(&name), "{path}");
            }
            let settings = client.settings.rsplit('/').next().unwrap();
            let mut reads = client.reads.iter();
            assert!(reads.any(|path| path.ends_with(settings)), "{settings}");
            for path in client.names_servers {
                assert!(client.reads.contains(path), "{path}");
            }
        }
    }

    /// CAKE-ADP-1: every client with hooks in its settings is known, and what is registered is no
    /// path that leads elsewhere.
    #[test]
    fn hooks_are_registered_in_a_clients_own_files() {
        let mut with_hooks = Vec::new();
        for client in Dialect::ALL.into_iter().filter_map(Client::of) {
            let Some(hooks) = client.hooks else {
                continue;
            };
            with_hooks.push(client.program);
            for file in [hooks.user, hooks.project] {
                assert!(!file.starts_with('/') && !file.contains(".."), "{file}");
            }
            assert!(hooks.project.starts_with(client.home.folder));
            assert!(hooks.proven >= client.oldest);
            let servers = client.tool_servers.unwrap();
            for file in [servers.user, servers.project] {
                assert!(!file.starts_with('/') && !file.contains(".."), "{file}");
            }
        }
        with_hooks.sort_unstable();
        assert_eq!(with_hooks, ["claude", "codex", "gemini", "qwen"]);
    }

    /// A prompt of any length, beginning with anything, arrives as a prompt.
    #[test]
    fn every_client_takes_the_prompt_on_standard_input() {
        for dialect in Dialect::ALL {
            let Some(client) = Client::of(dialect) else {
                continue;
            };
            let template = Template::parse_for_client(client.command_template).unwrap();
            assert_eq!(template.program(), client.program);
            assert!(!template.takes_prompt());
        }
    }
}
