//! `doctor`'s report on our tool server: whether clients have it registered, and whether it
//! answers.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::mcp_registration`].

use callosum_app::doctor::{Checks, Outcome};
use callosum_app::mcp_registration::answers;
use callosum_app::{CommandError, Exit, guard_hooks, hook_probe};
use callosum_client::registration::Scope;
use callosum_executor::client::Client;

use super::client_settings;
use super::client_settings::ClientName;
use super::context::Context;

pub(super) fn check(context: &Context, checks: &mut Checks) {
    let installed = client_settings::installed(context);
    for name in <ClientName as clap::ValueEnum>::value_variants() {
        let client = name.client();
        check_client(context, checks, client, installed.contains(&client));
    }
}

fn check_client(
    context: &Context,
    checks: &mut Checks,
    client: &'static Client,
    is_installed: bool,
) {
    if client.tool_servers.is_none() {
        return;
    }
    let name = format!("tools of {}", client.program);
    let again = format!("callosum init --client {}", client.program);
    let registrar = callosum_app::client_settings::registrar(context);
    let mut is_told = false;
    for scope in [Scope::User, Scope::Project] {
        let Some(place) = callosum_app::client_settings::server_place(context, client, scope)
        else {
            continue;
        };
        let settings = place.path.display();
        match registrar.server(&place) {
            Ok(None) => continue,
            Ok(Some(program)) => {
                let quoted = shlex::try_quote(&program).unwrap_or_default();
                if let Err(found) =
                    hook_probe::check_program(context, (place.scope, &place.path), &quoted)
                {
                    let again = guard_hooks::again_in(&place);
                    checks.add(&name, Outcome::Warning, found, Some(&again));
                } else if let Some(found) = hook_probe::untried(context) {
                    checks.add(&name, Outcome::Warning, found, None);
                } else if let Err(reason) = answers(context, &program) {
                    let found =
                        format!("`{program} mcp` fails, registered in {settings}: {reason}");
                    checks.add(&name, Outcome::Failed, found, Some(&again));
                } else {
                    let found = format!("`callosum mcp` answers, registered in {settings}");
                    checks.add(&name, Outcome::Ok, found, None);
                    checks.has("tools", client_settings::label(client));
                }
            }
            Err(error) if is_installed => {
                let found = CommandError::from_error(Exit::No, &error).one_line();
                checks.add(&name, Outcome::Warning, found, None);
            }
            Err(_) => {}
        }
        is_told = true;
    }
    if !is_told && is_installed {
        // They are optional: a missing registration is no fault.
        let found = "not registered, so its models lack the tools find, decide and delegate";
        checks.add(&name, Outcome::Ok, found, Some(&again));
    }
}
