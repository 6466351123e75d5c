//! Arguments and output of `callosum ledger rotate`.
//!
//! The use case is [`callosum_app::ledger::rotate`].

use callosum_app::ledger::rotate::RotateOutput;
use callosum_app::{CommandError, disk_errors, ledger_errors, many, open_ledger};
use clap::Args;

use crate::cli::context::Context;

/// Archive the ledger and start a new one, regardless of its size
///
/// This happens automatically at `rotation_threshold_mb`. Queries search the archives too.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger rotate
  $ callosum ledger rotate --json")]
pub(crate) struct RotateArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let ledger = open_ledger::open(context)?;
    let rotated = ledger
        .rotate()
        .map_err(|error| ledger_errors::unwritten(&error))?;
    open_ledger::compress_archives(context);
    let output = RotateOutput {
        archive: match &rotated {
            Some(rotated) => {
                let place = rotated.place(&context.disk);
                let place = place.map_err(|error| disk_errors::disk_failed(&error))?;
                Some(place.display().to_string())
            }
            None => None,
        },
        entries: rotated.as_ref().map_or(0, |rotated| rotated.entries),
        bytes: rotated.as_ref().map_or(0, |rotated| rotated.bytes),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let Some(archive) = &output.archive else {
        context
            .report
            .say("the ledger has no entries; nothing was archived");
        return Ok(());
    };
    context.ui.data(&format!(
        "{}, {}, archived as {archive}\n",
        many(output.entries, "entry"),
        many(output.bytes, "byte")
    ))
}
