//! `callosum uninstall`: takes our hooks out of the settings of clients.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    clients::{self, ClientName, ClientOutput},
    context::Context,
};
use crate::{
    registration::{Doing, Place, Scope},
    ui::{CommandError, Exit},
};

/// Take the guard's hooks out of the settings of coding agents
///
/// Takes out what `callosum init` put in, and nothing else: a settings file that nobody wrote to
/// since is afterwards what it was before, byte for byte. Ledger, journal and configuration stay.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum uninstall --dry-run
  $ callosum uninstall
  $ callosum uninstall --client codex")]
pub(crate) struct UninstallArgs {
    /// Only from this client's settings; may be given several times
    #[arg(long = "client", value_name = "CLIENT", value_enum)]
    clients: Vec<ClientName>,
    /// Only from settings of this scope
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// `callosum uninstall --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct UninstallOutput {
    /// Whether nothing was done but to say what would be.
    pub(crate) dry_run: bool,
    /// What was done to the settings of clients; those without our hooks are left out.
    pub(crate) clients: Vec<ClientOutput>,
}

pub(super) fn run(context: &Context, args: &UninstallArgs) -> Result<(), CommandError> {
    let doing = if args.dry_run {
        Doing::Tell
    } else {
        Doing::Write
    };
    let registrar = clients::registrar(context);
    let outputs: Vec<ClientOutput> = places(context, args)?
        .iter()
        .map(|place| ClientOutput::of(place, &registrar.unregister(place, doing)))
        .filter(|output| output.change != "absent")
        .collect();
    let has_failed = outputs.iter().any(ClientOutput::has_failed);
    if context.ui.json {
        context.ui.json_data(&UninstallOutput {
            dry_run: args.dry_run,
            clients: outputs,
        })?;
    } else {
        if outputs.is_empty() {
            context
                .ui
                .say("no settings of a client have the guard in them");
        }
        for output in &outputs {
            output.tell(context, args.dry_run);
        }
    }
    if has_failed {
        return Err(CommandError::told(Exit::Environment));
    }
    Ok(())
}

/// Every settings file that may have our hooks in it: those that are looked at from here, and those
/// that this machine remembers.
fn places(context: &Context, args: &UninstallArgs) -> Result<Vec<Place>, CommandError> {
    let all = <ClientName as clap::ValueEnum>::value_variants();
    let wanted = if args.clients.is_empty() {
        all
    } else {
        &args.clients
    };
    let scopes = [Scope::User, Scope::Project];
    let mut places: Vec<Place> = wanted
        .iter()
        .flat_map(|name| scopes.map(|scope| (name.client(), scope)))
        .filter(|(_, scope)| args.scope.is_none_or(|wanted| wanted == *scope))
        .filter_map(|(client, scope)| clients::place(context, client, scope))
        .collect();
    if args.scope.is_none() {
        let remembered = clients::registrar(context)
            .remembered(&places)
            .map_err(|error| super::store::disk_failed(&error))?;
        let is_wanted = |place: &Place| wanted.iter().any(|name| name.client() == place.client);
        places.extend(remembered.into_iter().filter(is_wanted));
    }
    Ok(places)
}
