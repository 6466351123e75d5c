//! Arguments and output of `callosum init`.
//!
//! The use case is [`callosum_app::init`].

mod render;

use callosum_app::agreement::Agreement;
use callosum_app::client_settings::ClientOutput;
use callosum_app::init::exclude::exclude;
use callosum_app::init::render::{by_folder, tell_clients, tell_zones};
use callosum_app::init::{Created, InitOutput, ROOM_NEEDED, create_files, shown};
use callosum_app::instructions::InstructionsOutput;
use callosum_app::{CommandError, Exit, disk_errors, instructions, many, session, zone_report};
use callosum_client::registration::{ApplyMode, ClearGate, Scope};
use callosum_executor::client::Client;
use callosum_host::machine;
use callosum_session::system::Surveyed;
use clap::Args;

use self::render::left_out;
use super::client_settings::{ClientName, ScopeName};
use super::context::Context;
use super::{agreement, client_settings};

/// Set up Callosum for this project and the installed coding agents
///
/// Prints what it would write and where, and asks for confirmation. Without options that choose
/// parts, it registers the guard and the tools of `callosum mcp` with each coding agent in PATH. It
/// also keeps the project's ledger in its tree, ignored by git. Earlier results of the project on
/// this machine move into the tree.
///
/// Running `init` again changes nothing. `callosum uninstall` removes the registrations and the
/// files below .claude/. Ledger, settings and notes stay in the tree.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum init
  $ callosum init --yes
  $ callosum init --guard --client claude
  $ callosum init --ledger --sessions --share
  $ callosum init --instructions --dry-run
  $ callosum init --all --dry-run")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option on the command line"
)]
pub(crate) struct InitArgs {
    /// Register the guard; each agent asks it before a tool runs
    #[arg(long)]
    guard: bool,
    /// Register the tools of `callosum mcp`
    #[arg(long)]
    mcp: bool,
    /// Keep the project's ledger, journal and settings in its tree
    #[arg(long)]
    ledger: bool,
    /// Create the session files: .claude/, loa-grimoire/, .beads/ and .loa.config.yaml
    #[arg(long)]
    sessions: bool,
    /// Make all installed clients read AGENTS.md
    ///
    /// The text of CLAUDE.md and GEMINI.md stays where it is.
    #[arg(long)]
    instructions: bool,
    /// Set up every part, including the gate, but not `--instructions`
    #[arg(long)]
    all: bool,
    /// Gate that refuses /clear while decisions lack evidence
    ///
    /// Works in clients that support it. Without a KIND, the gate is the plugin.
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, default_missing_value = "plugin", require_equals = false)]
    gate: Option<Gate>,
    /// Let git track ledger and session files, for a team that shares them
    #[arg(long)]
    share: bool,
    /// Register with this client, installed or not (may be repeated)
    #[arg(long = "client", value_name = "CLIENT", value_enum)]
    clients: Vec<ClientName>,
    /// Settings to register the guard and tools in
    #[arg(long, value_enum, default_value_t)]
    scope: ScopeName,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
    /// Print what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A gate that refuses `/clear` while decisions lack evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Gate {
    /// A plugin of Callosum; refuses while `callosum session check` fails
    Plugin,
    /// A hook on a /clear command that replaces the client's own and never clears; needs
    /// `--scope project`
    Shadow,
    /// No gate
    None,
}

/// The parts that are set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each part is chosen by itself"
)]
struct Parts {
    guard: bool,
    mcp: bool,
    ledger: bool,
    sessions: bool,
    gate: Gate,
    instructions: bool,
}

impl Parts {
    /// The parts that were named; guard, tools and ledger if none was.
    fn of(args: &InitArgs) -> Self {
        let &InitArgs {
            guard,
            mcp,
            ledger,
            sessions,
            all,
            gate,
            instructions,
            ..
        } = args;
        // The gate is asked by the hooks of the guard.
        let has_gate = gate.is_some_and(|gate| gate != Gate::None);
        let is_default = !(guard || mcp || ledger || sessions || all || has_gate || instructions);
        let of_all = if all { Gate::Plugin } else { Gate::None };
        Self {
            guard: guard || all || is_default || has_gate,
            mcp: mcp || all || is_default,
            ledger: ledger || all || is_default,
            sessions: sessions || all,
            gate: gate.unwrap_or(of_all),
            instructions,
        }
    }

