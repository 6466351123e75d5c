//! The session checks of `doctor`: whether clients report their sessions, and whether a new session
//! gets its digest.
//!
//! A client ignores a hook that does not answer, without a message. So the hook that is registered
//! for the start of a session is run here, in a project of its own that has something to report.

use std::path::PathBuf;

use callosum_client::registration::SettingsFile;
use callosum_config::Places;
use callosum_executor::client::Client;
use callosum_host::process::Ending;
use callosum_session::Zones;
use serde_json::json;

use crate::context::Context;
use crate::doctor::{Checks, Outcome};
use crate::{CommandError, Exit, client_settings, disk_errors, guard_hooks, hook_probe};

/// Text that the start hook has to print in the trial.
const QUESTION: &str = "does the start hook print this?";

/// The word of the event at which it is.
pub const BEGINS: &str = "session-start";

/// Checks whether the start hook prints the digest of a project; the error is the reason why not.
pub fn is_told(context: &Context, command: &str) -> Result<(), String> {
    let run = hook_probe::run(context, command, |folder| {
        let zones = Zones {
            tree: folder.to_owned(),
            root: folder.to_owned(),
        };
        let notes = zones.notes();
        let text = format!("### Pending Questions\n- [ ] {QUESTION}\n");
        if let Some(folder) = notes.parent() {
            let made = context.disk.create_dir_all(folder);
            made.map_err(|error| disk_errors::disk_failed(&error))?;
        }
        // A root of its own, also where the home folder is in a repository.
        for (path, bytes) in [
            (&notes, text.as_bytes()),
            (&Places::calrc_in(folder), b"{}"),
        ] {
            let written = context.disk.replace(path, bytes, 0o644);
            written.map_err(|error| disk_errors::disk_failed(&error))?;
        }
        Ok(json!({"session_id": "callosum-doctor", "cwd": folder, "source": "startup"}))
    })?;
    let output = String::from_utf8_lossy(&run.output);
    if run.ending == Ending::Exited(0) && output.contains(QUESTION) {
        Ok(())
    } else {
        Err("its output lacks the text of the notes".to_owned())
    }
}

/// Whether a context is only cleared where its decisions have evidence.
pub fn check_gate(
    context: &Context,
    checks: &mut Checks,
    client: &'static Client,
    places: &[SettingsFile],
    is_installed: bool,
) {
    let Some((hooks, proven)) = client.hooks.and_then(|hooks| Some((hooks, hooks.gate?))) else {
        return;
    };
    let name = format!("gate of {}", client.program);
    let registrar = client_settings::registrar(context);
    let (mut is_there, mut is_shadowed) = (false, false);
    for place in places {
        // The failure to read a place is reported below.
        let typed = |(event, _)| registrar.commands_for(place, event).unwrap_or_default();
        if hooks
            .typed
            .map(typed)
            .is_some_and(|commands| !commands.is_empty())
        {
            is_shadowed = true;
            let settings = place.path.display();
            let found = format!(
                "/clear checks and never clears, /new clears without a check, set in {settings}"
            );
            checks.add(&name, Outcome::Ok, found, None);
        }
        match registrar.has_gate(place) {
            Ok(true) => {
                is_there = true;
                let settings = place.path.display();
                let program = registrar.gate_program().ok().flatten();
                let is_run = |program: &PathBuf| context.disk.exists(program).unwrap_or(false);
                if program.as_ref().is_some_and(is_run) {
                    let found = format!("on: /clear is checked first, set in {settings}");
                    checks.add(&name, Outcome::Ok, found, None);
                } else {
                    let program = program.map(|program| program.display().to_string());
                    let program = program.unwrap_or_else(|| "its program".to_owned());
                    let found =
                        format!("denies every /clear, set in {settings}: {program} does not exist");
                    let again = format!("callosum init --client {}", client.program);
                    checks.add(&name, Outcome::Failed, found, Some(&again));
                }
            }
            Ok(false) => {}
            Err(error) => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                checks.add(&name, Outcome::Warning, found, None);
            }
        }
    }
    if !is_installed {
        return;
    }
    if !is_there && !is_shadowed {
        let found = "off: /clear is not checked";
        checks.add(&name, Outcome::Ok, found, None);
    }
    if !is_there {
        return;
    }
    if let Some(version) = guard_hooks::version(context, client).filter(|found| *found < proven) {
        let found = format!(
            "version {version} is older than {proven}, the oldest version tested with this gate"
        );
        checks.add(&name, Outcome::Warning, found, Some(client.update));
    }
}
