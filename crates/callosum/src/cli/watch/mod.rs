//! Arguments and output of `callosum watch`.
//!
//! The use case is [`callosum_app::watch`].

mod command;
mod evaluate;

pub(crate) use self::command::{launch, run_watched};

use std::ffi::OsString;
use std::path::Path;

use callosum_app::CommandError;
use callosum_app::watch::command::Watched;
use callosum_config::Environment;
use clap::{Args, Subcommand};

use crate::cli::context::Context;
use crate::ui::Ui;

/// Run a command and report the errors that it prints
///
/// The command runs as it would without `watch`: its output, signals, window size and exit code pass through. At the
/// end, `watch` prints one line for each distinct error to standard error, with its known fix.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "\
Examples:
  $ callosum watch -- cargo test
  $ callosum watch --as ci --json -- make
  $ callosum watch test outputs.jsonl"
)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    verb: Option<WatchVerb>,
    /// Name to record the errors under
    #[arg(long = "as", value_name = "NAME")]
    agent: Option<String>,
    /// Command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Other commands of `watch`.
#[derive(Debug, Subcommand)]
enum WatchVerb {
    Test(evaluate::TestArgs),
}

/// Runs the command of `callosum watch` and returns its exit code; `None` if it has another verb.
pub(super) fn run_command(
    environment: &Environment,
    args: &WatchArgs,
    folder: &Path,
    ui: Ui,
) -> Option<u8> {
    if args.verb.is_some() {
        return None;
    }
    let watched = Watched {
        command: &args.command,
        agent: args.agent.as_deref().unwrap_or("watch"),
        folder,
        filter: None,
    };
    Some(run_watched(environment, watched, ui))
}

/// Runs the verbs of `callosum watch`.
pub(super) fn run(context: &Context, args: &WatchArgs) -> Result<(), CommandError> {
    match &args.verb {
        Some(WatchVerb::Test(args)) => evaluate::run(context, args),
        // Run before the project was looked for.
        None => Ok(()),
    }
}
