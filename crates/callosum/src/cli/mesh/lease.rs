//! `callosum mesh lease`: who works on which file.

use std::path::PathBuf;

use callosum_evidence::{secrets, terminal::on_one_line};
use callosum_mesh::{
    Mesh,
    board::{Lease, Order},
    leased_path,
};
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

use super::{open, speaker::SpeakerArgs};
use crate::{
    cli::context::Context,
    ui::{CommandError, Exit},
};

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
    /// Release the lease only if it still has this number
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

/// `callosum mesh lease list|take --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LeasesOutput {
    /// The leases that hold, by path.
    pub(crate) leases: Vec<LeaseOutput>,
}

/// A lease.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LeaseOutput {
    /// The file.
    pub(crate) path: String,
    /// The agent.
    pub(crate) by: String,
    /// Its session.
    pub(crate) session_id: Option<String>,
    /// What for.
    pub(crate) why: Option<String>,
    /// When it was taken first.
    pub(crate) since: String,
    /// When it ends.
    pub(crate) until: String,
    /// A number that only grows: the later of two leases on a file has the larger one.
    pub(crate) token: u64,
}

pub(super) fn run(context: &Context, command: &LeaseCommand) -> Result<(), CommandError> {
    match command {
        LeaseCommand::Take(args) => {
            let path = absolute(context, &args.path)?;
            let order = Order::Lease {
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
            let order = Order::Unlease {
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

/// The file as leases name it: absolute, and by one path, whether it is there or not.
pub(crate) fn absolute(context: &Context, path: &std::path::Path) -> Result<String, CommandError> {
    let path = context.folder.join(path);
    let real = leased_path(&context.disk, &path).map_err(|error| {
        let what = "cannot access the file";
        CommandError::because(Exit::Usage, what, &error)
    })?;
    let path = real.to_string_lossy().into_owned();
    // Others are told of it masked, so that two such files would be one.
    let masked = secrets::mask(&path);
    if masked.found.is_empty() {
        return Ok(path);
    }
    let what = format!(
        "cannot take a lease on {}: its name contains what looks like a secret",
        on_one_line(&masked.text)
    );
    Err(CommandError::new(Exit::Usage, what))
}

/// The leases that hold, by path.
pub(crate) fn listed(
    context: &Context,
    is_wanted: impl Fn(&Lease) -> bool,
) -> Result<Vec<LeaseOutput>, CommandError> {
    let (mesh, _) = open::readable(context)?;
    of(context, mesh, is_wanted)
}

fn of(
    context: &Context,
    mut mesh: Mesh,
    is_wanted: impl Fn(&Lease) -> bool,
) -> Result<Vec<LeaseOutput>, CommandError> {
    let now = context.clock.now();
    let board = mesh.board().map_err(|error| open::explain(&error))?;
    let leases = board.leases.iter();
    let leases = leases.filter(|lease| lease.until > now && is_wanted(lease));
    let mut leases: Vec<LeaseOutput> = leases
        .map(|lease| LeaseOutput {
            path: lease.path.clone(),
            by: lease.by.to_string(),
            session_id: lease.session_id.clone(),
            why: lease.why.clone(),
            since: lease.since.to_string(),
            until: lease.until.to_string(),
            token: lease.token,
        })
        .collect();
    leases.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(leases)
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

/// A lease on a line.
pub(crate) fn line(lease: &LeaseOutput) -> String {
    let LeaseOutput {
        path, by, until, ..
    } = lease;
    let why = lease.why.as_deref().map(on_one_line);
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    format!("{} {by} until {until}{why}\n", on_one_line(path))
}
