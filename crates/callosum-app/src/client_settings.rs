//! The clients that `init`, `uninstall` and `doctor` speak of, and where their settings stand.

use std::path::{Path, PathBuf};

use callosum_client::registration::{
    Change, RegisterError, Registrar, Scope, Server, SettingsFile, command_of,
};
use callosum_executor::client::Client;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::{CommandError, Exit};

/// A change of a client's settings, made or planned.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ClientOutput {
    /// The client.
    pub client: String,
    /// Its settings.
    pub settings: String,
    /// `registered`, `unchanged`, `removed`, `restored` (byte for byte), `absent` or `failed`.
    pub change: String,
    /// Reason of a failure, or a step that is left for a person.
    pub note: Option<String>,
    /// Remedy for a failure.
    #[serde(skip)]
    pub hint: Option<&'static str>,
    /// Our part of the settings, as it is printed.
    #[serde(skip)]
    pub what: &'static str,
    /// Other parts that came with it.
    #[serde(skip)]
    pub with: Option<String>,
}

/// Names of our entries in settings.
const GUARD: &str = "the guard";

const SERVER: &str = "the MCP server";

impl ClientOutput {
    /// Returns what is printed about a client's settings.
    pub fn of(place: &SettingsFile, change: &Result<Change, RegisterError>) -> Self {
        let hint = change.as_ref().err().and_then(RegisterError::hint);
        let (change, note) = match change {
            Ok(Change::Registered) => {
                let program = place.client.program;
                let trust = place.client.hooks_to_trust.map(|_| match place.scope {
                    Scope::User => {
                        format!("start {program} once in a terminal, then trust the hook")
                    }
                    Scope::Project => format!(
                        "the guard is off here until {program} trusts this project: start it once in a \
                         terminal in this folder, then trust the folder and the hook"
                    ),
                });
                (Change::Registered.as_str(), trust)
            }
            Ok(change) => (change.as_str(), None),
            Err(error) => {
                let found = CommandError::from_error(Exit::Environment, error).one_line();
                ("failed", Some(found))
            }
        };
        Self {
            client: place.client.program.to_owned(),
            settings: place.path.display().to_string(),
            change: change.to_owned(),
            note,
            hint,
            what: GUARD,
            with: None,
        }
    }

    /// The same of a plugin that asks the guard.
    pub fn of_plugin(client: &Client, path: &Path, change: &Result<Change, RegisterError>) -> Self {
        let (word, note) = match change {
            Ok(change) => (change.as_str(), None),
            Err(error) => {
                let found = CommandError::from_error(Exit::Environment, error).one_line();
                ("failed", Some(found))
            }
        };
        Self {
            client: client.program.to_owned(),
            settings: path.display().to_string(),
            change: word.to_owned(),
            note,
            hint: change.as_ref().err().and_then(RegisterError::hint),
            what: GUARD,
            with: None,
        }
    }

    /// The same for hooks, with the ones that came with the guard: session hooks, and `gate`.
    pub fn of_hooks(
        place: &SettingsFile,
        change: &Result<Change, RegisterError>,
        gate: Option<&str>,
    ) -> Self {
        let mut output = Self::of(place, change);
        if matches!(change, Ok(Change::Registered)) {
            let events: Vec<&str> = place
                .hooks
                .session
                .iter()
                .map(|(event, _)| *event)
                .collect();
            let gate = gate.map_or_else(String::new, |gate| format!(", and {gate}"));
            output.with = Some(format!("session hooks ({}){gate}", events.join(" ")));
        }
        output
    }

    /// The same of the server of tools.
    pub fn of_server(place: &SettingsFile, change: &Result<Change, RegisterError>) -> Self {
        let output = Self::of(place, change);
        Self {
            note: output.note.filter(|_| change.is_err()),
            what: SERVER,
            ..output
        }
    }

    /// Whether the change of a client's settings failed.
    pub fn has_failed(&self) -> bool {
        self.change == "failed"
    }

    /// Says what was done, or would be.
    pub fn tell(&self, context: &Context, would: bool) {
        let Self {
            client,
            settings,
            change,
            note,
            hint,
            what,
            with,
        } = self;
        if self.has_failed() {
            let what = format!("{client}: {}", note.as_deref().unwrap_or_default());
            context.report.warn(&what, *hint);
            return;
        }
        let state = match (change.as_str(), would) {
            ("registered", false) => "is registered in",
            ("registered", true) => "would be registered in",
            ("unchanged", _) => "is already registered in",
            ("absent", _) => "is not registered in",
            (_, true) => "would be removed from",
            (_, false) => "was removed from",
        };
        context
            .report
            .say(&format!("{client}: {what} {state} {settings}"));
        if let Some(with) = with {
            context.report.say(&format!("  with {with}"));
        }
        if let Some(note) = note.as_deref().filter(|_| !would) {
            context.report.hint(note);
        }
    }
}

