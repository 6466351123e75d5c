//! The command line: one file per command, this table of them, and the way in.
//!
//! A command is a struct whose doc comment is its manual, and a function that gathers what it
//! needs from the [`Context`], calls the crates below, and tells what came of it.

mod agreement;
mod audit;
mod bead;
#[cfg(feature = "plans")]
mod capability;
mod client_settings;
mod complete;
mod completions;
mod config;
#[cfg(feature = "plans")]
mod constitution;
mod context;
pub(crate) mod delegate;
#[cfg(feature = "plans")]
mod delegation;
mod doctor;
#[cfg(test)]
mod documented_commands;
pub(crate) mod executor;
pub(crate) mod find;
mod generate;
mod global_args;
#[cfg(feature = "plans")]
mod goal;
mod groups;
mod guard;
mod guard_hooks;
mod hook;
mod hook_tokens;
mod init;
mod intent;
mod interrupt;
mod json_error;
pub(crate) mod ledger;
mod legacy_args;
mod local_time;
mod mcp;
mod mcp_registration;
mod memory;
pub(crate) mod mesh;
mod metrics;
mod model;
mod operator;
#[cfg(feature = "plans")]
mod plan;
#[cfg(feature = "plans")]
mod plan_commands;
mod recall;
mod reference;
mod replay;
mod schema;
mod self_check;
mod serve;
pub(crate) mod session;
mod session_hooks;
mod shell;
mod snapshot;
mod status;
mod suggestion;
mod text_input;
mod top;
mod trust;
mod undo;
mod uninstall;
mod verify;
mod watch;
mod zone_report;

pub(crate) use self::context::Context;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use callosum_app::CommandError;
use callosum_config::Environment;
use callosum_host::Disk;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::delegate::KindArg;
use self::global_args::{ColorArg, GlobalArgs};
use crate::logging;
use crate::ui::{PrintOptions, Terminal, Ui, print_error};

/// Examples of commands, for the help of the program.
const EXAMPLES: &str = if cfg!(feature = "plans") {
    "\
Examples:
  $ callosum scan
  $ callosum guard explain -- 'git reset --hard'
  $ callosum session status
  $ callosum mesh task list
  $ callosum plan list
  $ callosum doctor"
} else {
    "\
Examples:
  $ callosum scan
  $ callosum guard explain -- 'git reset --hard'
  $ callosum session status
  $ callosum mesh task list
  $ callosum doctor"
};

/// Make coding agents work as a team: delegation, guard, sessions, mesh, plans
///
/// Callosum delegates analyses of a repository and stores the checked answers. It guards the commands that agents
/// run, keeps decisions across sessions, and runs plans. Agents exchange messages and tasks over a mesh.
///
/// It needs no daemon, network, model or API key: the built-in executor `scout` reads the repository itself.
#[derive(Debug, Parser)]
#[command(
    name = "callosum",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_long_help = EXAMPLES
)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::InitArgs),
    Uninstall(uninstall::UninstallArgs),
    Delegate(delegate::DelegateArgs),
    /// Map the repository: layout, entry points and build
    ///
    /// Short for `callosum delegate --kind scan`.
    #[command(after_long_help = "\
Examples:
  $ callosum scan
  $ callosum scan src --budget 500")]
    Scan(delegate::AnalysisArgs),
    /// Show dependencies between parts, cycles, layers and packages
    ///
    /// Short for `callosum delegate --kind deps`.
    #[command(after_long_help = "\
Examples:
  $ callosum deps
  $ callosum deps src --section cycles")]
    Deps(delegate::AnalysisArgs),
    /// Show which tests cover which code, and untested code
    ///
    /// Short for `callosum delegate --kind tests`.
    #[command(after_long_help = "\
Examples:
  $ callosum tests
  $ callosum tests --all")]
    Tests(delegate::AnalysisArgs),
    /// List public names, routes and commands
    ///
    /// Short for `callosum delegate --kind api`.
    #[command(after_long_help = "\
