//! `callosum init`: the seed's files and zones, where they are missing, and the guard and our server of
//! tools in clients' settings.

mod exclude;
mod telling;

use std::path::{Path, PathBuf};

use callosum_agents::{client::Client, registry::Registry};
use callosum_host::{Disk, machine};
use callosum_ledger::{Checksum, Ledger};
use callosum_session::system::Surveyed;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use self::{
    exclude::exclude,
    telling::{LeftOutOutput, left_out, tell_clients, tell_zones},
};
use super::{
    clients::{self, ClientName, ClientOutput},
    context::Context,
    explain, session, store,
    zoning::{self, ZoneOutput},
};
use crate::{
    config::{Places, Subject},
    registration::{Doing, Scope, WhoIsAsked},
    ui::{CommandError, Exit, many},
};

/// Free space under which `init` warns (REQ-DEP-004).
pub(super) const ROOM_NEEDED: u64 = 500 * 1024 * 1024;

/// A new `.calrc`: the seed's keys (Seed CAL §14.2) with their defaults, and no executor preferred.
const INITIAL_CALRC: &[u8] = br#"{
  "concurrency_limit": 5,
  "ledger_path": ".cal_memory.json",
  "audit_path": "cal_audit/",
  "rotation_threshold_mb": 250,
  "executor_timeout_ms": 5000,
  "retry_max": 3,
  "executors": {}
}
"#;

/// Prepare a repository, and register guard and tools with the coding agents that are installed
///
/// Creates what is missing of ledger, audit journal, registry and configuration, and of the three
/// zones of a session: .claude/ with protocols, scripts, a command and a skill, loa-grimoire/ and
/// .beads/, and .loa.config.yaml. What is there is left alone, or added to where others wrote it;
/// what somebody changed of ours is named. Codex, Gemini CLI and Qwen Code get the command and
/// the skill in forms of their own.
///
/// Then it adds hooks to the settings of each coding agent that is found in PATH: the agent asks
/// `callosum hook` before its tools run, and tells it when a session begins, rests and ends; Claude
/// Code also asks before it clears a context. They are told of the tools of `callosum mcp` as well.
/// Everything else in the settings stays as it is; `callosum uninstall` takes both out again. Running it again changes nothing.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum init
  $ callosum init --dry-run
  $ callosum init --ignore --no-hooks --no-zones
  $ callosum init --client codex --scope project
  $ callosum init --hooks-only")]
pub(crate) struct InitArgs {
    /// List the created files in .git/info/exclude, so that git passes them over
    #[arg(long)]
    ignore: bool,
    /// Register the guard with this client, installed or not; may be given several times
    #[arg(long = "client", value_name = "CLIENT", value_enum)]
    clients: Vec<ClientName>,
    /// Whose settings the guard is registered in
    #[arg(long, value_enum, default_value_t)]
    scope: Scope,
    /// Who is asked before a context is cleared, in clients that can be told to
    #[arg(long, value_enum, default_value_t)]
    gate: Gate,
    /// Leave the settings of clients alone
    #[arg(long, conflicts_with_all = ["clients", "scope", "gate"])]
    no_hooks: bool,
    /// Do not tell clients of our server of tools, `callosum mcp`
    #[arg(long)]
    no_mcp: bool,
    /// Leave out the zones of a session
    #[arg(long)]
    no_zones: bool,
    /// Register the guard, and neither a server of tools nor a repository: for every folder, with the
    /// default scope
    #[arg(long, conflicts_with_all = ["no_hooks", "ignore", "no_zones"])]
    hooks_only: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// Who is asked before a context is cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Gate {
    /// A plugin of ours, which refuses while `callosum session check` does
    #[default]
    Plugin,
    /// A hook, of a command /clear that takes the place of the client's own and never clears; only
    /// with `--scope project`
    Shadow,
    /// Nobody more than until now
    None,
}

impl InitArgs {
    /// Whether it only says what it would do.
    pub(super) fn is_dry(&self) -> bool {
        self.dry_run
    }
}

/// `callosum init --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub(crate) struct InitOutput {
    /// The root folder.
    pub(crate) root: String,
    /// What was created, relative to the root.
    pub(crate) created: Vec<String>,
    /// Files of the zones that were there before and are not as we would write them.
    pub(crate) zones: Vec<ZoneOutput>,
    /// Entries of an existing ledger that the audit journal took over.
    pub(crate) adopted: u64,
    /// Lines that were added to .git/info/exclude.
    pub(crate) excluded: Vec<String>,
    /// What was done to the settings of clients.
    pub(crate) clients: Vec<ClientOutput>,
    /// What was done to the settings of clients to tell them of our server of tools.
    pub(crate) servers: Vec<ClientOutput>,
    /// Coding agents that are installed and whose settings were not touched.
    pub(crate) left_out: Vec<LeftOutOutput>,
    /// Whether nothing was done but to say what would be.
    pub(crate) dry_run: bool,
}

