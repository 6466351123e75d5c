//! [`Event`]: what a client says that it is about to do, read from the bytes that it sends.
//!
//! The four clients agree on the names around a call (`cwd`, `session_id`, `tool_name`,
//! `tool_input`); they differ in what their tools are called and take. What tools of other servers
//! are given is [`foreign`]'s. Fields that nobody here asks
//! for are passed over, whatever they are. What must be decided and cannot be read is an error, so
//! that it is never taken for harmless.

mod foreign;

use std::path::PathBuf;

use callosum_guard::patch;
use serde_json::{Map, Value};

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
    /// Whether it removes files that it names.
    pub(super) removes: bool,
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

/// Tools whose `command` PowerShell runs.
const POWERSHELLS: [&str; 3] = ["PowerShell", "powershell", "pwsh"];

/// The tool that directs sub-agents, by a program of its own; what they do is reported by itself.
const DIRECTOR: &str = "Workflow";

/// Where commands stand in what a tool takes. The last is what Codex types into a shell that runs.
const COMMANDS: [&str; 5] = ["command", "cmd", "script", "commands", "chars"];

/// Where the words behind a command stand, where they are apart from it.
const ARGUMENTS: [&str; 3] = ["args", "arguments", "argv"];

/// Where paths stand in what a tool takes, by themselves, in lists, or within objects in lists.
const PATHS: [&str; 30] = [
    "relative_path",
    "file_paths",
    "filepath",
    "filePath",
    "file_name",
    "fileName",
    "files",
    "edits",
    "changes",
    "operations",
    "target",
    "target_file",
    "targetPath",
    "dest",
    "dst",
    "dest_path",
    "src",
    "src_path",
    "from",
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

/// Words in a tool's name, and marks in a patch, that say that files are removed.
const REMOVES: [&str; 3] = ["delete", "remove", "*** Delete File:"];

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
        let patch = text_in(input, &["command", "patch", "input"]).filter(|_| tool == PATCHER);
        event.removes = matches!(event.action, Action::Write(_))
            && REMOVES.iter().any(|word| {
                tool.to_ascii_lowercase().contains(word)
                    || patch.is_some_and(|patch| patch.contains(word))
            });
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
            ..Self::default()
        }
    }
}

fn action(tool: &str, input: &Map<String, Value>) -> Result<Action, Unreadable> {
    let owned = || tool.to_owned();
    if tool == PATCHER {
        let patch = commands_in(input);
        let patch = patch.or_else(|| text_in(input, &["patch", "input"]).map(str::to_owned));
        let paths = patch.map(|patch| patch::paths(&patch)).unwrap_or_default();
        return if paths.is_empty() {
            Err(Unreadable::NoPath { tool: owned() })
        } else {
            Ok(Action::Write(paths))
        };
    }
    if SHELLS.contains(&tool) || POWERSHELLS.contains(&tool) {
        let command = commands_in(input).ok_or_else(|| Unreadable::NoCommand { tool: owned() })?;
        let is_bash = SHELLS.contains(&tool);
        return Ok(Action::Shell(if is_bash {
            command
        } else {
            foreign::given("pwsh -Command", &command)
        }));
    }
    if WRITERS.contains(&tool) {
        let paths = paths_in(input);
        return if paths.is_empty() {
            Err(Unreadable::NoPath { tool: owned() })
        } else {
            Ok(Action::Write(paths))
        };
    }
    Ok(match tool {
        DIRECTOR => Action::Other,
        _ => foreign::action(tool, input),
    })
}

/// The command that a tool is given, with the words that stand apart from it.
fn commands_in(input: &Map<String, Value>) -> Option<String> {
    let (name, value) = COMMANDS
        .iter()
        .find_map(|name| Some((*name, input.get(*name)?)))?;
    let command = match (name, value) {
        ("commands", Value::Array(lines)) => {
            let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
            lines?.join("\n")
        }
        (_, value) => command_in(value)?,
    };
    let apart = ARGUMENTS.iter().find_map(|name| match input.get(*name)? {
        Value::String(words) => Some(words.clone()),
        words => command_in(words),
    });
    Some(match apart.filter(|words| !words.is_empty()) {
        Some(words) => format!("{command} {words}"),
        None => command,
    })
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
                for one in several {
                    match one {
                        Value::String(path) => paths.push(path.clone()),
                        Value::Object(inner) => paths.extend(named_in(inner)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    paths
}

/// The paths that an object of a list names by themselves.
fn named_in(input: &Map<String, Value>) -> impl Iterator<Item = String> + '_ {
    let texts = PATHS.iter().filter_map(|name| input.get(*name)?.as_str());
    texts.map(str::to_owned)
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
