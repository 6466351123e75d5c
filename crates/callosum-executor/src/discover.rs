//! Programs that are worth asking: known executors, looked for in `PATH`.
//!
//! A table, and one function that looks. Nothing is started here: who is found is registered as
//! inactive until a handshake says otherwise (REQ-EXE-005).

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use callosum_host::{Disk, disk::EntryKind};

use crate::{
    client::Client, local_server::several_models, output_format::Dialect, registry::Executor,
    shim::manager_of, transport::Transport,
};

/// A known executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its id in the registry.
    pub id: &'static str,
    /// The program to look for.
    pub program: &'static str,
    /// The command that would start it.
    pub command_template: &'static str,
    /// Its protocol.
    pub speaks: Speaks,
}

/// Protocol of a known executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaks {
    /// The seed's protocol, as its makers claim; the handshake verifies it.
    Seed,
    /// JSON of its own, or plain text.
    Dialect(Dialect),
    /// The Agent Client Protocol.
    Acp,
    /// Plain text, from a model that its template can only guess.
    Guess,
}

/// Address of Ollama's server that its command line asks.
const OLLAMA: &str = "127.0.0.1:11434";

/// All of them. The first three are the seed's own (CAL §11.3).
pub static KNOWN: [Known; 16] = [
    seed("ollama-code", "ollama-code -p {prompt}"),
    seed("gemini-cli", "gemini-cli -p {prompt}"),
    seed("forgecode", "forgecode -p {prompt}"),
    client(Dialect::Claude),
    client(Dialect::Codex),
    client(Dialect::Gemini),
    client(Dialect::Opencode),
    client(Dialect::Qwen),
    agent("claude-agent-acp", "claude-agent-acp", "claude-agent-acp"),
    agent("claude-code-acp", "claude-code-acp", "claude-code-acp"),
    agent("codex-acp", "codex-acp", "codex-acp"),
    agent("gemini-acp", "gemini", "gemini --acp"),
    agent("opencode-acp", "opencode", "opencode acp"),
    agent("qwen-acp", "qwen", "qwen --safe-mode --acp"),
    Known {
        id: "ollama",
        program: "ollama",
        command_template: "ollama run llama3.2",
        speaks: Speaks::Guess,
    },
    Known {
        id: "forge",
        program: "forge",
        command_template: "forge -p {prompt}",
        speaks: Speaks::Dialect(Dialect::Text),
    },
];

const fn seed(program: &'static str, command_template: &'static str) -> Known {
    Known {
        id: program,
        program,
        command_template,
        speaks: Speaks::Seed,
    }
}

const fn agent(id: &'static str, program: &'static str, command_template: &'static str) -> Known {
    Known {
        id,
        program,
        command_template,
        speaks: Speaks::Acp,
    }
}

const fn client(dialect: Dialect) -> Known {
    let Some(client) = Client::of(dialect) else {
        panic!("plain text has no client");
    };
    Known {
        id: client.program,
        program: client.program,
        command_template: client.command_template,
        speaks: Speaks::Dialect(dialect),
    }
}

/// Returns why a discovered entry must wait for a person's decision; `None` if that is over.
pub fn undecided(executor: &Executor) -> Option<String> {
    let reason = match Known::named(&executor.id) {
        Some(known) => known.cannot_be_active()?,
        None => several_models(executor)?,
    };
    let mut waiting = executor.clone();
    waiting.deactivate(&reason);
    (executor.inactive_reason() == waiting.inactive_reason()).then_some(reason)
}

/// A known executor and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    /// The known executor.
    pub known: Known,
    /// Its program, as `PATH` has it.
    pub program: PathBuf,
    /// The target of this file; the same if it is no link.
    pub real: PathBuf,
    /// The version manager whose shim it is, if it is one.
    pub shim_of: Option<&'static str>,
}

