//! Arguments and output of `callosum mesh`.
//!
//! The use case is [`callosum_app::mesh`].

mod author_args;
mod bridge;
mod conflicts;
mod digest;
pub(crate) mod discovery;
mod fleet;
mod inject;
pub(crate) mod lease;
pub(crate) mod message;
mod panes;
mod publish;
mod route;
mod subscribe;
mod tail;
pub(crate) mod task;
pub(crate) mod task_output;
mod text_arg;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// Exchange tasks, messages and events with other agents on this machine
#[derive(Debug, Subcommand)]
pub(crate) enum MeshCommand {
    Publish(publish::PublishArgs),
    Tail(tail::TailArgs),
    Subscribe(subscribe::SubscribeArgs),
    #[command(subcommand)]
    Task(task::TaskCommand),
    #[command(subcommand)]
    Message(message::MessageCommand),
    #[command(subcommand)]
    Discovery(discovery::DiscoveryCommand),
    #[command(subcommand)]
    Lease(lease::LeaseCommand),
    #[command(subcommand)]
    Conflicts(conflicts::ConflictsCommand),
    Panes(panes::PanesArgs),
    #[command(subcommand)]
    Fleet(fleet::FleetCommand),
    Inject(inject::InjectArgs),
    Digest(digest::DigestArgs),
    Route(route::RouteArgs),
    Bridge(bridge::BridgeArgs),
}

pub(super) fn run(context: &Context, command: &MeshCommand) -> Result<(), CommandError> {
    match command {
        MeshCommand::Publish(args) => publish::run(context, args),
        MeshCommand::Tail(args) => tail::run(context, args),
        MeshCommand::Subscribe(args) => subscribe::run(context, args),
        MeshCommand::Task(command) => task::run(context, command),
        MeshCommand::Message(command) => message::run(context, command),
        MeshCommand::Discovery(command) => discovery::run(context, command),
        MeshCommand::Lease(command) => lease::run(context, command),
        MeshCommand::Conflicts(command) => conflicts::run(context, command),
        MeshCommand::Fleet(command) => fleet::run(context, command),
        MeshCommand::Panes(args) => panes::run(context, args),
        MeshCommand::Inject(args) => inject::run(context, args),
        MeshCommand::Digest(args) => digest::run(context, args),
        MeshCommand::Route(args) => route::run(context, args),
        MeshCommand::Bridge(args) => bridge::run(context, args),
    }
}
