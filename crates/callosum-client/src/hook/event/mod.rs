//! [`Event`]: a client's report of the call that it is about to make, read from the bytes that it sends.
//!
//! The clients agree on the names around a call (`cwd`, `session_id`, `tool_name`, `tool_input`);
//! they differ in the names and arguments of their tools. [`mcp_tool`] handles the tools of other
//! servers, and [`tool_input`] finds their arguments by name. Fields that no code here uses are ignored.
//! An event that must be decided and cannot be read is an error, so that it is never taken for
//! harmless.

mod catalog;
mod cloud_tools;
mod database_tools;
mod git_tools;
mod lossy_json;
mod mcp_tool;
mod reading;
mod shell_quote;
mod statement;
mod tool_input;
mod tool_verb;

use std::path::{Path, PathBuf};

use callosum_guard::patch;
use serde_json::{Map, Value};

pub(super) use self::lossy_json::fields;
use self::tool_input::Given;
use super::skill::Skill;

/// Longest event that is read, in bytes. A command of 10 MB, with every byte escaped, fits.
pub(super) const LONGEST: usize = 64 * 1024 * 1024;

/// Most characters of an id that are kept.
const LONGEST_ID: usize = 200;

/// A client's report of a call of one of its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The client's own name of the event.
    pub(super) name: Option<String>,
    /// The session, as the client names it.
    pub(super) session: Option<String>,
    /// The sub-agent, if one makes the call.
    pub(super) agent: Option<String>,
    /// The call.
    pub(super) call: Option<String>,
    /// Key that the client's events before and after this call share, and those of other calls do
    /// not.
    pub(super) key: String,
    /// The client's permission mode.
    pub(super) mode: Option<String>,
    /// The tool.
    pub(super) tool: Option<String>,
    /// The folder in which the call happens.
    pub(super) folder: Option<PathBuf>,
    /// The action of the call.
    pub(super) action: Action,
    /// Whether it removes files that it names.
    pub(super) removes: bool,
    /// The skill or command of a file's that the call has the client load.
    pub(super) skill: Option<Skill>,
    /// Whether it is a command of the client's own shell that runs as commands usually do: in the foreground, and
    /// inside its sandbox if it has one.
    pub(super) is_plain_shell: bool,
}

/// An action that a tool call would perform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Action {
    /// Run a command in a shell.
    Shell(String),
    /// Write, move or remove files.
    Write(Vec<String>),
    /// Read files.
    Read(Vec<String>),
    /// Something that the guard has no rules for.
    #[default]
    Other,
}

/// The reason why an event cannot be decided.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// It is longer than anything that a client sends.
    #[error("the event is longer than {} MiB", LONGEST >> 20)]
    TooLong,
    /// It is not one JSON object.
    #[error("the event is not a JSON object")]
    NotAnObject,
    /// It has objects in objects, past what is read.
    #[error("the event is nested too deeply")]
    TooDeep,
    /// It does not say which tool is to be called.
    #[error("the event names no tool")]
    NoTool,
    /// A tool that runs commands comes without one.
    #[error("the call of the tool `{tool}` has no command")]
    NoCommand {
        /// The tool.
        tool: String,
    },
    /// The command or path contains a NUL byte, which cannot be passed to a program.
    #[error("the input of the tool `{tool}` contains a NUL")]
    Nul {
        /// The tool.
        tool: String,
    },
    /// A tool that writes files comes without a path.
    #[error("the call of the tool `{tool}` has no path")]
    NoPath {
        /// The tool.
        tool: String,
    },
}

/// Tools whose `command` a shell runs.
const SHELLS: [&str; 5] = ["Bash", "run_shell_command", "shell", "exec_command", "bash"];

/// Arguments of such a tool that do not change the effect of the command.
const PLAIN: [&str; 12] = [
    "command",
    "cmd",
    "cwd",
    "description",
    "dir_path",
    "directory",
    "justification",
    "max_output_tokens",
    "timeout",
    "timeout_ms",
    "workdir",
    "yield_time_ms",
];

