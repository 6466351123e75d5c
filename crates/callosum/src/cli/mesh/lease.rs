//! Arguments and output of `callosum mesh lease`.
//!
//! The use case is [`callosum_app::mesh::lease`].

use std::path::PathBuf;

use callosum_app::CommandError;
use callosum_app::mesh::lease::{LeaseOutput, LeasesOutput, absolute, line, listed, of};
use callosum_app::mesh::open;
use callosum_mesh::board::Command;
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use super::author_args::SpeakerArgs;
use crate::cli::context::Context;

/// Manage advisory locks on files
#[derive(Debug, Subcommand)]
pub(crate) enum LeaseCommand {
    Take(TakeArgs),
    Release(ReleaseArgs),
    List(ListArgs),
}

/// Take a lease on a file
///
/// A lease ends with its session, or after ten minutes unless it is taken again. If another agent holds it, the
/// command exits with 1 and prints the holder, the expiry and the reason.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh lease take src/parser.rs --reason \"renaming the tokens\" --as codex
  $ callosum mesh lease release src/parser.rs --as codex")]
pub(crate) struct TakeArgs {
    /// Path of the file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Reason, shown to other agents
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Take the lease even if another agent holds it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// Release a lease
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh lease release src/lib.rs --as codex")]
pub(crate) struct ReleaseArgs {
    /// Path of the file
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Release the lease only if it still has this token
    #[arg(long, value_name = "N")]
    token: Option<u64>,
    /// Release the lease even if another agent holds it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    speaker: SpeakerArgs,
}

/// List active leases
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh lease list
  $ callosum mesh lease list --json")]
pub(crate) struct ListArgs {}

pub(super) fn run(context: &Context, command: &LeaseCommand) -> Result<(), CommandError> {
    match command {
        LeaseCommand::Take(args) => {
            let path = absolute(context, &args.path)?;
            let order = Command::Lease {
                path: path.clone(),
                why: args.reason.clone(),
                anyway: args.force,
            };
            args.speaker.give(context, order)?;
            // What is to be warned of was, and what was written was taken over.
            let leases = of(context, open::mesh_again(context)?, |lease| {
                lease.path == path
            })?;
            print(context, leases)
        }
        LeaseCommand::Release(args) => {
            let path = absolute(context, &args.path)?;
            let none = format!("no one has a lease on {}", on_one_line(&path));
            let order = Command::Unlease {
                path,
                anyway: args.force,
                token: args.token,
            };
            args.speaker
                .give_to(context, order, none, "callosum mesh lease list")
        }
        LeaseCommand::List(_) => print(context, listed(context, |_| true)?),
    }
}

fn print(context: &Context, leases: Vec<LeaseOutput>) -> Result<(), CommandError> {
    if context.ui.json {
        return context.ui.json_data(&LeasesOutput { leases });
    }
    if leases.is_empty() {
        context.report.say("no leases");
    }
    let text: String = leases.iter().map(line).collect();
    context.ui.read_by_all(&text)
}
