//! `callosum audit verify`: the journal's chain.

use callosum_app::CommandError;
use clap::Args;

use crate::cli::context::Context;
use crate::cli::verify;

/// Verify the audit journal against its checkpoints and the ledger
///
/// Does the same checks as `callosum ledger verify`. Exits with 1 if there is a problem.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit verify
  $ callosum audit verify --json")]
pub(crate) struct VerifyArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    verify::run(context, false)
}
