//! `callosum uninstall`: takes our hooks and our server of tools out of the settings of clients, and the system zone out of the
//! project.

use callosum_agents::client::Client;
use callosum_session::{
    SessionError,
    system::{Fate, Lifted, to_lift},
    trajectory::Agent,
};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    clients::{self, ClientName, ClientOutput},
    context::Context,
    session,
};
use crate::{
    registration::{Doing, Place, Registrar, Scope},
    ui::{CommandError, Exit},
};

/// Take our hooks and tools out of the settings of coding agents, and our files out of the project
///
/// Takes out what `callosum init` put in, and nothing else: a settings file that nobody wrote to
/// since is afterwards what it was before, byte for byte. Of the project, the files below .claude/ go, and the block
/// in CLAUDE.md, as far as nobody changed them. Ledger, journal, configuration, NOTES.md and beads stay. With --client or
/// --scope, only settings are looked at.
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
    /// What was done to the settings of clients; those without anything of ours are left out.
    pub(crate) clients: Vec<ClientOutput>,
    /// The same for files that have our server of tools and no hooks.
    pub(crate) servers: Vec<ClientOutput>,
    /// What was done to the files of the system zone.
    pub(crate) zone: Vec<LiftedOutput>,
}

/// A file of the system zone.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LiftedOutput {
    /// Where it stands, from the root.
    pub(crate) path: String,
    /// `removed`, `restored` where our block was taken out of it, or `kept` where somebody changed what is ours.
    pub(crate) change: String,
}

impl LiftedOutput {
    fn of(lifted: &Lifted) -> Self {
        let change = match lifted.fate {
            Fate::Removed => "removed",
            Fate::Restored(_) => "restored",
            Fate::Stays => "kept",
        };
        Self {
            path: lifted.path.clone(),
            change: change.to_owned(),
        }
    }
}

pub(super) fn run(context: &Context, args: &UninstallArgs) -> Result<(), CommandError> {
    let doing = if args.dry_run {
        Doing::Tell
    } else {
        Doing::Write
    };
    clients::check_folders(context, &wanted(args))?;
    let registrar = clients::registrar(context);
    let is_there = |output: &ClientOutput| output.change != "absent";
    let (places, servers) = places(context, args)?;
    let servers = servers.iter().map(|place| {
        let change = registrar.unregister(place, doing);
        ClientOutput::of_server(place, &change)
    });
    let servers: Vec<ClientOutput> = servers.filter(is_there).collect();
    let outputs = places.iter().map(|place| {
        let change = registrar.unregister(place, doing);
        ClientOutput::of(place, &change)
    });
    let outputs: Vec<ClientOutput> = outputs.filter(is_there).collect();
    if doing == Doing::Write {
        forget_gate(context, &registrar, &places)?;
    }
    let zone = lift(context, args)?;
    let mut all = outputs.iter().chain(&servers);
    let has_failed = all.any(ClientOutput::has_failed);
    if context.ui.json {
        context.ui.json_data(&UninstallOutput {
            dry_run: args.dry_run,
            clients: outputs,
            servers,
            zone,
        })?;
    } else {
        if outputs.is_empty() && servers.is_empty() && zone.is_empty() {
            context
                .ui
                .say("no settings of a client have anything of ours in them");
        }
        for output in outputs.iter().chain(&servers) {
            output.tell(context, args.dry_run);
        }
        tell_zone(context, &zone, args.dry_run);
    }
    if has_failed {
        return Err(CommandError::told(Exit::Environment));
    }
    Ok(())
}

/// Takes what a client has noted itself of the gate out of its own folder.
fn forget_gate(
    context: &Context,
    registrar: &Registrar,
    places: &[Place],
) -> Result<(), CommandError> {
    let gated = places.iter().find(|place| place.hooks.gate.is_some());
    let own = gated.and_then(|place| clients::own_folder(context, place.client));
    let Some(own) = own else {
        return Ok(());
    };
    registrar
        .forget_gate(&own)
        .map_err(|error| super::store::disk_failed(&error))
}

/// Takes the system zone out of the project, unless only settings are meant.
fn lift(context: &Context, args: &UninstallArgs) -> Result<Vec<LiftedOutput>, CommandError> {
    if !args.clients.is_empty() || args.scope.is_some() {
        return Ok(Vec::new());
    }
    let zones = session::zones(context);
    let session = session::session(context, &zones, Agent::default());
    let failed = |error: SessionError| session::explain(&error);
    let mut found = to_lift(&session).map_err(failed)?;
    if !found.is_empty() && !args.dry_run {
        let held = session.hold().map_err(failed)?;
        session::tell_mended(context, &held);
        found = held.lift().map_err(failed)?;
    }
    Ok(found.iter().map(LiftedOutput::of).collect())
}

fn tell_zone(context: &Context, zone: &[LiftedOutput], is_dry: bool) {
    if zone.is_empty() {
        return;
    }
    let of = |change: &str| {
        let all = zone.iter().filter(|lifted| lifted.change == change);
        all.map(|lifted| lifted.path.as_str()).collect::<Vec<_>>()
    };
    let gone = [of("removed"), of("restored")].concat();
    let done = if is_dry { "would take" } else { "took" };
    if !gone.is_empty() {
        context.ui.say(&format!(
            "{done} ours out of the project: {}",
            gone.join(" ")
        ));
    }
    for path in of("kept") {
        let what = format!("`{path}` stays: somebody changed it");
        context.ui.warn(&what, None);
    }
    context.ui.say(
        "what is the project's stays: loa-grimoire/ .beads/ .loa.config.yaml, and the ledger with its settings \
         (.cal_* cal_audit/ registry.json .calrc)",
    );
}

/// The clients that were named, else all of them.
fn wanted(args: &UninstallArgs) -> Vec<ClientName> {
    if args.clients.is_empty() {
        <ClientName as clap::ValueEnum>::value_variants().to_vec()
    } else {
        args.clients.clone()
    }
}

/// Every settings file that may have something of ours in it: those that are looked at from here, and
/// those that this machine remembers; and apart from them those with our server of tools alone.
fn places(
    context: &Context,
    args: &UninstallArgs,
) -> Result<(Vec<Place>, Vec<Place>), CommandError> {
    let wanted = wanted(args);
    let scopes = [Scope::User, Scope::Project];
    let meant: Vec<_> = wanted
        .iter()
        .flat_map(|name| scopes.map(|scope| (name.client(), scope)))
        .filter(|(_, scope)| args.scope.is_none_or(|wanted| wanted == *scope))
        .collect();
    let of_hooks = |(client, scope): &(&'static Client, _)| clients::place(context, client, *scope);
    let mut places: Vec<Place> = meant.iter().filter_map(of_hooks).collect();
    // What stands in one file is taken out of it at once.
    let stands_apart = |server: &Place| places.iter().all(|place| place.path != server.path);
    let of_servers =
        |(client, scope): &(&'static Client, _)| clients::server_place(context, client, *scope);
    let servers: Vec<Place> = meant
        .iter()
        .filter_map(of_servers)
        .filter(stands_apart)
        .collect();
    if args.scope.is_none() {
        let known = [places.clone(), servers.clone()].concat();
        let remembered = clients::registrar(context)
            .remembered(&known)
            .map_err(|error| super::store::disk_failed(&error))?;
        let is_wanted = |place: &Place| wanted.iter().any(|name| name.client() == place.client);
        places.extend(remembered.into_iter().filter(is_wanted));
    }
    Ok((places, servers))
}
