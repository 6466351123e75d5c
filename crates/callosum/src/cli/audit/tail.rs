//! `callosum audit tail`: the last records.

use clap::Args;

use super::record;
use crate::{cli::context::Context, ui::CommandError};

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
    let reader = record::reader(context);
    let records = reader
        .tail(args.limit)
        .map_err(|error| record::unreadable(&error))?;
    record::tell_unreadable(context, &reader);
    record::print(context, &records)
}