/// What [`create_files`] did.
pub(super) struct Created {
    paths: Vec<PathBuf>,
    adopted: u64,
    archives: u64,
    /// What has an archive's name and is none.
    passed_over: Vec<PathBuf>,
}

impl Created {
    /// Names what was created in one line, if anything was.
    pub(super) fn tell(&self, context: &Context) {
        if !self.paths.is_empty() {
            let names: Vec<String> = self
                .paths
                .iter()
                .map(|path| shown(path, context.state()))
                .collect();
            context.ui.say(&format!(
                "created in {}: {}",
                context.state().display(),
                names.join(" ")
            ));
        }
        if self.adopted > 0 {
            context.ui.say(&format!(
                "took {} of the existing ledger over into the audit journal",
                many(self.adopted, "entry")
            ));
        }
        if self.archives > 0 {
            context.ui.say(&format!(
                "the audit journal tells of {} from now on",
                many(self.archives, "archive")
            ));
        }
        for path in &self.passed_over {
            let what = format!(
                "`{}` is not a ledger whose every checksum is right: nothing reads it",
                shown(path, context.state())
            );
            context.ui.warn(&what, None);
        }
    }
}

/// Creates the files of Seed CAL §14.3 that are missing, the registry with `scout` in it.
pub(super) fn create_files(context: &Context) -> Result<Created, CommandError> {
    let creation = Ledger::create(&context.disk, &context.ledger_paths(), &context.clock)
        .map_err(|error| store::uncreated(&error))?;
    let mut paths = creation.created;
    let registry = context.project.places.registry.clone();
    if create(&context.disk, &registry, &Registry::initial().to_bytes())? {
        paths.push(registry);
    }
    let calrc = Places::calrc(context.state());
    if create(&context.disk, &calrc, INITIAL_CALRC)? {
        // Written here, so its user's own; later changes by `config set` stay so.
        let subject = Subject::Calrc(Checksum::of(INITIAL_CALRC));
        let mut trust = context.project.trust.clone();
        trust
            .record(subject)
            .map_err(|error| explain::trust(&error))?;
        paths.push(calrc);
    }
    let adopted = creation.adopted.unwrap_or_default();
    Ok(Created {
        paths,
        adopted: adopted.entries,
        archives: adopted.archives,
        passed_over: adopted.passed_over,
    })
}

fn create(disk: &Disk, path: &Path, bytes: &[u8]) -> Result<bool, CommandError> {
    disk.create(path, bytes, 0o644)
        .map_err(|error| store::disk_failed(&error))
}

pub(super) fn run(context: &Context, args: &InitArgs) -> Result<(), CommandError> {
    if args.hooks_only {
        return register_alone(context, args);
    }
    if args.dry_run {
        return tell(context, args);
    }
    let created = create_files(context)?;
    session::remember(context);
    let zones = lay(context, args, Doing::Write)?;
    let excluded = if args.ignore {
        exclude(context, zoning::ignored(&zones))?
    } else {
        None
    };
    let is_told_to_git = excluded.is_some();
    if machine::free_bytes(context.state()).is_ok_and(|free| free < ROOM_NEEDED) {
        context
            .ui
            .warn("less than 500 MB are free here", Some("callosum doctor"));
    }
    let output = InitOutput {
        root: context.state().display().to_string(),
        created: created
            .paths
            .iter()
            .map(|path| shown(path, context.state()))
            .chain(zoning::created(&zones).map(str::to_owned))
            .collect(),
        zones: zoning::outputs(&zones),
        adopted: created.adopted,
        excluded: excluded.unwrap_or_default(),
        clients: register(context, args, Doing::Write)?,
        servers: register_servers(context, args, Doing::Write)?,
        left_out: left_out(context, args),
        dry_run: false,
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
        return ended(args, &output);
    }
    created.tell(context);
    tell_zones(context, &zones);
    if output.created.is_empty() {
        context
            .ui
            .say(&format!("{}: everything is there already", output.root));
    }
    if is_told_to_git {
        match output.excluded.len() {
            0 => context.ui.say("git passes them over already"),
            added => context
                .ui
                .say(&format!("added {added} lines to .git/info/exclude")),
        }
    }
    tell_clients(context, &output);
    context.ui.hint(if output.clients.is_empty() {
        "callosum doctor"
    } else {
        "start your agents anew, then: callosum doctor"
    });
    ended(args, &output)
}