/// Tools that write the files which they are given.
const WRITERS: [&str; 10] = [
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "write_file",
    "replace",
    "edit",
    "notebook_edit",
    "write",
    "multiedit",
];

/// The tool that takes a patch.
const PATCHER: &str = "apply_patch";

/// Arguments that hold the patch if `command` does not; opencode uses `patchText`.
const PATCHES: [&str; 3] = ["patch", "input", "patchtext"];

/// Tools whose `command` PowerShell runs.
const POWERSHELLS: [&str; 3] = ["PowerShell", "powershell", "pwsh"];

/// The tool that directs sub-agents, by a program of its own; what they do is reported by itself.
const DIRECTOR: &str = "Workflow";

/// The tool that leaves a worktree of the session, and may remove it.
const LEAVER: &str = "ExitWorktree";

/// The event before a shell line of a skill runs.
const SKILL_LINE: &str = "PreSkillShellCommand";

/// Line prefix in a patch for a file that is removed.
const REMOVES: &str = "*** Delete File:";

impl Event {
    /// Reads an event that is only observed: missing fields stay empty.
    pub(super) fn observed(bytes: &[u8]) -> Option<Self> {
        let fields = fields(bytes).ok()?;
        Some(Self::around(&fields))
    }

    /// Reads an event that must be decided.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        if bytes.len() > LONGEST {
            return Err(Unreadable::TooLong);
        }
        let fields = fields(bytes)?;
        let mut event = Self::around(&fields);
        let tool = event.tool.clone().ok_or(Unreadable::NoTool)?;
        let nothing = Map::new();
        let input = match fields.get("tool_input") {
            Some(Value::Object(input)) => input,
            _ => &nothing,
        };
        let given = Given(input);
        if let (Some(folder), Some(inner)) = (&event.folder, given.workplace())
            && !mcp_tool::is_of_folder(&tool, given)
        {
            event.folder = Some(folder.join(inner));
        }
        event.skill = skill(&tool, input);
        event.action = if event.is_skill_line() && !POWERSHELLS.contains(&tool.as_str()) {
            action(SHELLS[0], input)?
        } else if tool == LEAVER {
            left(input, event.folder.as_deref())
        } else if event.skill.is_some() {
            Action::Other
        } else {
            action(&tool, input)?
        };
        event.is_plain_shell = is_plain_shell(&tool, input) && !event.is_skill_line();
        let patch = given.text(&["command"]).or_else(|| given.text(&PATCHES));
        event.removes = tool == PATCHER && patch.is_some_and(|patch| patch.contains(REMOVES));
        // Some shells pass over it, and then run something else than was decided on.
        let holds_nul = match &event.action {
            Action::Shell(command) => command.contains('\0'),
            Action::Write(paths) | Action::Read(paths) => {
                paths.iter().any(|path| path.contains('\0'))
            }
            Action::Other => false,
        };
        if holds_nul {
            return Err(Unreadable::Nul { tool });
        }
        Ok(event)
    }

    /// Returns the same with `~` resolved from this home folder: clients and servers resolve it,
    /// and for the guard it is a name like any other.
    pub(super) fn at_home(mut self, home: Option<&Path>) -> Self {
        if let (Action::Write(paths) | Action::Read(paths), Some(home)) = (&mut self.action, home) {
            for path in paths {
                let rest = path.strip_prefix('~');
                let inner = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
                if let Some(inner) = inner {
                    *path = format!("{}{inner}", home.display());
                }
            }
        }
        self
    }

    /// Returns whether it is about a shell line of a skill.
    pub(super) fn is_skill_line(&self) -> bool {
        self.name.as_deref() == Some(SKILL_LINE)
    }

    fn around(fields: &Map<String, Value>) -> Self {
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let id = |name| text(name).map(short);
        Self {
            name: id("hook_event_name"),
            session: id("session_id"),
            agent: id("agent_id"),
            call: id("tool_use_id").or_else(|| id("tool_call_id")),
            key: call_key(fields),
            mode: id("permission_mode"),
            tool: id("tool_name").filter(|tool| !tool.is_empty()),
            folder: text("cwd").map(PathBuf::from),
            ..Self::default()
        }
    }
}

