//! `callosum ledger verify`: ledger, hashlog and journal held against one another.

use clap::Args;

use crate::{
    cli::{context::Context, verification},
    ui::CommandError,
};

/// Check the ledger and the audit journal, and that they are what was signed
///
/// Checks every checksum and chain, holds ledger, hashlog and journal against one another, and the
/// journal against the checkpoints that this machine keeps. Names the first thing that is wrong
/// with each file, and what was done to it.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger verify
  $ callosum ledger verify --all
  $ callosum ledger verify --json")]
pub(crate) struct VerifyArgs {
    /// Check the archives as well
    #[arg(long)]
    all: bool,
}

pub(super) fn run(context: &Context, args: &VerifyArgs) -> Result<(), CommandError> {
    verification::run(context, args.all)
}
