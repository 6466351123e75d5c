//! Arguments and output of `callosum ledger`.
//!
//! The use case is [`callosum_app::ledger`].

mod at;
mod backup;
pub(super) mod check_proof;
pub(super) mod checksum;
mod cost;
mod diff;
mod entry;
mod export;
mod filter;
mod prove;
mod query;
mod recover;
mod rotate;
mod show;
mod stats;
mod verify;

pub(super) use self::at::AtOutput;

use callosum_app::CommandError;
use clap::Subcommand;

use super::context::Context;

/// Read, verify, export and recover the ledger
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    Show(show::ShowArgs),
    Query(query::QueryArgs),
    Export(export::ExportArgs),
    Diff(diff::DiffArgs),
    At(at::AtArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    Cost(cost::CostArgs),
    Prove(prove::ProveArgs),
    CheckProof(check_proof::CheckProofArgs),
    Rotate(rotate::RotateArgs),
    Backup(backup::BackupArgs),
    Recover(recover::RecoverArgs),
    Checksum(checksum::ChecksumArgs),
}

impl LedgerCommand {
    /// Whether it may tell the journal of something that is not signed by itself.
    pub(super) fn writes(&self) -> bool {
        !matches!(
            self,
            Self::Show(_)
                | Self::Query(_)
                | Self::Export(_)
                | Self::Diff(_)
                | Self::At(_)
                | Self::Verify(_)
                | Self::Stats(_)
                | Self::Cost(_)
                | Self::Prove(_)
                | Self::CheckProof(_)
                | Self::Checksum(_)
        )
    }
}

pub(super) fn run(context: &Context, command: LedgerCommand) -> Result<(), CommandError> {
    match command {
        LedgerCommand::Show(args) => show::run(context, &args),
        LedgerCommand::Query(args) => query::run(context, &args),
        LedgerCommand::Verify(args) => verify::run(context, &args),
        LedgerCommand::Prove(args) => prove::run(context, &args),
        LedgerCommand::CheckProof(args) => check_proof::run(&args, context.ui),
        LedgerCommand::Export(args) => export::run(context, &args),
        LedgerCommand::Diff(args) => diff::run(context, &args),
        LedgerCommand::At(args) => at::run(context, &args),
        LedgerCommand::Rotate(_) => rotate::run(context),
        LedgerCommand::Backup(_) => backup::run(context),
        LedgerCommand::Recover(args) => recover::run(context, &args),
        LedgerCommand::Stats(_) => stats::run(context),
        LedgerCommand::Cost(args) => cost::run(context, &args),
        LedgerCommand::Checksum(args) => checksum::run(&args, context.ui),
    }
}
