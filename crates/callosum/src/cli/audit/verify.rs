//! `callosum audit verify`: the journal's chain.

use clap::Args;

use crate::{
    cli::{context::Context, verification},
    ui::CommandError,
};

/// Check the audit journal's chain, and that the ledger says what it says
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit verify
  $ callosum audit verify --json")]
pub(crate) struct VerifyArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    verification::run(context)
}
