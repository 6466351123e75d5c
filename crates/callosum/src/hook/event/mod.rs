//! [`Event`]: what a client says that it is about to do, read from the bytes that it sends.
//!
//! The four clients agree on the names around a call (`cwd`, `session_id`, `tool_name`,
//! `tool_input`); they differ in what their tools are called and take. Fields that nobody here asks
//! for are passed over, whatever they are. What must be decided and cannot be read is an error, so
//! that it is never taken for harmless.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::patch;

/// Longest event that is read, in bytes. A command of 10 MB, with every byte escaped, fits.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;

/// Most characters of an id that are kept.
const LONGEST_ID: usize = 200;

/// What a client says of a call of one of its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The client's own name of the event.
    pub(super) name: Option<String>,
    /// The session, as the client names it.
    pub(super) session: Option<String>,
    /// The sub-agent, where it is one that calls.
    pub(super) agent: Option<String>,
    /// The call.
    pub(super) call: Option<String>,
    /// How much the client lets pass by itself.
    pub(super) mode: Option<String>,
    /// The tool.
    pub(super) tool: Option<String>,
    /// The folder in which the call happens.
    pub(super) folder: Option<PathBuf>,
    /// What the call would do.
    pub(super) action: Action,
}

/// What a call of a tool would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Action {
    /// Run a command in a shell.
    Shell(String),
    /// Write, move or remove files.
    Write(Vec<String>),
    /// Something that the guard has no rules for.
    #[default]
    Other,
}

/// Why an event cannot be decided.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// It is longer than anything that a client sends.
    #[error("the event is longer than {} MiB", LONGEST >> 20)]
    TooLong,
    /// It is not one JSON object.
    #[error("the event is not a JSON object")]
    NotAnObject,
    /// It does not say which tool is to be called.
    #[error("the event names no tool")]
    NoTool,
    /// A tool that runs commands comes without one.
    #[error("the tool `{tool}` comes without a command")]
    NoCommand {
        /// The tool.
        tool: String,
    },
    /// What is to be run or written has a byte in it that no program can be given.
    #[error("what the tool `{tool}` is given holds a NUL")]
    Nul {
        /// The tool.
        tool: String,
    },
    /// A tool that writes files comes without a path.
    #[error("the tool `{tool}` comes without a path")]
    NoPath {
        /// The tool.
        tool: String,
    },
}

/// Tools whose `command` a shell runs.
const SHELLS: [&str; 4] = ["Bash", "run_shell_command", "shell", "exec_command"];

/// Tools that write the files which they are given.
const WRITERS: [&str; 8] = [
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "write_file",
    "replace",
    "edit",
    "notebook_edit",
];

/// The tool that takes a patch.
const PATCHER: &str = "apply_patch";

/// Words in the name of another server's tool that say that it changes files.
const CHANGES: [&str; 9] = [
    "write", "edit", "create", "delete", "remove", "move", "rename", "replace", "patch",
];

/// Where commands stand in what a tool takes. The last is what Codex types into a shell that runs.
const COMMANDS: [&str; 5] = ["command", "cmd", "script", "commands", "chars"];

/// Where paths stand in what a tool takes.
const PATHS: [&str; 11] = [
    "file_path",
    "notebook_path",
    "absolute_path",
    "path",
    "paths",
    "filename",
    "file",
    "source",
    "destination",
    "old_path",
    "new_path",
];

/// Where the folder of a command stands in what a tool takes.
const FOLDERS: [&str; 4] = ["dir_path", "directory", "workdir", "cwd"];

impl Event {
    /// Reads an event that something happens for whatever it says: what is missing stays away.
    pub(super) fn observed(bytes: &[u8]) -> Option<Self> {
        let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else {
            return None;
        };
        Some(Self::around(&fields))
    }

