//! `callosum ledger verify`: ledger, hashlog and journal held against one another.

use callosum_app::CommandError;
use clap::Args;

use crate::cli::context::Context;
use crate::cli::verify;

/// Verify the ledger, the audit journal and its signed checkpoints
///
/// Checks every checksum and hash chain. Compares ledger, hashlog and journal with each other, and
/// the journal with the signed checkpoints that this machine keeps. Prints the first problem in each
/// file and how the file was changed. Exits with 1 if there is a problem.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger verify
  $ callosum ledger verify --all
  $ callosum ledger verify --json")]
pub(crate) struct VerifyArgs {
    /// Verify the archives too
    #[arg(long)]
    all: bool,
}

pub(super) fn run(context: &Context, args: &VerifyArgs) -> Result<(), CommandError> {
    verify::run(context, args.all)
}
