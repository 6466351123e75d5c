//! Arguments and output of `callosum replay`.
//!
//! The use case is [`callosum_app::replay`].

use std::path::PathBuf;

use callosum_app::replay::{DifferenceOutput, ReplayOutput, as_text};
use callosum_app::{CommandError, Exit};
use callosum_ledger::{ErrorCode, OpenError, ReplayError, replay};
use clap::Args;

use super::context::Context;

/// Rebuild the ledger from the audit journal and compare it byte for byte
///
/// Without FILE, replays all days and compares the whole ledger. With FILE, replays up to that day
/// and compares only its entries. Writes the rebuilt files to a temporary folder. Exits with 1 if a
/// file differs.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum replay
  $ callosum replay cal_audit/2026-01-02.jsonl
  $ callosum --replay-audit cal_audit/2026-01-02.jsonl")]
pub(crate) struct ReplayArgs {
    /// Journal file of one day
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

pub(super) fn run(context: &Context, args: &ReplayArgs) -> Result<(), CommandError> {
    let file = args.file.as_ref().map(|file| context.folder.join(file));
    let temporary = context.scratch()?;
    let progress = context.report.progress("replaying");
    let replayed = replay(
        &context.disk,
        &context.ledger_paths(),
        file.as_deref(),
        temporary.path(),
    )
    .map_err(|error| {
        let exit = match (&error, error.code()) {
            (ReplayError::NotADayFile { .. } | ReplayError::NoFile { .. }, _) => Exit::Usage,
            (_, Some(ErrorCode::ChecksumMismatch)) => Exit::No,
            _ => Exit::Environment,
        };
        let hint = match exit {
            _ if matches!(error, ReplayError::Journal(OpenError::NotCreated { .. })) => {
                "the first answer creates it: callosum delegate"
            }
            Exit::Usage => {
                "replay the whole journal with `callosum replay`, or one day's file: cal_audit/YYYY-MM-DD.jsonl"
            }
            _ => "callosum audit verify",
        };
        CommandError::because(exit, "cannot replay the audit journal", &error)
            .coded(error.code())
            .hint(hint)
    })?;
    drop(progress);
    let output = ReplayOutput {
        identical: replayed.difference.is_none(),
        records: replayed.records,
        entries: replayed.entries,
        archives: replayed.archives,
        archived_entries: replayed.archived_entries,
        truncated_tail: replayed.ends_torn,
        difference: replayed.difference.map(|difference| DifferenceOutput {
            path: difference.path.display().to_string(),
            offset: difference.offset,
            line: difference.line,
            expected: difference.expected,
            found: difference.found,
        }),
    };
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        context.ui.data(&as_text(&output))?;
    }
    if output.identical {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