    /// Reads an event that must be decided.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > LONGEST {
            return Err(Unreadable::TooLong);
        }
        // A byte order mark is no JSON; the clients are written in languages that may add one.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let Ok(Value::Object(fields)) = serde_json::from_slice(bytes) else {
            return Err(Unreadable::NotAnObject);
        };
        let mut event = Self::around(&fields);
        let tool = event.tool.clone().ok_or(Unreadable::NoTool)?;
        let nothing = Map::new();
        let input = match fields.get("tool_input") {
            Some(Value::Object(input)) => input,
            _ => &nothing,
        };
        if let (Some(folder), Some(inner)) = (&event.folder, text_in(input, &FOLDERS)) {
            event.folder = Some(folder.join(inner));
        }
        event.action = action(&tool, input)?;
        // Some shells pass over it, and then run something else than was decided on.
        let holds_nul = match &event.action {
            Action::Shell(command) => command.contains('\0'),
            Action::Write(paths) => paths.iter().any(|path| path.contains('\0')),
            Action::Other => false,
        };
        if holds_nul {
            return Err(Unreadable::Nul { tool });
        }
        Ok(event)
    }

    fn around(fields: &Map<String, Value>) -> Self {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let id = |name| text(name).map(short);
        Self {
            name: id("hook_event_name"),
            session: id("session_id"),
            agent: id("agent_id"),
            call: id("tool_use_id").or_else(|| id("tool_call_id")),
            mode: id("permission_mode"),
            tool: id("tool_name").filter(|tool| !tool.is_empty()),
            folder: text("cwd").map(PathBuf::from),
            action: Action::Other,
        }
    }
}

fn action(tool: &str, input: &Map<String, Value>) -> Result<Action, Unreadable> {
    let command = COMMANDS
        .iter()
        .find_map(|name| command_in(input.get(*name)?));
    let owned = || tool.to_owned();
    if tool == PATCHER {
        let patch = command.or_else(|| text_in(input, &["patch", "input"]).map(str::to_owned));
        let paths = patch.map(|patch| patch::paths(&patch)).unwrap_or_default();
        return if paths.is_empty() {
            Err(Unreadable::NoPath { tool: owned() })
        } else {
            Ok(Action::Write(paths))
        };
    }
    if SHELLS.contains(&tool) {
        return command
            .map(Action::Shell)
            .ok_or_else(|| Unreadable::NoCommand { tool: owned() });
    }
    if WRITERS.contains(&tool) {
        let paths = paths_in(input);
        return if paths.is_empty() {
            Err(Unreadable::NoPath { tool: owned() })
        } else {
            Ok(Action::Write(paths))
        };
    }
    // A tool of another server. What is called a command is taken for one.
    if let Some(command) = command {
        return Ok(Action::Shell(command));
    }
    let lower = tool.to_ascii_lowercase();
    let paths = paths_in(input);
    if !paths.is_empty() && CHANGES.iter().any(|word| lower.contains(word)) {
        return Ok(Action::Write(paths));
    }
    Ok(Action::Other)
}

/// A command: a text, or words that are run without a shell.
fn command_in(value: &Value) -> Option<String> {
    match value {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            // What no shell can be told holds a NUL, which no program can be told either.
            Some(shlex::try_join(words?).unwrap_or_else(|_| "\0".to_owned()))
        }
        _ => None,
    }
}

fn paths_in(input: &Map<String, Value>) -> Vec<String> {
    let mut paths = Vec::new();
    for value in PATHS.iter().filter_map(|name| input.get(*name)) {
        match value {
            Value::String(path) => paths.push(path.clone()),
            Value::Array(several) => {
                let several = several.iter().filter_map(Value::as_str);
                paths.extend(several.map(str::to_owned));
            }
            _ => {}
        }
    }
    paths
}

fn text_in<'i>(input: &'i Map<String, Value>, names: &[&str]) -> Option<&'i str> {
    let text = |name: &&str| input.get(*name).and_then(Value::as_str);
    names.iter().find_map(text).filter(|text| !text.is_empty())
}

/// An id as it may be kept: no longer than ids are.
fn short(text: &str) -> String {
    text.chars().take(LONGEST_ID).collect()
}

#[cfg(test)]
mod tests;