    /// Whether nothing is written into the project's tree but instructions.
    fn leave_the_tree_alone(self) -> bool {
        !self.ledger && !self.sessions
    }
}

impl InitArgs {
    /// Whether it only says what it would do.
    pub(super) fn is_dry(&self) -> bool {
        self.dry_run
    }
}

pub(super) fn run(context: &Context, args: &InitArgs) -> Result<(), CommandError> {
    let parts = Parts::of(args);
    if args.dry_run {
        return tell(&context.in_tree()?, args, parts);
    }
    if !callosum_app::agreement::is_given(context, args.yes) {
        tell(&context.in_tree()?, args, parts)?;
        match agreement::ask(context, "set this up?")? {
            Agreement::Yes => {}
            Agreement::No => return Err(CommandError::told(Exit::No)),
            Agreement::CannotAsk => {
                let what = "nothing was written: no terminal to ask on";
                return Err(CommandError::new(Exit::No, what).hint("callosum init --yes"));
            }
        }
    }
    if parts.leave_the_tree_alone() {
        return register_alone(context, args, parts);
    }
    let mut moved = 0;
    if parts.ledger {
        moved += callosum_app::init::moving::ledger(context)?;
    }
    if parts.sessions {
        moved += callosum_app::init::moving::sessions(context)?;
    }
    set_up(&context.in_tree()?, args, parts, moved)
}

/// Writes the parts, after the project's state is in its place.
fn set_up(
    context: &Context,
    args: &InitArgs,
    parts: Parts,
    moved: u64,
) -> Result<(), CommandError> {
    let created = if parts.ledger {
        create_files(context)?
    } else {
        Created::default()
    };
    session::remember(context);
    let zones = lay(context, args, parts, ApplyMode::Write)?;
    let excluded = if args.share {
        None
    } else {
        exclude(context, &hidden(parts, &zones))?
    };
    let is_told_to_git = excluded.is_some();
    if machine::free_bytes(context.state()).is_ok_and(|free| free < ROOM_NEEDED) {
        context.report.warn(
            "less than 500 MB of disk space is free here",
            Some("callosum doctor"),
        );
    }
    let output = InitOutput {
        root: context.state().display().to_string(),
        created: created
            .paths
            .iter()
            .map(|path| shown(path, context.state()))
            .chain(zone_report::created(&zones).map(str::to_owned))
            .collect(),
        moved,
        zones: zone_report::outputs(&zones),
        adopted: created.adopted,
        excluded: excluded.unwrap_or_default(),
        clients: register(context, args, parts, ApplyMode::Write)?,
        servers: register_servers(context, args, parts, ApplyMode::Write)?,
        instructions: instruct(context, args, parts, ApplyMode::Write)?,
        left_out: left_out(context, args, parts.guard),
        dry_run: false,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
        return ended(args, &output);
    }
    if moved > 0 {
        context.report.say(&format!(
            "moved {} of this project's state into {}",
            many(moved, "file"),
            output.root
        ));
    }
    created.tell(context);
    tell_zones(context, &zones);
    if output.created.is_empty() && moved == 0 {
        context
            .report
            .say(&format!("{}: everything is already set up", output.root));
    }
    if is_told_to_git && !output.excluded.is_empty() {
        context.report.say(&format!(
            "git ignores the new files: {} in .git/info/exclude",
            many(output.excluded.len() as u64, "line")
        ));
    }
    tell_clients(context, &output);
    context.report.hint(if output.clients.is_empty() {
        "callosum doctor"
    } else {
        "restart your agents, then: callosum doctor"
    });
    ended(args, &output)
}

/// The names in the root that git is to ignore.
fn hidden(parts: Parts, zones: &[Surveyed]) -> Vec<String> {
    let mut names = Vec::new();
    if parts.ledger {
        names.extend(callosum_app::init::exclude::LEDGER.map(str::to_owned));
    }
    if parts.sessions {
        names.extend(zone_report::ignored(zones));
    }
    names
}

