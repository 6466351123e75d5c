//! `callosum audit verify`: the journal's chain.

use clap::Args;

use crate::{
    cli::{context::Context, verification},
    ui::CommandError,
};

/// Check the audit journal's chain, that it is what was signed, and that the ledger says the same
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit verify
  $ callosum audit verify --json")]
pub(crate) struct VerifyArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    verification::run(context, false)
}
