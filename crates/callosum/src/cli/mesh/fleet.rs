//! Arguments and output of `callosum mesh fleet`.
//!
//! The use case is [`callosum_app::mesh::fleet`].

use std::fmt::Write as _;

use callosum_app::mesh::fleet::{self, FleetStatusOutput};
use callosum_app::{CommandError, Exit, many};
use callosum_redact::terminal_escape::on_one_line;
use clap::{Args, Subcommand};

use crate::cli::context::Context;
use crate::ui::Table;

/// Share tasks and messages with other machines
///
/// Several machines of a team, each with its own log, replicate events over a NATS JetStream server. The program must be
/// built with the feature `nats`. See docs/fleet.md.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    Status(StatusArgs),
    Join(JoinArgs),
    Leave(LeaveArgs),
    Sync(SyncArgs),
    Doctor(DoctorArgs),
}

/// Show what was sent to other machines and received from them
///
/// Prints what the last round of replication found. Asks no server.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh fleet status
  $ callosum mesh fleet status --json")]
pub(crate) struct StatusArgs {}

/// Join the workspace that is configured
///
/// Reads the table [mesh.fleet] of the user's config.toml: servers, workspace, user, repositories and credentials. Creates the
/// workspace on the server if it has none. Events from before the join stay on this machine.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh fleet join")]
pub(crate) struct JoinArgs {}

/// Leave the workspace
///
/// Removes what the server keeps for this machine. Events stay in the log and in the workspace, and shared tasks become this
/// machine's own.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh fleet leave")]
pub(crate) struct LeaveArgs {}

/// Send and receive events once
///
/// `callosum serve` does so all the time.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh fleet sync")]
pub(crate) struct SyncArgs {}

/// Check the configuration, the server and the credentials
///
/// Replicates once. Exits with 1 if a check fails.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum mesh fleet doctor
  $ callosum mesh fleet doctor --json")]
pub(crate) struct DoctorArgs {}

pub(super) fn run(context: &Context, command: &FleetCommand) -> Result<(), CommandError> {
    match command {
        FleetCommand::Status(_) => {
            let status = fleet::status(context)?;
            if context.ui.json {
                return context.ui.json_data(&status);
            }
            context.ui.data(&status_text(&status))
        }
        FleetCommand::Join(_) => {
            let status = fleet::joined(context)?;
            if context.ui.json {
                return context.ui.json_data(&status);
            }
            context.ui.data(&status_text(&status))
        }
        FleetCommand::Leave(_) => leave(context),
        FleetCommand::Sync(_) => {
            let done = fleet::synced(context)?;
            if context.ui.json {
                return context.ui.json_data(&done);
            }
            let (sent, received) = (many(done.sent, "event"), many(done.received, "event"));
            context
                .ui
                .data(&format!("sent {sent}, received {received}\n"))
        }
        FleetCommand::Doctor(_) => doctor(context),
    }
}

fn leave(context: &Context) -> Result<(), CommandError> {
    let done = fleet::left(context)?;
    if context.ui.json {
        return context.ui.json_data(&done);
    }
    let text = match &done.workspace {
        Some(workspace) => format!("left the workspace `{workspace}`\n"),
        None => "this machine had joined no workspace\n".to_owned(),
    };
    context.ui.data(&text)
}

fn doctor(context: &Context) -> Result<(), CommandError> {
    let found = fleet::checked(context)?;
    if context.ui.json {
        context.ui.json_data(&found)?;
    } else {
        let mut text = String::new();
        for check in &found.checks {
            let mark = if check.ok { "ok" } else { "failed" };
            let detail = on_one_line(&check.detail);
            let _ = writeln!(text, "{mark:<7} {}: {detail}", check.name);
            if let Some(hint) = &check.hint {
                let _ = writeln!(text, "        hint: {}", on_one_line(hint));
            }
        }
        context.ui.data(&text)?;
    }
    if found.ok {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}

fn status_text(status: &FleetStatusOutput) -> String {
    if !status.built_in {
        return "this program was built without the fleet; build it with `cargo build --release --locked --features nats`\n"
            .to_owned();
    }
    let (Some(workspace), Some(user), Some(machine)) =
        (&status.workspace, &status.user, &status.machine)
    else {
        let text = if status.configured {
            "this machine has not joined; run `callosum mesh fleet join`\n"
        } else {
            "no fleet is configured; see `callosum help mesh fleet join`\n"
        };
        return text.to_owned();
    };
    let mut text = format!("workspace {workspace}, as {user}@{machine}\n");
    let servers = status.servers.join(", ");
    let state = match (&status.last_round, status.connected, status.refused) {
        (None, _, _) => "no round yet".to_owned(),
        (Some(at), true, _) => format!("connected at {at}"),
        (Some(at), false, true) => format!("refused at {at}"),
        (Some(at), false, false) => format!("not reachable at {at}"),
    };
    let _ = writeln!(text, "server    {servers}: {state}");
    if let Some(reason) = &status.reason {
        let failures = many(status.failures, "failed round");
        let _ = writeln!(text, "reason    {} ({failures})", on_one_line(reason));
    }
    let (sent, received) = (many(status.sent, "event"), many(status.received, "event"));
    let waiting = many(status.waiting, "event");
    let _ = writeln!(
        text,
        "events    sent {sent}, received {received}; {waiting} to look at"
    );
    let _ = writeln!(text, "durable   {}", status.durability.replace('_', " "));
    for (count, what) in [
        (
            status.refused_messages,
            "message that was not what its subject says",
        ),
        (
            status.refused_events,
            "event of others that was not taken in",
        ),
        (status.gaps, "gap in the events of others"),
        (
            status.not_shared,
            "task with an id that another machine has",
        ),
    ] {
        if count > 0 {
            let _ = writeln!(text, "warning   {count} × {what}");
        }
    }
    if !status.peers.is_empty() {
        let mut table = Table::new(&["machine", "last seen", "has of this log"]);
        for peer in &status.peers {
            table.row([
                on_one_line(&format!("{}@{}", peer.user, peer.machine)),
                peer.seen.clone(),
                (if peer.has_all { "all" } else { "not all yet" }).to_owned(),
            ]);
        }
        text.push_str(&table.render());
    }
    text
}
