//! Arguments and output of `callosum audit`.
//!
//! The use case is [`callosum_app::audit`].

mod checkpoint;
mod export;
mod query;
mod record;
mod tail;
mod verify;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;
use super::replay;

/// Read and verify the audit journal
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    Tail(tail::TailArgs),
    Query(query::QueryArgs),
    Export(export::ExportArgs),
    Verify(verify::VerifyArgs),
    Checkpoint(checkpoint::CheckpointArgs),
    Replay(replay::ReplayArgs),
}

pub(super) fn run(context: &Context, command: AuditCommand) -> Result<(), CommandError> {
    match command {
        AuditCommand::Tail(args) => tail::run(context, &args),
        AuditCommand::Query(args) => query::run(context, &args),
        AuditCommand::Export(args) => export::run(context, &args),
        AuditCommand::Verify(_) => verify::run(context),
        AuditCommand::Checkpoint(args) => checkpoint::run(context, &args),
        AuditCommand::Replay(args) => replay::run(context, &args),
    }
}
