//! `callosum ledger verify`: ledger, hashlog and journal held against one another.

use clap::Args;

use crate::{
    cli::{context::Context, verification},
    ui::CommandError,
};

/// Check every checksum and chain of the ledger, its archives and the audit journal
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger verify
  $ callosum ledger verify --json")]
pub(crate) struct VerifyArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    verification::run(context)
}