Examples:
  $ callosum api
  $ callosum api src --json")]
    Api(delegate::AnalysisArgs),
    #[command(subcommand)]
    Executor(executor::ExecutorCommand),
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    Replay(replay::ReplayArgs),
    Find(find::FindArgs),
    #[command(subcommand)]
    Snapshot(snapshot::SnapshotCommand),
    Undo(undo::UndoArgs),
    Watch(watch::WatchArgs),
    Shell(shell::ShellArgs),
    #[command(subcommand)]
    Recall(recall::RecallCommand),
    #[command(subcommand)]
    Operator(operator::OperatorCommand),
    Status(status::StatusArgs),
    Top(top::TopArgs),
    Doctor(doctor::DoctorArgs),
    Serve(serve::ServeArgs),
    Open(serve::open::OpenArgs),
    Metrics(metrics::MetricsArgs),
    Trust(trust::TrustArgs),
    Hook(hook::HookArgs),
    Mcp(mcp::McpArgs),
    #[command(subcommand)]
    Guard(guard::GuardCommand),
    #[command(subcommand)]
    Session(session::SessionCommand),
    #[command(subcommand)]
    Bead(bead::BeadCommand),
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    #[command(subcommand)]
    Mesh(mesh::MeshCommand),
    #[cfg(feature = "plans")]
    #[command(flatten)]
    Plans(plan_commands::PlanCommands),
    #[command(subcommand)]
    Model(model::ModelCommand),
    #[command(subcommand)]
    Intent(intent::IntentCommand),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    #[command(subcommand, name = "self")]
    Installation(self_check::SelfCommand),
    #[command(subcommand)]
    Generate(generate::GenerateCommand),
}

/// Runs the program with these arguments, the program's own name included.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    // Before anything that costs time or starts a thread: it is what each executor is started by.
    if let Some(code) = callosum_sandbox::run(&arguments) {
        return ExitCode::from(code);
    }
    // A process per call of an agent's tool: nothing else is done for it.
    if let Some(code) = callosum_client::hook::run(&arguments, hook::SOURCES) {
        return ExitCode::from(code);
    }
    // Between a pseudo-terminal and a command that is watched.
    if let Some(code) = watch::launch(&arguments) {
        return ExitCode::from(code);
    }
    // A process per press of Tab.
    if complete::run(&arguments) {
        return ExitCode::SUCCESS;
    }
    let arguments = legacy_args::as_verbs(arguments);
    // Help and errors of the parser are printed before it has read this option.
    legacy_args::color(&arguments).choice().write_global();
    if let Some(page) = groups::topic(&arguments, tree()) {
        return ended(Ui::plain(false).data(&page));
    }
    let parsed = tree()
        .try_get_matches_from(&arguments)
        .and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, verbs(&matches))));
    let (cli, verbs) = match parsed {
        Ok(parsed) => parsed,
        Err(mut error) => {
            suggestion::suggest_nearest(&mut error, &arguments, &tree());
            return match json_error::misused(&arguments, &error) {
                Ok(()) => ExitCode::from(json_error::exit_of(&error)),
                Err(unsaid) => ExitCode::from(unsaid.exit as u8),
            };
        }
    };
    let environment = Environment::from_process();
    let variables = environment
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let options = PrintOptions {
        color: cli.global.color.unwrap_or(ColorArg::Auto).choice(),
        is_quiet: cli.global.quiet,
        may_page: !cli.global.no_pager && !cli.global.json,
    };
    Terminal::prepare(options, variables.collect());
    let ui = Ui {
        json: cli.global.json,
        progress: !cli.global.no_progress,
        verbose: cli.global.verbose,
    };
    if let Command::Hook(args) = &cli.command {
        return ExitCode::from(hook::run(args));
    }
    if let Err(error) = logging::start_if_set(&Disk::real(), &environment) {
        ui.warn(&format!("logging is off: {error}"), Some("callosum doctor"));
    }
    // Verbs alone: arguments may be prompts, or hold secrets.
    tracing::info!(command = verbs, "started");
    if let Some(code) = run_watched(&cli, ui) {
        tracing::info!(command = verbs, exit_code = code, "ended");
        return ExitCode::from(code);
    }
    // Its stdout is for its client alone.
    let is_server = matches!(cli.command, Command::Mcp(_));
    match dispatch(cli.command.into_full_form(), &cli.global, ui) {
        Ok(()) => {
            tracing::info!(command = verbs, exit_code = 0, "ended");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let exit_code = error.exit as u8;
            tracing::error!(
                command = verbs,
                exit_code,
                error = error.one_line(),
                "failed"
            );
            print_error(&error);
            if !is_server {
                json_error::print(ui, &error);
            }
            ExitCode::from(error.exit as u8)
        }
    }
}

