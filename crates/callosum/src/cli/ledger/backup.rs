//! Arguments and output of `callosum ledger backup`.
//!
//! The use case is [`callosum_app::ledger::backup`].

use callosum_app::ledger::backup::BackupOutput;
use callosum_app::{CommandError, Exit, ledger_errors, many};
use callosum_ledger::{BackupError, Ledger};
use clap::Args;

use crate::cli::context::Context;

/// Copy the ledger to .cal_backup and verify the copy
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger backup
  $ callosum ledger backup --json")]
pub(crate) struct BackupArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let progress = context.report.progress("backing up");
    let paths = context.ledger_paths();
    let backup =
        Ledger::back_up(&context.disk, &paths, &context.clock).map_err(|error| match &error {
            BackupError::Open(error) => ledger_errors::unopened(error),
            BackupError::Wrong(_) | BackupError::Note { .. } | BackupError::Changed { .. } => {
                CommandError::because(Exit::No, "cannot back up the ledger", &error)
                    .coded(error.code())
                    .hint("callosum ledger verify")
            }
        })?;
    drop(progress);
    let output = BackupOutput {
        path: backup.path.display().to_string(),
        entries: backup.entries,
        bytes: backup.bytes,
        sha256: backup.sha256.to_string(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.data(&format!(
        "{}, {}, in {}\n",
        many(output.entries, "entry"),
        many(output.bytes, "byte"),
        output.path
    ))
}