impl Known {
    /// The one of this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.id == id)
    }

    /// Returns why it cannot be active, regardless of its handshake; `None` if it may be tried.
    pub fn cannot_be_active(&self) -> Option<String> {
        (self.speaks == Speaks::Guess).then(|| {
            format!(
                "choose a model: callosum executor register {} --protocol text --command '{}' \
                 --allow-net {OLLAMA}",
                self.id, self.command_template
            )
        })
    }

    /// Returns its entry, inactive; with the reason in `inactive_reason` if no handshake can help.
    pub fn entry(&self) -> Executor {
        let mut executor = Executor::cli(self.id, self.command_template);
        let protocol = match self.speaks {
            Speaks::Seed => None,
            Speaks::Dialect(dialect) => Some(dialect.as_str()),
            Speaks::Acp => Some(Transport::Acp.as_str()),
            Speaks::Guess => Some(Dialect::Text.as_str()),
        };
        executor.protocol = protocol.map(str::to_owned);
        executor.grant_needs();
        if let Some(reason) = self.cannot_be_active() {
            executor.deactivate(&reason);
        }
        executor
    }
}

/// Looks for the known executors in the folders of a `PATH`, in the order of [`KNOWN`].
///
/// Folders that are missing, relative or unreadable are passed over: a relative one would mean
/// another program in each project.
pub fn find_in_path(disk: &Disk, path_variable: &OsStr) -> Vec<Discovered> {
    let folders: Vec<PathBuf> = std::env::split_paths(path_variable)
        .filter(|folder| folder.is_absolute())
        .collect();
    KNOWN
        .into_iter()
        .filter_map(|known| {
            let mut programs = folders.iter().map(|folder| folder.join(known.program));
            let (program, real) =
                programs.find_map(|program| Some((program.clone(), file_at(disk, &program)?)))?;
            let shim_of = manager_of(&program, &real);
            Some(Discovered {
                known,
                program,
                real,
                shim_of,
            })
        })
        .collect()
}

/// The file that a path leads to.
fn file_at(disk: &Disk, path: &Path) -> Option<PathBuf> {
    let target = disk.canonicalize(path).ok()?;
    let is_file = matches!(disk.stat(&target), Ok(Some(stat)) if stat.kind == EntryKind::File);
    is_file.then_some(target)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{client::Acp, registry::Status, template::Template};

    /// REQ-EXE-005, CAL-EXE-2: each known entry is well formed, and none is active without a
    /// request.
    #[test]
    fn known_entries_are_well_formed_and_inactive() {
        for known in KNOWN {
            let entry = known.entry();
            Executor::check_id(&entry.id).unwrap();
            assert_eq!(entry.status, Status::Inactive);
            let template = Template::parse_for_client(&entry.command_template).unwrap();
            assert_eq!(template.program(), known.program);
            assert_eq!(
                entry.inactive_reason().is_some(),
                known.speaks == Speaks::Guess
            );
        }
    }

    /// CAL-EXE-2: each client, and each program that drives one, is known by its own way to speak the protocol.
    #[test]
    fn every_client_is_found_as_one_that_speaks_the_agent_client_protocol() {
        for client in Dialect::ALL.into_iter().filter_map(Client::of) {
            let (Acp::Itself(template) | Acp::Through(template)) = client.acp;
            let mut known = KNOWN.iter();
            let known = known.find(|known| known.command_template == template);
            let entry = known.unwrap().entry();
            assert_eq!(Transport::of(&entry), Some(Transport::Acp));
            assert_eq!(Client::behind(&entry), Some(client));
        }
    }

    /// CAL-EXE-1: discovery looks at PATH and starts nothing.
    #[test]
    fn programs_are_found_through_links_in_the_order_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let (first, second) = (folder.path().join("one"), folder.path().join("two"));
        disk.create_dir_all(&first.join("codex")).unwrap();
        for program in ["codex", "gemini-cli", "unknown"] {
            disk.create_dir_all(&second).unwrap();
            disk.replace(&second.join(program), b"exit 1", 0o755)
                .unwrap();
        }
        symlink("../two/gemini-cli", first.join("gemini-cli")).unwrap();
        symlink("nowhere", first.join("claude")).unwrap();
        let missing = folder.path().join("missing");
        let path = std::env::join_paths([&missing, Path::new("."), &first, &second]).unwrap();
        let found: Vec<_> = find_in_path(&disk, &path)
            .into_iter()
            .map(|found| (found.known.id, found.program))
            .collect();
        assert_eq!(
            found,
            [
                ("gemini-cli", first.join("gemini-cli")),
                ("codex", second.join("codex"))
            ]
        );
    }
}
