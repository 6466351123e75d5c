//! `doctor`'s report on sessions: whether clients call the session hooks, and whether a new session
//! gets its summary.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::session_hooks`].

use callosum_app::doctor::{Checks, Outcome};
use callosum_app::session_hooks::{BEGINS, check_gate, is_told};
use callosum_app::{guard_hooks, hook_probe};
use callosum_client::registration::{Scope, SettingsFile, Trust};
use callosum_executor::client::Client;

use super::client_settings;
use super::client_settings::ClientName;
use super::context::Context;

pub(super) fn check(context: &Context, checks: &mut Checks) {
    let installed = client_settings::installed(context);
    for name in <ClientName as clap::ValueEnum>::value_variants() {
        let client = name.client();
        let is_installed = installed.contains(&client);
        let scopes = [Scope::User, Scope::Project].into_iter();
        let places =
            scopes.filter_map(|scope| callosum_app::client_settings::place(context, client, scope));
        let places: Vec<SettingsFile> = places.collect();
        check_hooks(context, checks, client, &places, is_installed);
        check_gate(context, checks, client, &places, is_installed);
    }
}

fn check_hooks(
    context: &Context,
    checks: &mut Checks,
    client: &'static Client,
    places: &[SettingsFile],
    is_installed: bool,
) {
    let Some(hooks) = client.hooks else {
        return;
    };
    let name = format!("sessions of {}", client.program);
    let again = format!("callosum init --client {}", client.program);
    let registrar = callosum_app::client_settings::registrar(context);
    let mut missing = Vec::new();
    for (event, word) in hooks.session {
        let mut is_there = false;
        for place in places {
            // The check of the guard reports settings that cannot be read.
            let commands = registrar.commands_for(place, event).unwrap_or_default();
            is_there |= !commands.is_empty();
            if *word == BEGINS {
                for command in commands {
                    check_command(context, checks, &name, place, &command, &again);
                }
            }
        }
        if !is_there {
            missing.push(*event);
        }
    }
    if is_installed && !missing.is_empty() {
        let found = format!("no hooks registered for {}", missing.join(", "));
        checks.add(&name, Outcome::Warning, found, Some(&again));
    }
    let Some(own) = callosum_app::client_settings::own_folder(context, client) else {
        return;
    };
    let waits = |place: &SettingsFile, event: &str| {
        let trust = registrar.trust(place, &own, &[event]);
        matches!(trust, Ok(Some(Trust::Missing | Trust::Stale)))
    };
    for place in places {
        let waiting = hooks
            .session
            .iter()
            .filter(|(event, _)| waits(place, event));
        let waiting: Vec<&str> = waiting.map(|(event, _)| *event).collect();
        if !waiting.is_empty() {
            let found = format!(
                "hooks for {} are ignored until a person trusts them in {}: start {} in a terminal and trust them",
                waiting.join(", "),
                place.path.display(),
                client.program
            );
            checks.add(&name, Outcome::Warning, found, Some(client.program));
        }
    }
}

fn check_command(
    context: &Context,
    checks: &mut Checks,
    name: &str,
    place: &SettingsFile,
    command: &str,
    again: &str,
) {
    let settings = place.path.display();
    if let Err(found) = hook_probe::check_program(context, (place.scope, &place.path), command) {
        let again = guard_hooks::again_in(place);
        checks.add(name, Outcome::Warning, found, Some(&again));
        return;
    }
    if let Some(found) = hook_probe::untried(context) {
        checks.add(name, Outcome::Warning, found, None);
        return;
    }
    match is_told(context, command) {
        Ok(()) => {
            let found = format!("the start hook in {settings} prints its text");
            checks.add(name, Outcome::Ok, found, None);
            checks.has("sessions", client_settings::label(place.client));
        }
        Err(reason) => {
            let found = format!("the start hook in {settings} does not print its text: {reason}");
            checks.add(name, Outcome::Failed, found, Some(again));
        }
    }
}