/// Returns the writer of client settings.
pub fn registrar(context: &Context) -> Registrar {
    Registrar::new(
        context.disk.clone(),
        context.project.homes.registrations(),
        context.tree().to_owned(),
    )
}

/// The value of a variable that begins with a `~` which no shell has expanded.
pub fn with_tilde(context: &Context, variable: &str) -> Option<String> {
    let value = context.environment.get(variable)?.to_str()?;
    let is_home = value == "~" || value.starts_with("~/");
    is_home.then(|| value.to_owned())
}

/// A client's own folder; `None` where there is no home.
pub fn own_folder(context: &Context, client: &Client) -> Option<PathBuf> {
    let value = |name: &str| context.environment.get(name).map(Path::new);
    let home = value("HOME")?;
    Some(client.folder(home, client.home.variable.and_then(value)))
}

/// Returns the place of a client's settings.
pub fn place(context: &Context, client: &'static Client, scope: Scope) -> Option<SettingsFile> {
    let own = own_folder(context, client)?;
    registrar(context).place(client, scope, &own)
}

/// The plugin that asks the guard, for a client whose hooks are plugins; `None` for others, and if there is no home.
pub fn plugin(context: &Context, client: &Client, scope: Scope) -> Option<PathBuf> {
    if client.program != "opencode" {
        return None;
    }
    let value = |name: &str| context.environment.get(name).map(Path::new);
    let config = value("XDG_CONFIG_HOME")
        .filter(|path| path.is_absolute())
        .map(Path::to_owned)
        .or_else(|| Some(value("HOME")?.join(".config")))?;
    Some(registrar(context).plugin(scope, &config.join(client.program)))
}

/// Returns the place of a client's list of tool servers.
pub fn server_place(
    context: &Context,
    client: &'static Client,
    scope: Scope,
) -> Option<SettingsFile> {
    let own = own_folder(context, client)?;
    let variable = client.home.variable;
    let moved = variable.is_some_and(|name| context.environment.get(name).is_some());
    registrar(context).server_place(client, scope, (&own, moved))
}

/// Returns the server entry for a client's settings.
pub fn server(context: &Context, client: &Client, scope: Scope) -> Result<Server, CommandError> {
    let program = named_program(context, scope)?;
    let program = program.to_str().ok_or_else(|| unnamed(&program))?;
    let is_set = |name: &&'static str| context.environment.get(name).is_some();
    Ok(Server {
        program: program.to_owned(),
        typed: client.tool_servers.is_some_and(|servers| servers.typed),
        passed: HOMES.into_iter().filter(is_set).collect(),
    })
}

/// Variables by which our homes are found.
const HOMES: [&str; 4] = [
    "CALLOSUM_HOME",
    "CALLOSUM_CONFIG",
    "XDG_STATE_HOME",
    "XDG_CONFIG_HOME",
];

/// Returns the command that a client is to run.
///
/// A project's settings may be shared. They name the program if `PATH` finds this very one;
/// otherwise, and in a user's settings, the path of this program is used, so that no other of that
/// name is run.
pub fn command(context: &Context, client: &Client, scope: Scope) -> Result<String, CommandError> {
    let named = named_program(context, scope)?;
    command_of(&named, client.program).ok_or_else(|| unnamed(&named))
}

/// This program as settings of this scope name it.
fn named_program(context: &Context, scope: Scope) -> Result<PathBuf, CommandError> {
    let program = own_program()?;
    let by_name = scope == Scope::Project && is_in_path(context, &program);
    Ok(if by_name {
        PathBuf::from("callosum")
    } else {
        program
    })
}

fn unnamed(program: &Path) -> CommandError {
    let what = format!(
        "client settings cannot name the program `{}`",
        program.display()
    );
    CommandError::new(Exit::Environment, what)
}

/// The path of this very program.
pub fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "cannot find the path of this program",
            &error,
        )
    })
}

fn is_in_path(context: &Context, program: &Path) -> bool {
    let found = in_path(context);
    found.is_some() && found == context.disk.canonicalize(program).ok()
}

/// The program of our name that the absolute folders of `PATH` find, links resolved.
pub fn in_path(context: &Context) -> Option<PathBuf> {
    let path = context.environment.get("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.find_map(|folder| context.disk.canonicalize(&folder.join("callosum")).ok())
}
