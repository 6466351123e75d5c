//! The programs that clients start as our hooks and our server of tools.
//!
//! A new copy of the program does not change settings. Until `init` runs again, clients start the old copy.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use callosum_client::registration::{RegisterError, Scope};
use callosum_executor::client::Client;
use callosum_executor::output_format::Dialect;

use super::search_path::described;
use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::{CommandError, Exit, client_settings};

/// The program that a client's settings name.
#[derive(Debug, PartialEq, Eq)]
enum Registered {
    /// This very file.
    Own,
    /// A file that does not exist, or a name that `PATH` does not find.
    Missing,
    /// Another file.
    Other(PathBuf),
}

/// Adds a line for each client's settings that name a program of ours.
pub(super) fn check(context: &Context, own: &Path, checks: &mut Checks) {
    let before = checks.lines.len();
    for client in Dialect::ALL.into_iter().filter_map(Client::of) {
        for scope in [Scope::User, Scope::Project] {
            check_client(context, own, client, scope, checks);
        }
    }
    if checks.lines.len() == before {
        checks.add("hooks", Outcome::Ok, "none registered", None);
    }
}

fn check_client(
    context: &Context,
    own: &Path,
    client: &'static Client,
    scope: Scope,
    checks: &mut Checks,
) {
    let registrar = client_settings::registrar(context);
    let program = client.program;
    if let Some(place) = client_settings::place(context, client, scope) {
        let commands = registrar.commands(&place);
        let name = format!("hooks of {program}");
        check_settings(context, own, (scope, &place.path), &name, commands, checks);
    }
    if let Some(path) = client_settings::plugin(context, client, scope) {
        let command = registrar.plugin_command(&path);
        let commands = command.map(|command| command.into_iter().collect());
        let name = format!("hooks of {program}");
        check_settings(context, own, (scope, &path), &name, commands, checks);
    }
    if let Some(place) = client_settings::server_place(context, client, scope) {
        let quoted = |program: String| shlex::try_quote(&program).ok().map(String::from);
        let server = registrar.server(&place);
        let commands = server.map(|server| server.and_then(quoted).into_iter().collect());
        let name = format!("tools of {program}");
        check_settings(context, own, (scope, &place.path), &name, commands, checks);
    }
}

/// Adds a line for each program that a settings file names in its commands.
fn check_settings(
    context: &Context,
    own: &Path,
    (scope, settings): (Scope, &Path),
    name: &str,
    commands: Result<Vec<String>, RegisterError>,
    checks: &mut Checks,
) {
    let commands = match commands {
        Ok(commands) => commands,
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            return checks.add(name, Outcome::Warning, found, Some("callosum doctor"));
        }
    };
    let programs: BTreeSet<String> = commands
        .iter()
        .filter_map(|command| shlex::split(command)?.into_iter().next())
        .collect();
    let client = name.rsplit(' ').next().unwrap_or_default();
    let again = match scope {
        Scope::User => format!("callosum init --client {client}"),
        Scope::Project => format!("callosum init --scope project --client {client}"),
    };
    let shown = settings.display();
    for program in programs {
        let found = match registered(context, own, &program) {
            Registered::Own => {
                let found = format!("start this program, registered in {shown}");
                checks.add(name, Outcome::Ok, found, None);
                continue;
            }
            Registered::Missing => format!("start `{program}`, which does not exist ({shown})"),
            // Settings of a project come with it, and may name any program.
            Registered::Other(other) if scope == Scope::Project => {
                format!("start {}, not this program ({shown})", other.display())
            }
            Registered::Other(other) => {
                let other = described(context, &other);
                format!("start {other}, not this program ({shown})")
            }
        };
        checks.add(name, Outcome::Failed, found, Some(&again));
    }
}

fn registered(context: &Context, own: &Path, program: &str) -> Registered {
    let path = Path::new(program);
    let found = if path.components().count() == 1 && path.is_relative() {
        let folders = context.environment.get("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(folders).filter(|folder| folder.is_absolute());
        folders.find_map(|folder| context.disk.canonicalize(&folder.join(path)).ok())
    } else {
        context.disk.canonicalize(path).ok()
    };
    match found {
        None => Registered::Missing,
        Some(found) if found == own => Registered::Own,
        Some(found) => Registered::Other(found),
    }
}
