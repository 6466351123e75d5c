//! `callosum ledger`: what was found out so far, and whether it still stands as it was written.

pub(super) mod checksum;
mod entry;
mod query;
mod show;
mod stats;
mod verify;

use clap::Subcommand;

pub(super) use self::{query::QueryOutput, stats::StatsOutput};

use super::context::Context;
use crate::ui::CommandError;

/// Read and verify what was committed
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    Show(show::ShowArgs),
    Query(query::QueryArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    Checksum(checksum::ChecksumArgs),
}

pub(super) fn run(context: &Context, command: LedgerCommand) -> Result<(), CommandError> {
    match command {
        LedgerCommand::Show(args) => show::run(context, &args),
        LedgerCommand::Query(args) => query::run(context, &args),
        LedgerCommand::Verify(_) => verify::run(context),
        LedgerCommand::Stats(_) => stats::run(context),
        LedgerCommand::Checksum(args) => checksum::run(&args, context.ui),
    }
}