/// Returns the verbs of a command, such as `ledger show`.
fn verbs(matches: &clap::ArgMatches) -> String {
    let mut verbs = Vec::new();
    let mut matches = matches;
    while let Some((verb, below)) = matches.subcommand() {
        verbs.push(verb);
        matches = below;
    }
    verbs.join(" ")
}

/// Runs the command of `watch` or `shell`, even if the project cannot be read, and returns its exit code.
fn run_watched(cli: &Cli, ui: Ui) -> Option<u8> {
    let environment = Environment::from_process();
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let folder = match &cli.global.directory {
        Some(directory) => folder.join(directory),
        None => folder,
    };
    match &cli.command {
        Command::Watch(args) => watch::run_command(&environment, args, &folder, ui),
        Command::Shell(args) => Some(shell::run(&environment, args, &folder, ui)),
        _ => None,
    }
}

/// Prints the error of a command that has no project, and returns its exit code.
fn ended(done: Result<(), CommandError>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_error(&error);
            ExitCode::from(error.exit as u8)
        }
    }
}

fn dispatch(command: Command, global: &GlobalArgs, ui: Ui) -> Result<(), CommandError> {
    let environment = Environment::from_process();
    match command {
        // What needs no root.
        Command::Generate(command) => return generate::run(&command, ui),
        #[cfg(feature = "plans")]
        Command::Plans(plan_commands::PlanCommands::Plan(command))
            if command.needs_no_project() =>
        {
            return plan::run_alone(&command, &environment, global, ui);
        }
        Command::Executor(executor::ExecutorCommand::Run(args)) => {
            return executor::scout::run(&environment, &args);
        }
        Command::Ledger(ledger::LedgerCommand::Checksum(args)) => {
            return ledger::checksum::run(&args, ui);
        }
        Command::Ledger(ledger::LedgerCommand::CheckProof(args)) => {
            return ledger::check_proof::run(&args, ui);
        }
        // It belongs to the machine, in any folder.
        Command::Serve(args) => return serve::run(environment, &args, ui),
        Command::Open(args) => {
            return serve::open::run(environment, global.directory.clone(), &args, ui);
        }
        // Each call reports errors of the project.
        Command::Mcp(_) => {
            let report = Arc::new(Ui::plain(false));
            return callosum_mcp::run(environment, global.directory.clone(), report);
        }
        // What is wrong with the configuration must not keep it from being checked.
        Command::Config(config::ConfigCommand::Check(_)) => {
            return config::check(&environment, global.directory.as_deref(), ui);
        }
        _ => {}
    }
    let gathered = Context::gather(environment.clone(), global.directory.as_deref(), ui);
    let mut context = match (gathered, &command) {
        (Ok(context), _) => context,
        (Err(error), Command::Delegate(args)) => {
            delegate::refuse(ui, &args.options(), &error)?;
            return Err(error);
        }
        (Err(error), Command::Config(config::ConfigCommand::Set(args))) => {
            let directory = global.directory.as_deref();
            return config::mend(&environment, directory, ui, args, error);
        }
        (Err(error), Command::Session(session::SessionCommand::Grounding(_))) => {
            return Err(callosum_app::session::unknown(error));
        }
        (Err(error), _) => return Err(error),
    };
    context.warn_of_foreign_mark();
    if !matches!(command, Command::Trust(_)) {
        context.warn_of_waiting();
    }
    let before = command
        .writes()
        .then(|| callosum_app::auto_checkpoint::end(&context));
    let done = match command {
        Command::Init(args) => init::run(&context, &args),
        Command::Uninstall(args) => uninstall::run(&context, &args),
        Command::Delegate(args) => delegate::run(&mut context, &args),
        Command::Executor(command) => executor::run(&mut context, command),
        Command::Ledger(command) => ledger::run(&context, command),
        Command::Audit(command) => audit::run(&context, command),
        Command::Replay(args) => replay::run(&context, &args),
        Command::Find(args) => find::run(&context, &args),
        Command::Snapshot(command) => snapshot::run(&context, &command),
        Command::Undo(args) => undo::run(&context, &args),
        Command::Watch(args) => watch::run(&context, &args),
        Command::Recall(command) => recall::run(&context, &command),
        Command::Operator(command) => operator::run(&context, &command),
        Command::Status(args) => status::run(&context, &args),
        Command::Top(args) => top::run(&context, &args),
        Command::Doctor(args) => doctor::run(&context, &args),
        Command::Installation(command) => self_check::run(&context, &command),
        Command::Metrics(args) => metrics::run(&context, &args),
        Command::Trust(args) => trust::run(&context, &args),
        Command::Guard(command) => guard::run(&context, &command),
        Command::Session(command) => session::run(&context, &command),
        Command::Bead(command) => bead::run(&context, &command),
        Command::Memory(command) => memory::run(&context, &command),
        Command::Mesh(command) => mesh::run(&context, &command),
        #[cfg(feature = "plans")]
        Command::Plans(command) => command.run(&context),
        Command::Model(command) => model::run(&context, &command),
        Command::Intent(command) => intent::run(&context, &command),
        Command::Config(command) => config::run(&mut context, &command),
        Command::Generate(command) => generate::run(&command, ui),
        // Answered before the project was looked for.
        Command::Hook(_)
        | Command::Mcp(_)
        | Command::Open(_)
        | Command::Serve(_)
        | Command::Shell(_) => Ok(()),
        Command::Scan(_) | Command::Deps(_) | Command::Tests(_) | Command::Api(_) => {
            unreachable!("`into_full_form` made each of them a delegation")
        }
    };
    // Even if it failed: its records until then are worth as much. A refusal records nothing, and
    // nothing is put behind a journal that is about to be restored.
    if before.is_some_and(|before| {
        done.is_ok() || callosum_app::auto_checkpoint::end(&context) != before
    }) {
        callosum_app::auto_checkpoint::after(&context);
    }
    done
}

