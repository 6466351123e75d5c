//! The guard checks of `doctor`: whether clients ask it, and whether it answers.
//!
//! A client whose hook is missing runs a tool as if no hook were in its settings. So each
//! registered command is run here, with a call that must be stopped and one that must not, in a
//! folder and a home of their own.

use std::path::{Path, PathBuf};

use callosum_client::registration::{Scope, SettingsFile, Trust};
use callosum_executor::client::{Allowing, Client, Hooks, Version};
use callosum_guard::Strictness;
use callosum_host::process;
use callosum_host::process::{Ending, Launch, Run};
use serde_json::json;

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::{CommandError, Exit, client_settings, hook_probe};

/// A command that the guard must stop under any configuration. The next constant is one that it
/// must allow.
const STOPPED: &str = "git reset --hard";

const PASSED: &str = "ls";

/// Checks the guard of a client whose hooks are plugins.
pub fn check_plugin(
    context: &Context,
    checks: &mut Checks,
    client: &'static Client,
    is_installed: bool,
) {
    let name = format!("guard of {}", client.program);
    let again = format!("callosum init --client {}", client.program);
    let registrar = client_settings::registrar(context);
    let mut is_there = false;
    for scope in [Scope::User, Scope::Project] {
        let Some(path) = client_settings::plugin(context, client, scope) else {
            return;
        };
        let shown = path.display();
        let (outcome, found) = match registrar.plugin_command(&path) {
            Ok(None) => continue,
            Err(error) => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                (Outcome::Warning, found)
            }
            Ok(Some(command)) => {
                if let Err(found) = hook_probe::check_program(context, (scope, &path), &command) {
                    (Outcome::Warning, found)
                } else if let Some(found) = hook_probe::untried(context) {
                    (Outcome::Warning, found)
                } else {
                    match fires(context, client, &command) {
                        Ok(()) => (Outcome::Ok, format!("answers, registered in {shown}")),
                        Err(reason) => {
                            let found = format!("fails, registered in {shown}: {reason}");
                            (Outcome::Failed, found)
                        }
                    }
                }
            }
        };
        is_there = true;
        let hint = (outcome != Outcome::Ok).then_some(again.as_str());
        checks.add(&name, outcome, found, hint);
    }
    if is_there {
        let limits = "opencode plugins cannot ask a person: commands that need confirmation are denied; \
                      commands that a person types are not checked";
        checks.add(&format!("{name}, limits"), Outcome::Ok, limits, None);
    } else if is_installed {
        let found = "not registered, so its commands are not checked";
        checks.add(&name, Outcome::Warning, found, Some(&again));
    }
}

/// Reports values in each `cake_config.yaml` that are invalid or ignored.
pub fn check_configuration(context: &Context, checks: &mut Checks) {
    const NAME: &str = "guard, configuration";
    let hint = Some("callosum config check");
    let guard = context.project.guard(&context.disk);
    for broken in &guard.broken {
        let found = CommandError::from_error(Exit::No, broken).one_line();
        checks.add(NAME, Outcome::Failed, found, hint);
    }
    let passed_over = guard.passed_over.iter().map(ToString::to_string);
    let unknown = guard.unknown.iter();
    let unknown = unknown.map(|named| format!("{named} is unknown and ignored"));
    let (_, skipped) = callosum_client::intervention::compile_patterns(&guard.config);
    let skipped = skipped.iter().map(|error| format!("patterns: {error}"));
    for found in passed_over.chain(unknown).chain(skipped) {
        checks.add(NAME, Outcome::Warning, found, hint);
    }
    if guard.broken.is_empty() {
        let found = match guard.config.strictness {
            Strictness::Minimal => "minimal",
            Strictness::Balanced => "balanced",
            Strictness::Paranoid => "paranoid",
        };
        checks.add(NAME, Outcome::Ok, format!("strictness {found}"), None);
    }
}

/// Says at which other events the guard is not registered: an `init` before there were such events left them out.
pub fn check_deciding(
    context: &Context,
    checks: &mut Checks,
    (client, name): (&Client, &str),
    commands: &[(SettingsFile, String)],
    again: &str,
) {
    let registrar = client_settings::registrar(context);
    let beside = client.hooks.map_or(&[][..], |hooks| hooks.deciding);
    for (event, _) in beside {
        let is_there = |(place, _): &(SettingsFile, String)| {
            let found = registrar.commands_for(place, event);
            found.is_ok_and(|found| !found.is_empty())
        };
        if !commands.iter().any(is_there) {
            let hooks = client.hooks.map(|hooks| hooks.allowing);
            let found = if hooks == Some(Allowing::AtPrompt(event)) {
                format!("not registered for {event}: auto-allow has no effect on its prompts")
            } else {
                format!("not registered for {event}, so what runs then is not checked")
            };
            checks.add(name, Outcome::Warning, found, Some(again));
        }
    }
}

/// Returns the command that registers this program in a client's settings again.
pub fn again_in(place: &SettingsFile) -> String {
    let program = place.client.program;
    match place.scope {
        Scope::User => format!("callosum init --client {program}"),
        Scope::Project => format!("callosum init --scope project --client {program}"),
    }
}

