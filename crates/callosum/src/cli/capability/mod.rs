//! Arguments and output of `callosum capability`.
//!
//! The use case is [`callosum_app::capability`].

mod accept;
mod list;
mod revoke;
mod show;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// List and revoke the capabilities that plans can call
///
/// Capabilities are built-in functions, the executors of the registry (as agents) and the tools of registered
/// servers. See `docs/formats/capability.md`.
#[derive(Debug, Subcommand)]
pub(crate) enum CapabilityCommand {
    List(list::ListArgs),
    Query(list::QueryArgs),
    Show(show::ShowArgs),
    Accept(accept::AcceptArgs),
    Revoke(revoke::RevokeArgs),
    Restore(revoke::RestoreArgs),
}

pub(super) fn run(context: &Context, command: &CapabilityCommand) -> Result<(), CommandError> {
    match command {
        CapabilityCommand::List(_) => list::run(context),
        CapabilityCommand::Query(args) => list::query(context, args),
        CapabilityCommand::Show(args) => show::run(context, args),
        CapabilityCommand::Accept(args) => accept::run(context, args),
        CapabilityCommand::Revoke(args) => revoke::revoke(context, args),
        CapabilityCommand::Restore(args) => revoke::restore(context, args),
    }
}