/// Returns the skill or command that a call loads: `Skill {skill, args}`, and `SlashCommand {command: "/name args"}` of
/// older versions.
fn skill(tool: &str, input: &Map<String, Value>) -> Option<Skill> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let (name, arguments) = match tool {
        "Skill" => {
            let name = text("skill").or_else(|| text("command"))?;
            (name, text("args").unwrap_or_default())
        }
        "SlashCommand" => {
            let typed = text("command")?.trim();
            typed.split_once(char::is_whitespace).unwrap_or((typed, ""))
        }
        _ => return None,
    };
    Some(Skill {
        name: name.trim_start_matches('/').to_owned(),
        arguments: arguments.to_owned(),
    })
}

/// Returns what leaving a worktree does: with `discard_changes` it removes it with all that is not committed.
fn left(input: &Map<String, Value>, folder: Option<&Path>) -> Action {
    let is_removed = input.get("action").and_then(Value::as_str) == Some("remove");
    let discards = match input.get("discard_changes") {
        Some(Value::Bool(discards)) => *discards,
        Some(Value::String(text)) => text == "true",
        _ => false,
    };
    if !is_removed || !discards {
        return Action::Other;
    }
    let folder = folder.and_then(Path::to_str).unwrap_or(".");
    Action::Shell(shell_quote::quoted("git worktree remove --force", folder))
}

fn action(tool: &str, input: &Map<String, Value>) -> Result<Action, Unreadable> {
    let owned = || tool.to_owned();
    let given = Given(input);
    if tool == PATCHER {
        let patch = given.command();
        let patch = patch.or_else(|| given.text(&PATCHES).map(str::to_owned));
        let paths = patch.map(|patch| patch::paths(&patch)).unwrap_or_default();
        return if paths.is_empty() {
            Err(Unreadable::NoPath { tool: owned() })
        } else {
            Ok(Action::Write(paths))
        };
    }
    if SHELLS.contains(&tool) || POWERSHELLS.contains(&tool) {
        let command = given
            .command()
            .ok_or_else(|| Unreadable::NoCommand { tool: owned() })?;
        let is_bash = SHELLS.contains(&tool);
        return Ok(Action::Shell(if is_bash {
            command
        } else {
            shell_quote::quoted("pwsh -Command", &command)
        }));
    }
    if WRITERS.contains(&tool) {
        let paths = given.paths();
        return if paths.is_empty() {
            Err(Unreadable::NoPath { tool: owned() })
        } else {
            Ok(Action::Write(paths))
        };
    }
    let action = match tool {
        DIRECTOR => Action::Other,
        _ => mcp_tool::action(tool, input),
    };
    if action != Action::Other {
        return Ok(action);
    }
    let paths = reading::paths(tool, input);
    Ok(if paths.is_empty() {
        action
    } else {
        Action::Read(paths)
    })
}

/// Returns what tells a call from others in the events before and after it: its session and id, or its tool and what
/// that takes if the client gives no id.
pub(super) fn call_key(fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let session = text("session_id");
    let ids = ["tool_use_id", "tool_call_id"];
    if let Some(id) = ids.into_iter().map(text).find(|id| !id.is_empty()) {
        return format!("{session}\0{id}");
    }
    let input = fields.get("tool_input").map(Value::to_string);
    let input = input.unwrap_or_default();
    let tool = text("tool_name");
    format!("{session}\0\0{tool}\0{input}")
}

/// Returns whether a call is a shell command that no other field turns into something else: `run_in_background` and
/// `dangerouslyDisableSandbox` do, unless they are false.
fn is_plain_shell(tool: &str, input: &Map<String, Value>) -> bool {
    let is_off = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
    let command = input.get("command").or_else(|| input.get("cmd"));
    SHELLS.contains(&tool)
        && command.is_some_and(Value::is_string)
        && input
            .iter()
            .all(|(key, value)| PLAIN.contains(&key.as_str()) || is_off(value))
}

/// An id as it may be kept: no longer than ids are.
fn short(text: &str) -> String {
    text.chars().take(LONGEST_ID).collect()
}

#[cfg(test)]
mod tests;
