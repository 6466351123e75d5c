//! A registered hook, tried out: in a folder and a home of its own, so that nothing is kept of it.
//!
//! Settings of a project come with it, and may give any program our name: [`check_program`] says which
//! of them are tried out at all.

use std::path::{Path, PathBuf};
use std::time::Duration;

use callosum_client::registration::Scope;
use callosum_host::process;
use callosum_host::process::{Launch, Limits, Run};
use serde_json::Value;

use crate::context::Context;
use crate::{CommandError, Exit, client_settings, disk_errors};

/// Time that a hook may take to answer, and a client to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a program in settings may be started: one that `PATH` finds, one that the user's own
/// settings name, or this very program. The error describes another one.
pub fn check_program(
    context: &Context,
    (scope, settings): (Scope, &Path),
    command: &str,
) -> Result<(), String> {
    let words = shlex::split(command).unwrap_or_default();
    let Some(named) = words.first() else {
        return Err("its command is not valid shell syntax".to_owned());
    };
    let path = Path::new(named);
    // A name is looked up in the absolute folders of `PATH`. In a project's settings any but ours may be any program.
    let is_name = path.components().count() == 1
        && path.is_relative()
        && (scope == Scope::User || named == "callosum");
    let is_own = || {
        // A missing program fails when it is started.
        let Ok(found) = context.disk.canonicalize(path) else {
            return true;
        };
        let own = client_settings::own_program().ok();
        let own = own.and_then(|own| context.disk.canonicalize(&own).ok());
        [own, client_settings::in_path(context)].contains(&Some(found))
    };
    if is_name || path.is_absolute() && (scope == Scope::User || is_own()) {
        return Ok(());
    }
    Err(format!(
        "{} names `{named}`, which is not this program, so it was not run",
        settings.display()
    ))
}

/// Returns the reason why no trial can be run; `None` if one can. A trial needs a folder of its
/// own, in the machine's home.
pub fn untried(context: &Context) -> Option<String> {
    let written = context.scratch().and_then(|scratch| {
        let probe = scratch.path().join("probe");
        let written = context.disk.replace(&probe, b"probe", 0o600);
        written.map_err(|error| disk_errors::disk_failed(&error))
    });
    written
        .err()
        .map(|error| format!("not tested: {}", error.one_line()))
}

/// Runs a hook's command as its client would, with the event that `lay` gives for the folder, in
/// which it may lay files before; else says why it does not run.
pub fn run(
    context: &Context,
    command: &str,
    lay: impl FnOnce(&Path) -> Result<Value, CommandError>,
) -> Result<Run, String> {
    let words = shlex::split(command).ok_or("its command is not valid shell syntax")?;
    let [program, arguments @ ..] = words.as_slice() else {
        return Err("its command is empty".to_owned());
    };
    let scratch = context.scratch().map_err(|error| error.one_line())?;
    let folder = scratch.path().to_owned();
    let event = lay(&folder).map_err(|error| error.one_line())?;
    let mut environment: Vec<_> = context
        .environment
        .iter()
        .filter(|(name, _)| {
            !matches!(name.to_str(), Some("CALLOSUM_HOME" | "CALLOSUM_CONFIG"))
                && !name.as_encoded_bytes().ends_with(b"_PROJECT_DIR")
        })
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // A trial must not reach a real journal.
    environment.push(("CALLOSUM_HOME".into(), folder.join("home").into()));
    // How strict the user wants it is another question than whether it answers.
    environment.push(("CALLOSUM_CONFIG".into(), folder.join("config.toml").into()));
    let launch = Launch {
        program: PathBuf::from(program),
        arguments: arguments.iter().map(Into::into).collect(),
        folder,
        environment,
        input: event.to_string().into_bytes(),
        limits: limits(),
    };
    process::run(&launch, &context.cancel, &mut |_, _| {})
        .map_err(|error| CommandError::from_error(Exit::No, &error).one_line())
}

/// Limits for a program that only has to answer.
pub const fn limits() -> Limits {
    Limits {
        quiet: None,
        total: Some(PATIENCE),
        output_bytes: 1 << 20,
        error_bytes: 1 << 16,
    }
}