impl Command {
    /// Returns a short form as its full command, and any other command as it is.
    fn into_full_form(self) -> Self {
        let (args, kind) = match self {
            Self::Scan(args) => (args, KindArg::Scan),
            Self::Deps(args) => (args, KindArg::Deps),
            Self::Tests(args) => (args, KindArg::Tests),
            Self::Api(args) => (args, KindArg::Api),
            other => return other,
        };
        Self::Delegate(args.into_delegation(kind))
    }

    /// Whether it may tell the journal of something.
    fn writes(&self) -> bool {
        match self {
            Self::Init(args) => !args.is_dry(),
            Self::Delegate(_)
            | Self::Scan(_)
            | Self::Deps(_)
            | Self::Tests(_)
            | Self::Api(_)
            | Self::Trust(_) => true,
            Self::Executor(command) => command.writes(),
            Self::Ledger(command) => command.writes(),
            #[cfg(feature = "plans")]
            Self::Plans(command) => command.writes(),
            Self::Intent(command) => command.writes(),
            Self::Audit(_)
            | Self::Replay(_)
            | Self::Find(_)
            | Self::Snapshot(_)
            | Self::Undo(_)
            | Self::Watch(_)
            | Self::Shell(_)
            | Self::Recall(_)
            | Self::Operator(_)
            | Self::Status(_)
            | Self::Top(_)
            | Self::Doctor(_)
            | Self::Installation(_)
            | Self::Metrics(_)
            | Self::Model(_)
            | Self::Guard(_)
            | Self::Session(_)
            | Self::Bead(_)
            | Self::Memory(_)
            | Self::Mesh(_)
            | Self::Config(_)
            | Self::Uninstall(_)
            | Self::Hook(_)
            | Self::Mcp(_)
            | Self::Serve(_)
            | Self::Open(_)
            | Self::Generate(_) => false,
        }
    }
}

/// Returns the whole tree of commands, as the parser, completions and manuals use it.
fn tree() -> clap::Command {
    groups::grouped(Cli::command())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_commands_is_sound() {
        tree().debug_assert();
    }
}
