//! `callosum audit tail`: the last records.

use callosum_app::CommandError;
use clap::Args;

use super::record;
use crate::cli::context::Context;

/// Print the last records of the audit journal
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum audit tail
  $ callosum audit tail -n 3 --json")]
pub(crate) struct TailArgs {
    /// Print at most N records
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(super) fn run(context: &Context, args: &TailArgs) -> Result<(), CommandError> {
    let reader = callosum_app::audit::record::reader(context);
    let records = reader
        .tail(args.limit)
        .map_err(|error| callosum_app::audit::record::unreadable(&error))?;
    callosum_app::audit::record::tell_unreadable(context, &reader);
    record::print(context, &records)
}
