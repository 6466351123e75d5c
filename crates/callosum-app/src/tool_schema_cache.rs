//! [`KeptTools`]: tool lists that the tool servers of a project reported, cached in the machine's home.
//!
//! No repository brings such a list along, and a list is ignored once its entry has changed. The
//! format: `docs/formats/server-tools.md`.

use std::path::PathBuf;

use callosum_executor::registry::{Executor, Kind};
use callosum_executor::server_tool::{ServerTool, bounded};
use callosum_host::Disk;
use callosum_json::Checksum;
use callosum_redact::terminal_escape::on_one_line;
use serde::{Deserialize, Serialize};

use crate::CommandError;
use crate::context::Context;
use crate::disk_errors::disk_failed;

/// The format that this version writes; another one is as good as none.
const FORMAT: u32 = 1;

/// The cached list of one server.
#[derive(Deserialize, Serialize)]
struct StoredTools {
    format: u32,
    /// Fingerprint of the server's entry when it listed its tools.
    entry: Checksum,
    tools: Vec<ServerTool>,
}

/// The lists of one project.
pub struct KeptTools {
    disk: Disk,
    folder: PathBuf,
}

impl KeptTools {
    /// The lists of the context's project. Looks at nothing.
    pub fn of_project(context: &Context) -> Self {
        Self {
            disk: context.disk.clone(),
            folder: context.project.homes.server_tools(context.state()),
        }
    }

    /// Returns the tools that the server behind `executor` listed. Empty if it is not a tool
    /// server, was not asked, or its entry has changed since.
    pub fn of(&self, executor: &Executor) -> Result<Vec<ServerTool>, CommandError> {
        if executor.kind != Kind::Mcp {
            return Ok(Vec::new());
        }
        let bytes = self.disk.read_if_there(&self.file(&executor.id));
        let bytes = bytes.map_err(|error| disk_failed(&error))?;
        let kept = bytes.and_then(|bytes| serde_json::from_slice::<StoredTools>(&bytes).ok());
        let is_current =
            |kept: &StoredTools| kept.format == FORMAT && kept.entry == executor.fingerprint();
        let tools = kept.filter(is_current).map(|kept| kept.tools);
        Ok(bounded(tools.unwrap_or_default()))
    }

    /// Says of the server that `executor` is which of its tools can't be called, and why; a text for each.
    pub fn unfit(&self, executor: &Executor) -> Result<Vec<String>, CommandError> {
        Ok(unfit(&self.of(executor)?).collect())
    }

    /// Stores a server's tool list in place of the previous one.
    pub fn keep(&self, executor: &Executor, tools: &[ServerTool]) -> Result<(), CommandError> {
        let kept = StoredTools {
            format: FORMAT,
            entry: executor.fingerprint(),
            tools: tools.to_vec(),
        };
        let bytes = serde_json::to_vec(&kept).expect("texts and schemas are JSON");
        let written = self
            .disk
            .create_private_dir(&self.folder)
            .and_then(|_| self.disk.replace(&self.file(&executor.id), &bytes, 0o600));
        written.map_err(|error| disk_failed(&error))
    }

    /// Removes a server's tool list, if there is one.
    pub fn forget(&self, id: &str) -> Result<(), CommandError> {
        let file = self.file(id);
        let there = self.disk.exists(&file);
        if there.map_err(|error| disk_failed(&error))? {
            let removed = self.disk.remove_file(&file);
            removed.map_err(|error| disk_failed(&error))?;
        }
        Ok(())
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// Says which of these can't be called, and why; a text for each.
pub fn unfit(tools: &[ServerTool]) -> impl Iterator<Item = String> {
    tools.iter().filter_map(|tool| {
        let why = tool.unfit.as_ref()?;
        Some(format!(
            "`{}` cannot be called: {why}",
            on_one_line(&tool.name)
        ))
    })
}