/// Registers guard or tools, and writes nothing into the project.
fn register_alone(context: &Context, args: &InitArgs, parts: Parts) -> Result<(), CommandError> {
    let output = InitOutput {
        root: context.state().display().to_string(),
        clients: register(context, args, parts, ApplyMode::Write)?,
        servers: register_servers(context, args, parts, ApplyMode::Write)?,
        instructions: instruct(context, args, parts, ApplyMode::Write)?,
        left_out: left_out(context, args, parts.guard),
        ..InitOutput::default()
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
        return ended(args, &output);
    }
    let is_to_register = parts.guard || parts.mcp;
    if is_to_register && output.clients.is_empty() && output.servers.is_empty() {
        context.report.say("no client with hooks is installed");
        context
            .report
            .hint("name one: callosum init --guard --client claude");
    }
    tell_clients(context, &output);
    ended(args, &output)
}

/// Prints the plan, and how to undo it. `context` has the project's state in its tree.
fn tell(context: &Context, args: &InitArgs, parts: Parts) -> Result<(), CommandError> {
    let paths = context.ledger_paths();
    let places = &context.project.places;
    let mut created = Vec::new();
    let of_ledger = [
        &paths.ledger,
        &paths.hashlog,
        &paths.history,
        &paths.audit,
        &places.registry,
        &places.calrc,
    ];
    for path in of_ledger.into_iter().filter(|_| parts.ledger) {
        let is_there = context.disk.exists(path);
        if !is_there.map_err(|error| disk_errors::disk_failed(&error))? {
            created.push(shown(path, context.state()));
        }
    }
    let zones = lay(context, args, parts, ApplyMode::Tell)?;
    created.extend(zone_report::created(&zones).map(str::to_owned));
    let output = InitOutput {
        root: context.state().display().to_string(),
        created,
        zones: zone_report::outputs(&zones),
        moved: 0,
        adopted: 0,
        excluded: Vec::new(),
        clients: register(context, args, parts, ApplyMode::Tell)?,
        servers: register_servers(context, args, parts, ApplyMode::Tell)?,
        instructions: instruct(context, args, parts, ApplyMode::Tell)?,
        left_out: left_out(context, args, parts.guard),
        dry_run: true,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
        return ended(args, &output);
    }
    let created: Vec<&str> = output.created.iter().map(String::as_str).collect();
    let names = if created.is_empty() {
        "nothing".to_owned()
    } else {
        by_folder(&created)
    };
    if !parts.leave_the_tree_alone() {
        context
            .report
            .say(&format!("would create in {}: {names}", output.root));
    }
    zone_report::tell(context, &zones);
    if !args.share && !created.is_empty() {
        context
            .report
            .say("git would ignore the new files (.git/info/exclude); to share them, use --share");
    }
    tell_clients(context, &output);
    context
        .report
        .say("to undo: callosum uninstall (keeps ledger and notes)");
    ended(args, &output)
}

/// Lays the files of sessions, if they were chosen.
fn lay(
    context: &Context,
    args: &InitArgs,
    parts: Parts,
    doing: ApplyMode,
) -> Result<Vec<Surveyed>, CommandError> {
    if !parts.sessions {
        return Ok(Vec::new());
    }
    let clients: Vec<&str> = wanted(context, args)
        .iter()
        .map(|client| client.program)
        .collect();
    zone_report::lay(context, &clients, doing)
}

/// Has the clients read one text with instructions. A settings file that is created for that is kept from git, unless it
/// is shared.
fn instruct(
    context: &Context,
    args: &InitArgs,
    parts: Parts,
    doing: ApplyMode,
) -> Result<Vec<InstructionsOutput>, CommandError> {
    if !parts.instructions {
        return Ok(Vec::new());
    }
    let (outputs, created) = instructions::enter(context, &wanted(context, args), doing)?;
    if doing == ApplyMode::Write && !args.share && !created.is_empty() {
        exclude(context, &created)?;
    }
    Ok(outputs)
}

