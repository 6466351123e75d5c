//! `doctor`'s report on the guard: whether clients call it, and whether it answers.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::guard_hooks`].

use callosum_app::doctor::{Checks, Outcome};
use callosum_app::guard_hooks::{
    again_in, check_configuration, check_deciding, check_doubts, check_limits, check_plugin, fires,
};
use callosum_app::{CommandError, Exit, hook_probe};
use callosum_client::registration::Scope;
use callosum_executor::client::Client;

use super::client_settings;
use super::client_settings::ClientName;
use super::context::Context;

pub(super) fn check(context: &Context, checks: &mut Checks) {
    check_configuration(context, checks);
    let installed = client_settings::installed(context);
    for name in <ClientName as clap::ValueEnum>::value_variants() {
        let client = name.client();
        let is_installed = installed.contains(&client);
        for variable in name.folder_variables() {
            if let Some(value) = callosum_app::client_settings::with_tilde(context, variable) {
                let found = format!(
                    "`{variable}` is `{value}`: the shell did not expand `~`, so {} uses a folder named `~`",
                    client.program
                );
                let home = value.strip_prefix('~').unwrap_or_default();
                let hint = format!("export {variable}=\"$HOME{home}\"");
                let name = format!("guard of {}", client.program);
                checks.add(&name, Outcome::Warning, found, Some(&hint));
            }
        }
        check_client(context, checks, client, is_installed);
        check_plugin(context, checks, client, is_installed);
    }
}

fn check_client(
    context: &Context,
    checks: &mut Checks,
    client: &'static Client,
    is_installed: bool,
) {
    if client.hooks.is_none() {
        return;
    }
    let name = format!("guard of {}", client.program);
    let places = [Scope::User, Scope::Project]
        .into_iter()
        .filter_map(|scope| callosum_app::client_settings::place(context, client, scope));
    let registrar = callosum_app::client_settings::registrar(context);
    let mut commands = Vec::new();
    for place in places {
        match registrar.commands(&place) {
            Ok(found) => {
                commands.extend(found.into_iter().map(|command| (place.clone(), command)));
            }
            Err(error) if is_installed => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                checks.add(&name, Outcome::Warning, found, None);
            }
            Err(_) => {}
        }
    }
    let again = format!("callosum init --client {}", client.program);
    if commands.is_empty() {
        if is_installed {
            let found = "not installed, so its commands are not checked";
            checks.add(&name, Outcome::Warning, found, Some(&again));
        }
        return;
    }
    let own = callosum_app::client_settings::own_folder(context, client).unwrap_or_default();
    for (place, command) in &commands {
        let settings = place.path.display();
        if check_doubts(context, checks, &name, place, &own) {
            continue;
        }
        if let Err(found) = hook_probe::check_program(context, (place.scope, &place.path), command)
        {
            checks.add(&name, Outcome::Warning, found, Some(&again_in(place)));
            continue;
        }
        if let Some(found) = hook_probe::untried(context) {
            checks.add(&name, Outcome::Warning, found, None);
            continue;
        }
        match fires(context, client, command) {
            Ok(()) => {
                let found = format!("answers, registered in {settings}");
                checks.add(&name, Outcome::Ok, found, None);
                checks.has("guard", client_settings::label(client));
            }
            Err(reason) => {
                let found = format!("fails, registered in {settings}: {reason}");
                checks.add(&name, Outcome::Failed, found, Some(&again));
            }
        }
    }
    check_deciding(context, checks, (client, &name), &commands, &again);
    check_limits(context, checks, client, &name, &commands, is_installed);
}
