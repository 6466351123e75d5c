//! What `doctor` says of our server of tools: whether clients are told of it, and whether it answers.
//!
//! Each registered program is started here as its client would start it, and asked to begin.

use std::path::PathBuf;

use callosum_agents::client::Client;
use callosum_host::process::{self, Ending, Launch};
use serde_json::{Value, json};

use super::{
    clients::{self, ClientName},
    context::Context,
    doctor::{Checks, Outcome},
    guarding, trial,
};
use crate::ui::{CommandError, Exit};
use callosum_client::registration::Scope;

/// What its name is in its answer.
const NAME: &str = "callosum";

pub(super) fn check(context: &Context, checks: &mut Checks) {
    let installed = clients::installed(context);
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
    let registrar = clients::registrar(context);
    let mut is_told = false;
    for scope in [Scope::User, Scope::Project] {
        let Some(place) = clients::server_place(context, client, scope) else {
            continue;
        };
        let settings = place.path.display();
        match registrar.server(&place) {
            Ok(None) => continue,
            Ok(Some(program)) => {
                let quoted = shlex::try_quote(&program).unwrap_or_default();
                if let Err(found) =
                    trial::check_program(context, (place.scope, &place.path), &quoted)
                {
                    let again = guarding::again_in(&place);
                    checks.add(&name, Outcome::Warning, found, Some(&again));
                } else if let Some(found) = trial::untried(context) {
                    checks.add(&name, Outcome::Warning, found, None);
                } else if let Err(reason) = answers(context, &program) {
                    let found =
                        format!("`{program} mcp` fails, registered in {settings}: {reason}");
                    checks.add(&name, Outcome::Failed, found, Some(&again));
                } else {
                    let found = format!("`callosum mcp` answers, registered in {settings}");
                    checks.add(&name, Outcome::Ok, found, None);
                    checks.has("tools", clients::label(client));
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
        // Nobody needs them: what is missing is no fault.
        let found = "not registered, so its models lack the tools find, decide and delegate";
        checks.add(&name, Outcome::Ok, found, Some(&again));
    }
}

/// Whether a registered program is our server; else why not.
fn answers(context: &Context, program: &str) -> Result<(), String> {
    let scratch = context.scratch().map_err(|error| error.one_line())?;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "callosum-doctor", "version": env!("CARGO_PKG_VERSION")},
    }});
    let environment = context.environment.iter();
    let launch = Launch {
        program: PathBuf::from(program),
        arguments: vec!["mcp".into()],
        folder: scratch.path().to_owned(),
        environment: environment
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: format!("{request}\n").into_bytes(),
        limits: trial::limits(),
    };
    let run = process::run(&launch, &context.cancel, &mut |_, _| {})
        .map_err(|error| CommandError::from_error(Exit::No, &error).one_line())?;
    if run.ending != Ending::Exited(0) {
        return Err("it did not exit successfully at the end of its input".to_owned());
    }
    let answer: Option<Value> = serde_json::from_slice(&run.output).ok();
    let named = answer.map(|answer| answer["result"]["serverInfo"]["name"] == NAME);
    named
        .unwrap_or(false)
        .then_some(())
        .ok_or_else(|| "its answer to `initialize` is not that of callosum".to_owned())
}