/// The clients that were named, else those that are installed.
fn wanted(context: &Context, args: &InitArgs) -> Vec<&'static Client> {
    if args.clients.is_empty() {
        client_settings::installed(context)
    } else {
        args.clients.iter().map(|name| name.client()).collect()
    }
}

/// Registers the guard with the clients that were named, else with those that are installed.
fn register(
    context: &Context,
    args: &InitArgs,
    parts: Parts,
    doing: ApplyMode,
) -> Result<Vec<ClientOutput>, CommandError> {
    if !parts.guard {
        return Ok(Vec::new());
    }
    if parts.gate == Gate::Shadow && Scope::from(args.scope) != Scope::Project {
        let what = "--gate shadow needs --scope project, because a shadowed /clear never clears";
        return Err(CommandError::new(Exit::Usage, what)
            .hint("callosum init --gate shadow --scope project"));
    }
    let wanted = wanted(context, args);
    let named = <client_settings::ClientName as clap::ValueEnum>::value_variants().iter();
    let named: Vec<_> = named
        .filter(|name| wanted.contains(&name.client()))
        .copied()
        .collect();
    client_settings::check_folders(context, &named)?;
    if doing == ApplyMode::Write && !wanted.is_empty() {
        // It holds the earlier content of the settings, for its user alone.
        let homes = &context.project.homes;
        homes
            .create_machine(&context.disk)
            .map_err(|error| disk_errors::disk_failed(&error))?;
    }
    let mut registrar = callosum_app::client_settings::registrar(context);
    match parts.gate {
        Gate::Plugin => {
            let program = callosum_app::client_settings::own_program()?
                .display()
                .to_string();
            registrar = registrar.with_gate(ClearGate::Plugin(program));
        }
        Gate::Shadow => registrar = registrar.with_gate(ClearGate::Shadow),
        Gate::None => {}
    }
    let mut outputs = Vec::new();
    for client in wanted {
        if let Some(path) =
            callosum_app::client_settings::plugin(context, client, Scope::from(args.scope))
        {
            let command =
                callosum_app::client_settings::command(context, client, Scope::from(args.scope))?;
            let change = registrar.register_plugin(&path, Scope::from(args.scope), &command, doing);
            outputs.push(ClientOutput::of_plugin(client, &path, &change));
            continue;
        }
        let Some(place) =
            callosum_app::client_settings::place(context, client, Scope::from(args.scope))
        else {
            continue;
        };
        let command =
            callosum_app::client_settings::command(context, client, Scope::from(args.scope))?;
        let change = registrar.register(&place, &command, doing);
        let gate = match parts.gate {
            Gate::Plugin if place.hooks.gate.is_some() => Some("the gate before /clear"),
            Gate::Shadow if place.hooks.typed.is_some() => {
                Some("a /clear that checks and never clears (/new clears)")
            }
            _ => None,
        };
        outputs.push(ClientOutput::of_hooks(&place, &change, gate));
    }
    Ok(outputs)
}

/// Tells the same clients of our server of tools.
fn register_servers(
    context: &Context,
    args: &InitArgs,
    parts: Parts,
    doing: ApplyMode,
) -> Result<Vec<ClientOutput>, CommandError> {
    if !parts.mcp {
        return Ok(Vec::new());
    }
    let registrar = callosum_app::client_settings::registrar(context);
    let mut outputs = Vec::new();
    for client in wanted(context, args) {
        let Some(place) =
            callosum_app::client_settings::server_place(context, client, Scope::from(args.scope))
        else {
            continue;
        };
        let server =
            callosum_app::client_settings::server(context, client, Scope::from(args.scope))?;
        let change = registrar.register_server(&place, &server, doing);
        outputs.push(ClientOutput::of_server(&place, &change));
    }
    Ok(outputs)
}

/// A client that was asked for by name and has no guard now is a failure; one that was only found
/// is warned of.
fn ended(args: &InitArgs, output: &InitOutput) -> Result<(), CommandError> {
    let mut all = output.clients.iter().chain(&output.servers);
    let has_failed = all.any(ClientOutput::has_failed);
    if has_failed && !args.clients.is_empty() {
        return Err(CommandError::told(Exit::Environment));
    }
    Ok(())
}
