//! `callosum uninstall`: takes our hooks out of the settings of clients, and the system zone out of the
//! project.

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
    registration::{Doing, Place, Scope},
    ui::{CommandError, Exit},
};

/// Take the guard's hooks out of the settings of coding agents, and our files out of the project
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
    /// What was done to the settings of clients; those without our hooks are left out.
    pub(crate) clients: Vec<ClientOutput>,
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
    let registrar = clients::registrar(context);
    let outputs: Vec<ClientOutput> = places(context, args)?
        .iter()
        .map(|place| ClientOutput::of(place, &registrar.unregister(place, doing)))
        .filter(|output| output.change != "absent")
        .collect();
    let zone = lift(context, args)?;
    let has_failed = outputs.iter().any(ClientOutput::has_failed);
    if context.ui.json {
        context.ui.json_data(&UninstallOutput {
            dry_run: args.dry_run,
            clients: outputs,
            zone,
        })?;
    } else {
        if outputs.is_empty() && zone.is_empty() {
            context
                .ui
                .say("no settings of a client have the guard in them");
        }
        for output in &outputs {
            output.tell(context, args.dry_run);
        }
        tell_zone(context, &zone, args.dry_run);
    }
    if has_failed {
        return Err(CommandError::told(Exit::Environment));
    }
    Ok(())
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
    context
        .ui
        .say("what is the project's stays: loa-grimoire/ .beads/ .loa.config.yaml");
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
