//! Errors in what a tool printed, after it has run: recorded, and answered by a message if that helps.
//!
//! Start with [`after_tool`]. Of a tool that ran no command and wrote no file, nothing is read.

use std::path::Path;

use callosum_host::Disk;

use super::{
    event::{Action, Event, fields},
    gather_facts::folders,
    tool_result::ToolResult,
    worktree::real,
};
use crate::intervention::{Ran, Runner, WatchError, Watcher};
use callosum_config::{Environment, Project, ProjectOverrides};

/// Returns what the model is sent about the errors of a tool that has run.
///
/// # Errors
/// If the state of this machine cannot be used. The caller goes on without a message.
pub(super) fn after_tool(
    environment: &Environment,
    client: &str,
    session: &str,
    bytes: &[u8],
) -> Result<Option<String>, WatchError> {
    let Ok(event) = Event::read(bytes) else {
        return Ok(None);
    };
    let home = environment.path("HOME");
    let event = event.at_home(home.as_deref());
    if !matches!(event.action, Action::Shell(_) | Action::Write(_)) {
        return Ok(None);
    }
    let disk = Disk::real();
    let (_, here) = folders(&disk, environment, event.folder.as_deref());
    let Some(here) = here else {
        return Ok(None);
    };
    let project = Project::load(&disk, environment, &here, &ProjectOverrides::default());
    let root = match &project {
        Ok(project) => project.roots.tree.clone(),
        Err(_) => real(&disk, &here),
    };
    watch(&disk, environment, client, session, (&event, bytes), &root)
}

/// Returns the lines about errors that a session in the tree of a project starts with; `task` is what it starts with otherwise.
///
/// # Errors
/// As [`after_tool`].
pub(super) fn at_start(
    environment: &Environment,
    tree: &Path,
    task: &str,
) -> Result<String, WatchError> {
    let watcher = Watcher::new(&Disk::real(), environment, tree)?;
    watcher.digest(task, environment.clock()?.now())
}

fn watch(
    disk: &Disk,
    environment: &Environment,
    client: &str,
    session: &str,
    (event, bytes): (&Event, &[u8]),
    root: &Path,
) -> Result<Option<String>, WatchError> {
    let watcher = Watcher::new(disk, environment, root)?;
    let now = environment.clock()?.now();
    let runner = Runner {
        client,
        session,
        reads_messages: true,
    };
    match &event.action {
        Action::Shell(command) => {
            let result = ToolResult::read(&fields(bytes).unwrap_or_default());
            let ran = Ran {
                command,
                output: result.output.as_bytes(),
                has_failed: result.has_failed,
            };
            let outcome = watcher.after_command(runner, ran, now)?;
            Ok(outcome.message.map(|message| message.text))
        }
        Action::Write(paths) => {
            let cwd = event.folder.as_deref().unwrap_or(root);
            let paths: Vec<String> = paths
                .iter()
                .map(|path| cwd.join(path).to_string_lossy().into_owned())
                .collect();
            watcher.after_edit(runner, &paths, now)?;
            Ok(None)
        }
        Action::Read(_) | Action::Other => Ok(None),
    }
}
