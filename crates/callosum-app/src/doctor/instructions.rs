//! The instructions check of `doctor`: which file each installed client reads, and where two
//! differ.

use std::collections::BTreeSet;

use callosum_client::registration::Scope;
use callosum_executor::client::Client;
use callosum_host::DiskError;

use crate::client_settings;
use crate::context::Context;
use crate::instructions::{AGENTS, Reading, imports, real};

/// The known files of instructions. If the project has none of them, there is nothing to show.
pub const NAMES: [&str; 5] = [
    AGENTS,
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
];

/// The sources of instructions that one client reads.
pub struct Sources {
    program: &'static str,
    /// The instruction files that the client reads.
    pub files: Vec<&'static str>,
    /// Whether the client reads AGENTS.md.
    pub reads_agents: bool,
}

impl Sources {
    /// Returns the client's state as a line.
    pub fn shown(&self) -> String {
        if self.files.is_empty() {
            return format!("{} reads none", self.program);
        }
        format!("{} reads {}", self.program, self.files.join(" and "))
    }
}

/// Finds what a client reads in this tree.
pub fn sources(context: &Context, client: &'static Client, has_agents: bool) -> Sources {
    let is_there = |name: &str| matches!(text(context, name), Ok(Some(_)));
    let mut files = Vec::new();
    let reads_agents = match Reading::find(client) {
        Reading::Itself(own) => {
            files.extend(own.filter(|own| is_there(own)));
            true
        }
        Reading::Import(names) => {
            let mut reads = false;
            for name in names {
                if let Ok(Some(text)) = text(context, name) {
                    files.push(*name);
                    reads |= imports(&text) || is_same(context, name);
                }
            }
            // Claude Code 2.1.332 reads AGENTS.md if it has no file of its own.
            reads || files.is_empty()
        }
        Reading::Setting(own) => {
            let scopes = [Scope::Project, Scope::User].into_iter();
            let mut places =
                scopes.filter_map(|scope| client_settings::place(context, client, scope));
            let named = places.find_map(|place| {
                let registrar = client_settings::registrar(context);
                registrar.context_files(&place).ok().flatten()
            });
            let named = named.unwrap_or_else(|| vec![own.to_owned()]);
            files.extend(
                Some(own).filter(|own| named.iter().any(|name| name == own) && is_there(own)),
            );
            named.iter().any(|name| name == AGENTS)
        }
    };
    if reads_agents && has_agents {
        files.push(AGENTS);
    }
    Sources {
        program: client.program,
        files,
        reads_agents: reads_agents && has_agents,
    }
}

/// Returns whether a name is a link to `AGENTS.md`.
fn is_same(context: &Context, name: &str) -> bool {
    let path = real(&context.disk, context.tree(), name);
    path.is_ok_and(|path| path == context.tree().join(AGENTS))
}

/// Returns the text of a file of the tree. One behind a link that leads out is not read.
pub fn text(context: &Context, name: &str) -> Result<Option<String>, DiskError> {
    let Ok(path) = real(&context.disk, context.tree(), name) else {
        return Ok(None);
    };
    let bytes = context.disk.read_if_there(&path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Counts the lines of a file that `AGENTS.md` lacks: those that say something, and are not our own block.
pub fn lines_beside(context: &Context, name: &str) -> u64 {
    let read = |name| text(context, name).ok().flatten().unwrap_or_default();
    let (agents, own) = (read(AGENTS), read(name));
    let known: BTreeSet<&str> = agents.lines().map(str::trim).collect();
    let mut is_ours = false;
    let mut count = 0;
    for line in own.lines().map(str::trim) {
        is_ours |= line == "<!-- callosum:begin -->";
        let says_more = !line.is_empty() && !known.contains(line) && !imports(line);
        count += u64::from(says_more && !is_ours);
        is_ours &= line != "<!-- callosum:end -->";
    }
    count
}