/// Reports settings of a client that keep it from asking the guard. Returns whether it does not ask
/// at all.
pub fn check_doubts(
    context: &Context,
    checks: &mut Checks,
    name: &str,
    place: &SettingsFile,
    own: &Path,
) -> bool {
    let doubts = match client_settings::registrar(context).doubts(place, own) {
        Ok(doubts) => doubts,
        Err(error) => {
            let found = CommandError::from_error(Exit::No, &error).one_line();
            checks.add(name, Outcome::Warning, found, None);
            return false;
        }
    };
    for (settings, doubt) in &doubts {
        let hint = doubt.hint(settings, place.client.program);
        let (outcome, what) = if doubt.is_fatal() {
            (Outcome::Failed, "the client does not run the hook")
        } else {
            (Outcome::Warning, "the client does not always run the hook")
        };
        let found = format!(
            "{what}, although it is registered in {}: {doubt} (in {})",
            place.path.display(),
            settings.display()
        );
        checks.add(name, outcome, found, Some(&hint));
    }
    doubts.iter().any(|(_, doubt)| doubt.is_fatal())
}

/// Reports what keeps a client from asking although the hook is registered.
pub fn check_limits(
    context: &Context,
    checks: &mut Checks,
    client: &'static Client,
    name: &str,
    commands: &[(SettingsFile, String)],
    is_installed: bool,
) {
    let Some(hooks) = client.hooks else {
        return;
    };
    if let Some(own) = client_settings::own_folder(context, client) {
        check_trust(context, checks, name, commands, &own);
    }
    let limits = format!("{} {}", client.program, hooks.limits);
    checks.add(&format!("{name}, limits"), Outcome::Ok, limits, None);
    if !is_installed {
        return;
    }
    match version(context, client) {
        Some(found) if found < hooks.proven => {
            let text = format!(
                "version {found} is older than {}, the oldest version tested with this hook",
                hooks.proven
            );
            checks.add(name, Outcome::Warning, text, Some(client.update));
        }
        Some(_) | None => {}
    }
}

/// Returns the events at which a client waits for the guard before it runs something. Without the one at its prompt, it
/// prompts.
fn deciding(hooks: &Hooks) -> Vec<&'static str> {
    let beside = hooks.deciding.iter().map(|(event, _)| *event);
    let beside = beside.filter(|event| hooks.allowing != Allowing::AtPrompt(event));
    std::iter::once(hooks.before_tool).chain(beside).collect()
}

/// Whether a person has trusted what is registered, where the client asks for that.
fn check_trust(
    context: &Context,
    checks: &mut Checks,
    name: &str,
    commands: &[(SettingsFile, String)],
    own: &Path,
) {
    let registrar = client_settings::registrar(context);
    let mut places: Vec<&SettingsFile> = commands.iter().map(|(place, _)| place).collect();
    places.dedup();
    for place in places {
        let (program, path) = (place.client.program, place.path.display());
        match registrar.trust(place, own, &deciding(&place.hooks)) {
            Ok(None) => {}
            Ok(Some(Trust::Trusted)) => {
                let found =
                    format!("a person trusted {path}; {program} asks again after every change");
                checks.add(name, Outcome::Ok, found, None);
            }
            Ok(Some(Trust::Stale)) => {
                let found = format!(
                    "{program} ignores the hooks: {path} changed since a person trusted it; start {program} \
                     in a terminal and trust them"
                );
                checks.add(name, Outcome::Warning, found, Some(program));
            }
            Ok(Some(Trust::Missing)) => {
                let found = format!(
                    "{program} ignores the hooks in {path} until a person trusts them: start {program} in a \
                     terminal and trust them"
                );
                checks.add(name, Outcome::Warning, found, Some(program));
            }
            Err(error) => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                checks.add(name, Outcome::Warning, found, None);
            }
        }
        if registrar.has_others(place, own).unwrap_or(false) {
            let settings = place.client.settings;
            let found = format!("{settings} has hooks too; {program} warns if it finds both");
            checks.add(name, Outcome::Ok, found, None);
        }
    }
}

/// Whether a registered command stops what it must and lets pass what it must; else why not.
pub fn fires(context: &Context, client: &Client, command: &str) -> Result<(), String> {
    let stopped = ask(context, command, STOPPED)?;
    let answer = String::from_utf8_lossy(&stopped.output);
    let is_denied = match stopped.ending {
        Ending::Exited(0) => answer.contains("\"deny\""),
        Ending::Exited(2) => true,
        _ => false,
    };
    if !is_denied {
        return Err(format!("it does not deny `{STOPPED}`"));
    }
    let passed = ask(context, command, PASSED)?;
    let answer = String::from_utf8_lossy(&passed.output);
    if passed.ending != Ending::Exited(0) || answer.contains("\"deny\"") {
        let program = client.program;
        return Err(format!(
            "it denies even `{PASSED}`, so {program} cannot run any command"
        ));
    }
    Ok(())
}

fn ask(context: &Context, hook: &str, command: &str) -> Result<Run, String> {
    hook_probe::run(context, hook, |folder| {
        Ok(json!({
            "session_id": "callosum-doctor",
            "cwd": folder,
            "permission_mode": "bypassPermissions",
            "tool_name": "Bash",
            "tool_input": {"command": command},
        }))
    })
}

/// The version that a client says it has.
pub fn version(context: &Context, client: &Client) -> Option<Version> {
    let environment = context.environment.iter();
    let launch = Launch {
        program: PathBuf::from(client.program),
        arguments: vec!["--version".into()],
        folder: context.folder.clone(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: hook_probe::limits(),
    };
    let run = process::run(&launch, &context.cancel, &mut |_, _| {}).ok()?;
    Version::find(&String::from_utf8_lossy(&run.output))
}
