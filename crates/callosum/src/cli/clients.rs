//! The clients that `init`, `uninstall` and `doctor` speak of, and where their settings stand.

use std::path::{Path, PathBuf};

use callosum_agents::{client::Client, dialect::Dialect, discover::find_in_path};
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use crate::{
    registration::{Change, Place, RegisterError, Registrar, Scope, command_of},
    ui::{CommandError, Exit},
};

/// A client whose settings can name hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
}

/// What was done to the settings of a client, or would be.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub(crate) struct ClientOutput {
    /// The client.
    pub(crate) client: String,
    /// Its settings.
    pub(crate) settings: String,
    /// `registered`, `unchanged`, `removed`, `restored` (byte for byte), `absent` or `failed`.
    pub(crate) change: String,
    /// Why it failed, or what is left for a person to do.
    pub(crate) note: Option<String>,
}

impl ClientName {
    pub(super) fn client(self) -> &'static Client {
        let dialect = match self {
            Self::Claude => Dialect::Claude,
            Self::Codex => Dialect::Codex,
            Self::Gemini => Dialect::Gemini,
            Self::Qwen => Dialect::Qwen,
        };
        Client::of(dialect).expect("each of them is a client")
    }
}

impl ClientOutput {
    pub(super) fn of(place: &Place, change: &Result<Change, RegisterError>) -> Self {
        let (change, note) = match change {
            Ok(Change::Registered) => {
                let trust = place.client.hooks_to_trust.map(|_| {
                    let program = place.client.program;
                    format!("start {program} once in a terminal and trust the hook")
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
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.change == "failed"
    }

    /// Says what was done, or would be.
    pub(super) fn tell(&self, context: &Context, would: bool) {
        let Self {
            client,
            settings,
            change,
            note,
        } = self;
        if self.has_failed() {
            let what = format!("{client}: {}", note.as_deref().unwrap_or_default());
            context.ui.warn(&what, None);
            return;
        }
        let said = match (change.as_str(), would) {
            ("registered", false) => "the guard is registered in",
            ("registered", true) => "the guard would be registered in",
            ("unchanged", _) => "the guard is there already, in",
            ("absent", _) => "there is no guard in",
            (_, true) => "the guard would be taken out of",
            (_, false) => "the guard was taken out of",
        };
        context.ui.say(&format!("{client}: {said} {settings}"));
        if let Some(note) = note.as_deref().filter(|_| !would) {
            context.ui.hint(note);
        }
    }
}

/// What writes to settings.
pub(super) fn registrar(context: &Context) -> Registrar {
    Registrar::new(
        context.disk.clone(),
        context.project.homes.registrations(),
        context.tree().to_owned(),
    )
}

/// The installed clients whose settings can name hooks.
pub(super) fn installed(context: &Context) -> Vec<&'static Client> {
    let path = context.environment.get("PATH").unwrap_or_default();
    let found = find_in_path(&context.disk, path);
    let of = |name: &ClientName| {
        let client = name.client();
        let mut programs = found.iter().map(|found| found.known.program);
        programs
            .any(|program| program == client.program)
            .then_some(client)
    };
    ClientName::value_variants().iter().filter_map(of).collect()
}

/// A client's own folder; `None` where there is no home.
pub(super) fn own_folder(context: &Context, client: &Client) -> Option<PathBuf> {
    let value = |name: &str| context.environment.get(name).map(Path::new);
    let home = value("HOME")?;
    Some(client.folder(home, client.home.variable.and_then(value)))
}

/// Where a client's settings stand.
pub(super) fn place(context: &Context, client: &'static Client, scope: Scope) -> Option<Place> {
    let own = own_folder(context, client)?;
    registrar(context).place(client, scope, &own)
}

/// What a client is to run.
///
/// In a project's settings, which others may share, by name where that is found; else by the path of
/// this very program, so that no other one of that name is run.
pub(super) fn command(
    context: &Context,
    client: &Client,
    scope: Scope,
) -> Result<String, CommandError> {
    let program = own_program()?;
    let by_name = scope == Scope::Project && is_in_path(context, &program);
    let named = if by_name {
        PathBuf::from("callosum")
    } else {
        program
    };
    command_of(&named, client.program).ok_or_else(|| {
        let what = format!("no settings can name `{}`", named.display());
        CommandError::new(Exit::Environment, what)
    })
}

/// The path of this very program.
pub(super) fn own_program() -> Result<PathBuf, CommandError> {
    std::env::current_exe().map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "this program does not find itself",
            &error,
        )
    })
}

fn is_in_path(context: &Context, program: &Path) -> bool {
    let path = context.environment.get("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let found = folders.find_map(|folder| context.disk.canonicalize(&folder.join("callosum")).ok());
    let own = context.disk.canonicalize(program).ok();
    found.is_some() && found == own
}