/// Registers the guard, and creates nothing else.
fn register_alone(context: &Context, args: &InitArgs) -> Result<(), CommandError> {
    let doing = if args.dry_run {
        Doing::Tell
    } else {
        Doing::Write
    };
    let output = InitOutput {
        root: context.state().display().to_string(),
        clients: register(context, args, doing)?,
        left_out: left_out(context, args),
        dry_run: args.dry_run,
        ..InitOutput::default()
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
        return ended(args, &output);
    }
    if output.clients.is_empty() {
        context.ui.say("no client that has hooks is installed");
        context
            .ui
            .hint("name one: callosum init --hooks-only --client claude");
    }
    tell_clients(context, &output);
    ended(args, &output)
}

/// Says what would be done.
fn tell(context: &Context, args: &InitArgs) -> Result<(), CommandError> {
    let paths = context.ledger_paths();
    let places = &context.project.places;
    let calrc = Places::calrc(context.state());
    let mut created = Vec::new();
    for path in [
        &paths.ledger,
        &paths.hashlog,
        &paths.history,
        &paths.audit,
        &places.registry,
        &calrc,
    ] {
        let is_there = context.disk.exists(path);
        if !is_there.map_err(|error| store::disk_failed(&error))? {
            created.push(shown(path, context.state()));
        }
    }
    let zones = lay(context, args, Doing::Tell)?;
    created.extend(zoning::created(&zones).map(str::to_owned));
    let output = InitOutput {
        root: context.state().display().to_string(),
        created,
        zones: zoning::outputs(&zones),
        adopted: 0,
        excluded: Vec::new(),
        clients: register(context, args, Doing::Tell)?,
        servers: register_servers(context, args, Doing::Tell)?,
        left_out: left_out(context, args),
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
        telling::by_folder(&created)
    };
    context
        .ui
        .say(&format!("would create in {}: {names}", output.root));
    zoning::tell(context, &zones);
    tell_clients(context, &output);
    ended(args, &output)
}

/// Lays the zones, unless they are not wanted.
fn lay(context: &Context, args: &InitArgs, doing: Doing) -> Result<Vec<Surveyed>, CommandError> {
    if args.no_zones {
        return Ok(Vec::new());
    }
    let clients: Vec<&str> = wanted(context, args)
        .iter()
        .map(|client| client.program)
        .collect();
    zoning::lay(context, &clients, doing)
}

/// The clients that were named, else those that are installed.
fn wanted(context: &Context, args: &InitArgs) -> Vec<&'static Client> {
    if args.clients.is_empty() {
        clients::installed(context)
    } else {
        args.clients.iter().map(|name| name.client()).collect()
    }
}

/// Registers the guard with the clients that were named, else with those that are installed.
fn register(
    context: &Context,
    args: &InitArgs,
    doing: Doing,
) -> Result<Vec<ClientOutput>, CommandError> {
    if args.no_hooks {
        return Ok(Vec::new());
    }
    if args.gate == Gate::Shadow && args.scope != Scope::Project {
        let what = "a shadowed /clear never clears, so it is for one project alone";
        return Err(CommandError::new(Exit::Usage, what)
            .hint("callosum init --gate shadow --scope project"));
    }
    let wanted = wanted(context, args);
    let named = <clients::ClientName as clap::ValueEnum>::value_variants().iter();
    let named: Vec<_> = named
        .filter(|name| wanted.contains(&name.client()))
        .copied()
        .collect();
    clients::check_folders(context, &named)?;
    if doing == Doing::Write && !wanted.is_empty() {
        // What stood in the settings before is kept in it, for its user alone.
        let homes = &context.project.homes;
        homes
            .create_machine(&context.disk)
            .map_err(|error| store::disk_failed(&error))?;
    }
    let mut registrar = clients::registrar(context);
    match args.gate {
        Gate::Plugin => {
            let program = clients::own_program()?.display().to_string();
            registrar = registrar.with_gate(WhoIsAsked::Plugin(program));
        }
        Gate::Shadow => registrar = registrar.with_gate(WhoIsAsked::Shadow),
        Gate::None => {}
    }
    let mut outputs = Vec::new();
    for client in wanted {
        let Some(place) = clients::place(context, client, args.scope) else {
            continue;
        };
        let command = clients::command(context, client, args.scope)?;
        let change = registrar.register(&place, &command, doing);
        let gate = match args.gate {
            Gate::Plugin if place.hooks.gate.is_some() => Some("the gate before /clear"),
            Gate::Shadow if place.hooks.typed.is_some() => {
                Some("a /clear that asks and never clears: /new does that")
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
    doing: Doing,
) -> Result<Vec<ClientOutput>, CommandError> {
    if args.no_hooks || args.no_mcp {
        return Ok(Vec::new());
    }
    let registrar = clients::registrar(context);
    let mut outputs = Vec::new();
    for client in wanted(context, args) {
        let Some(place) = clients::server_place(context, client, args.scope) else {
            continue;
        };
        let server = clients::server(context, client, args.scope)?;
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

/// A path as seen from the root, folders with a slash as the ledger names them.
fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}
