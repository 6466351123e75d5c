//! Arguments and output of `callosum uninstall`.
//!
//! The use case is [`callosum_app::uninstall`].

use std::path::PathBuf;

use callosum_app::agreement::Agreement;
use callosum_app::client_settings::ClientOutput;
use callosum_app::init::{Excluded, moving_out, unexclude};
use callosum_app::state_inventory::{Group, Inventory};
use callosum_app::uninstall::{
    LiftedOutput, UninstallOutput, forget_gate, outputs_of, purge, tell_groups, tell_zone,
};
use callosum_app::{CommandError, Exit, disk_errors, instructions, many, session};
use callosum_client::registration::{ApplyMode, Scope, SettingsFile};
use callosum_executor::client::Client;
use callosum_host::DiskError;
use callosum_session::SessionError;
use callosum_session::system::to_lift;
use callosum_session::trajectory::Agent;
use clap::Args;

use super::client_settings::{ClientName, ScopeName};
use super::context::Context;
use super::{agreement, client_settings};

/// Remove Callosum from coding agents, and its files from the project
///
/// Prints what it would remove and what stays, and asks for confirmation. Removes the guard and tools
/// that `callosum init` registered. A settings file that no one changed since is restored byte for
/// byte.
///
/// In the project, it removes Callosum's files below .claude/ and its block in CLAUDE.md. Ledger,
/// settings, notes and beads stay unless you use `--purge` or `--move-out`. With --client or --scope,
/// only settings change.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum uninstall --dry-run
  $ callosum uninstall
  $ callosum uninstall --client codex
  $ callosum uninstall --move-out --dry-run
  $ callosum uninstall --purge --dry-run")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option on the command line"
)]
pub(crate) struct UninstallArgs {
    /// Also remove the project's ledger, notes, snapshots and checkpoints for good
    ///
    /// Removes them from the project's tree and from this machine.
    #[arg(long, conflicts_with_all = ["move_out", "clients", "scope"])]
    purge: bool,
    /// Move the project's ledger and notes to this machine's state folder
    #[arg(long, conflicts_with_all = ["clients", "scope"])]
    move_out: bool,
    /// Only from settings of this client (may be repeated)
    #[arg(long = "client", value_name = "CLIENT", value_enum)]
    clients: Vec<ClientName>,
    /// Only from settings of this scope
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(context: &Context, args: &UninstallArgs) -> Result<(), CommandError> {
    if args.move_out {
        if !args.dry_run {
            moving_out::check_place(context)?;
        }
        moving_out::check_ledger(context)?;
    }
    if !args.dry_run && !callosum_app::agreement::is_given(context, args.yes) {
        let would = perform(context, args, ApplyMode::Tell)?;
        tell(context, args, &would, true)?;
        if would.is_nothing() {
            return Ok(());
        }
        let question = if args.purge {
            "remove all of this? Ledger, notes and snapshots cannot be restored"
        } else {
            "continue?"
        };
        match agreement::ask(context, question)? {
            Agreement::Yes => {}
            Agreement::No => return Err(CommandError::told(Exit::No)),
            Agreement::CannotAsk => {
                let what = "nothing was removed: no terminal to ask on";
                return Err(CommandError::new(Exit::No, what).hint("callosum uninstall --yes"));
            }
        }
    }
    let doing = if args.dry_run {
        ApplyMode::Tell
    } else {
        ApplyMode::Write
    };
    let output = perform(context, args, doing)?;
    tell(context, args, &output, args.dry_run)?;
    let mut all = output.clients.iter().chain(&output.servers);
    if all.any(ClientOutput::has_failed) {
        return Err(CommandError::told(Exit::Environment));
    }
    Ok(())
}

/// Does it, or says what it would do.
fn perform(
    context: &Context,
    args: &UninstallArgs,
    doing: ApplyMode,
) -> Result<UninstallOutput, CommandError> {
    client_settings::check_folders(context, &wanted(args))?;
    let registrar = callosum_app::client_settings::registrar(context);
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
    let mut clients: Vec<ClientOutput> = outputs.filter(is_there).collect();
    clients.extend(
        unregister_plugins(context, args, doing)?
            .into_iter()
            .filter(is_there),
    );
    if doing == ApplyMode::Write {
        forget_gate(context, &registrar, &places)?;
    }
    let instructions = if args.is_of_settings_alone() {
        Vec::new()
    } else {
        instructions::remove(context, doing).map_err(|error| disk_errors::disk_failed(&error))?
    };
    let zone = lift(context, args, doing)?;
    let mut output = UninstallOutput {
        dry_run: doing == ApplyMode::Tell,
        clients,
        servers,
        zone,
        instructions,
        removed: Vec::new(),
        remaining: Vec::new(),
        foreign: Vec::new(),
        moved: 0,
        unexcluded: 0,
    };
    if args.is_of_settings_alone() {
        return Ok(output);
    }
    let failed = |error: DiskError| disk_errors::disk_failed(&error);
    let inventory = Inventory::read(context).map_err(failed)?;
    let groups = || inventory.tree.iter().chain(&inventory.machine);
    let foreign = inventory.tree.iter().flat_map(|group| &group.foreign);
    output.foreign = foreign
        .map(|path| path.strip_prefix(context.state()).unwrap_or(path))
        .map(|path| path.display().to_string())
        .collect();
    if args.purge {
        output.removed = outputs_of(groups());
        output.unexcluded = unexclude(context, Excluded::All, doing).map_err(failed)?;
        if doing == ApplyMode::Write {
            purge(context, &inventory)?;
        }
        return Ok(output);
    }
    if args.move_out {
        let of_ledger = inventory.tree.iter().filter(|group| group.what == "ledger");
        let mut moving: Vec<&Group> = of_ledger.collect();
        match moving_out::sessions_stay(context)? {
            None => moving = inventory.tree.iter().collect(),
            Some(why) => {
                let what = format!("session files stay in the tree: {why}");
                context.report.warn(&what, None);
            }
        }
        let is_moved = |group: &Group| moving.iter().any(|moving| moving.what == group.what);
        let in_tree = inventory.tree.iter().filter(|group| !is_moved(group));
        output.remaining = outputs_of(in_tree.chain(&inventory.machine));
        output.moved = moving.iter().map(|group| group.files.len() as u64).sum();
        if doing == ApplyMode::Write {
            output.moved = moving_out::ledger(context)? + moving_out::sessions(context)?;
        }
        output.unexcluded = unexclude(context, Excluded::All, doing).map_err(failed)?;
        return Ok(output);
    }
    output.remaining = outputs_of(groups());
    if doing == ApplyMode::Write {
        output.unexcluded = unexclude(context, Excluded::Gone, doing).map_err(failed)?;
    }
    Ok(output)
}

/// Prints what was done, or would be.
fn tell(
    context: &Context,
    args: &UninstallArgs,
    output: &UninstallOutput,
    would: bool,
) -> Result<(), CommandError> {
    if context.ui.json {
        // A plan that waits for an answer is not the result.
        if would && !args.dry_run {
            return Ok(());
        }
        return context.ui.json_data(output);
    }
    let ui = context.ui;
    if output.is_nothing() {
        ui.say("no client settings mention Callosum");
    }
    for client in output.clients.iter().chain(&output.servers) {
        client.tell(context, would);
    }
    tell_zone(context, &output.zone, would);
    for instructions in &output.instructions {
        instructions.tell(context, would);
    }
    let is_or = |done: &str, planned: &str| {
        if would {
            planned.to_owned()
        } else {
            done.to_owned()
        }
    };
    if !output.removed.is_empty() {
        ui.say(&is_or("removed:", "would remove:"));
        tell_groups(context, &output.removed);
    }
    if output.moved > 0 {
        let files = many(output.moved, "file");
        let folder = context.project.homes.project(context.state());
        let moved = is_or("moved", "would move");
        ui.say(&format!(
            "{moved} {files} out of the tree, to {}",
            folder.display()
        ));
    }
    if output.unexcluded > 0 {
        let lines = many(output.unexcluded, "line");
        let removed = is_or("removed", "would remove");
        ui.say(&format!("{removed} {lines} from .git/info/exclude"));
    }
    if !output.remaining.is_empty() {
        ui.say(&is_or("kept:", "would keep:"));
        tell_groups(context, &output.remaining);
        if !args.move_out {
            ui.hint("to remove these too: callosum uninstall --purge");
        }
    }
    if !output.foreign.is_empty() && (args.purge || args.move_out) {
        let shown = output.foreign.iter().take(3).map(String::as_str);
        let shown: Vec<&str> = shown.collect();
        let more = if output.foreign.len() > shown.len() {
            " …"
        } else {
            ""
        };
        let files = many(output.foreign.len() as u64, "file");
        let stays = is_or("not Callosum's, kept", "not Callosum's, would be kept");
        ui.say(&format!("{files} {stays}: {}{more}", shown.join(" ")));
    }
    Ok(())
}

impl UninstallArgs {
    /// Whether only settings of clients are changed.
    fn is_of_settings_alone(&self) -> bool {
        !self.clients.is_empty() || self.scope.is_some()
    }
}

/// Removes the plugins that ask the guard: those of here, and those that this machine remembers.
fn unregister_plugins(
    context: &Context,
    args: &UninstallArgs,
    doing: ApplyMode,
) -> Result<Vec<ClientOutput>, CommandError> {
    let registrar = callosum_app::client_settings::registrar(context);
    let mut outputs = Vec::new();
    for name in wanted(args) {
        let client = name.client();
        let scopes = [Scope::User, Scope::Project];
        let scopes = scopes.into_iter();
        let scopes = scopes.filter(|scope| {
            args.scope
                .is_none_or(|wanted| Scope::from(wanted) == *scope)
        });
        let of_scope = |scope| {
            Some((
                callosum_app::client_settings::plugin(context, client, scope)?,
                scope,
            ))
        };
        let mut plugins: Vec<(PathBuf, Scope)> = scopes.filter_map(of_scope).collect();
        if args.scope.is_none() && !plugins.is_empty() {
            let known: Vec<PathBuf> = plugins.iter().map(|(path, _)| path.clone()).collect();
            let others = registrar
                .remembered_plugins(&known)
                .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
            plugins.extend(others.into_iter().map(|path| (path, Scope::User)));
        }
        for (path, scope) in plugins {
            let change = registrar.unregister_plugin(&path, scope, doing);
            outputs.push(ClientOutput::of_plugin(client, &path, &change));
        }
    }
    Ok(outputs)
}

/// Takes the system zone out of the project, unless only settings are meant.
fn lift(
    context: &Context,
    args: &UninstallArgs,
    doing: ApplyMode,
) -> Result<Vec<LiftedOutput>, CommandError> {
    if args.is_of_settings_alone() {
        return Ok(Vec::new());
    }
    let zones = context.zones();
    let session = session::session(context, &zones, Agent::default());
    let failed = |error: SessionError| session::explain(&error);
    let mut found = to_lift(&session).map_err(failed)?;
    if !found.is_empty() && doing == ApplyMode::Write {
        let held = session.hold().map_err(failed)?;
        session::tell_mended(context, &held);
        found = held.lift().map_err(failed)?;
    }
    Ok(found.iter().map(LiftedOutput::of).collect())
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
) -> Result<(Vec<SettingsFile>, Vec<SettingsFile>), CommandError> {
    let wanted = wanted(args);
    let scopes = [Scope::User, Scope::Project];
    let meant: Vec<_> = wanted
        .iter()
        .flat_map(|name| scopes.map(|scope| (name.client(), scope)))
        .filter(|(_, scope)| {
            args.scope
                .is_none_or(|wanted| Scope::from(wanted) == *scope)
        })
        .collect();
    let of_hooks = |(client, scope): &(&'static Client, _)| {
        callosum_app::client_settings::place(context, client, *scope)
    };
    let mut places: Vec<SettingsFile> = meant.iter().filter_map(of_hooks).collect();
    // Entries in one file are removed from it at once.
    let stands_apart = |server: &SettingsFile| places.iter().all(|place| place.path != server.path);
    let of_servers = |(client, scope): &(&'static Client, _)| {
        callosum_app::client_settings::server_place(context, client, *scope)
    };
    let servers: Vec<SettingsFile> = meant
        .iter()
        .filter_map(of_servers)
        .filter(stands_apart)
        .collect();
    if args.scope.is_none() {
        let known = [places.clone(), servers.clone()].concat();
        let remembered = callosum_app::client_settings::registrar(context)
            .remembered(&known)
            .map_err(|error| disk_errors::disk_failed(&error))?;
        let is_wanted =
            |place: &SettingsFile| wanted.iter().any(|name| name.client() == place.client);
        places.extend(remembered.into_iter().filter(is_wanted));
    }
    Ok((places, servers))
}
