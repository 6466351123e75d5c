//! `callosum replay`: the ledger rebuilt from the audit journal and held against the real one.

use std::fmt::Write as _;

use std::path::PathBuf;

use callosum_evidence::terminal::on_one_line;
use callosum_ledger::{ErrorCode, OpenError, ReplayError, replay};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use crate::ui::{CommandError, Exit, many};

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

/// `callosum replay --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ReplayOutput {
    /// Whether the real files are what the journal makes.
    pub(crate) identical: bool,
    /// Records that were replayed.
    pub(crate) records: u64,
    /// Entries of the rebuilt ledger.
    pub(crate) entries: u64,
    /// Archives that were rebuilt.
    pub(crate) archives: u64,
    /// Entries of the rebuilt archives.
    pub(crate) archived_entries: u64,
    /// Whether the journal ends in a record that is not finished, which was left out.
    pub(crate) truncated_tail: bool,
    /// The first place at which a real file differs.
    pub(crate) difference: Option<DifferenceOutput>,
}

/// The first place at which a real file differs from the rebuilt one.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DifferenceOutput {
    /// The real file.
    pub(crate) path: String,
    /// The byte, from 0.
    pub(crate) offset: u64,
    /// The line, from 1.
    pub(crate) line: u64,
    /// That line as it was rebuilt; null where the rebuilt file ends before.
    pub(crate) expected: Option<String>,
    /// The line in the file on disk; null if that file ends earlier.
    pub(crate) found: Option<String>,
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

fn as_text(output: &ReplayOutput) -> String {
    let mut text = format!(
        "{} replayed, {} and {} rebuilt: {}\n",
        many(output.records, "record"),
        many(output.entries + output.archived_entries, "entry"),
        many(output.archives, "archive"),
        if output.identical {
            "identical"
        } else {
            "differs from the files"
        }
    );
    if output.truncated_tail {
        text.push_str("the journal ends in an incomplete record, which was ignored\n");
    }
    if let Some(difference) = &output.difference {
        let from = differs_at(difference);
        let shown = |line: &Option<String>| match line {
            Some(line) => cut(line, from),
            None => "(the file ends earlier)".to_owned(),
        };
        let _ = writeln!(
            text,
            "{} differs at byte {}, line {}\n  rebuilt: {}\n  on disk: {}",
            difference.path,
            difference.offset,
            difference.line,
            shown(&difference.expected),
            shown(&difference.found),
        );
    }
    text
}

/// The first character at which the two lines differ.
fn differs_at(difference: &DifferenceOutput) -> usize {
    match (&difference.expected, &difference.found) {
        (Some(expected), Some(found)) => {
            let pairs = expected.chars().zip(found.chars());
            pairs.take_while(|(a, b)| a == b).count()
        }
        _ => 0,
    }
}

/// As much of a line as a terminal bears, from a little before the character `at`, with nothing in
/// it that a terminal would obey.
fn cut(line: &str, at: usize) -> String {
    const BEFORE: usize = 40;
    const WIDTH: usize = 160;
    let from = at.saturating_sub(BEFORE);
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    let part: String = line.chars().skip(from).take(WIDTH).collect();
    shown.push_str(&on_one_line(&part));
    if line.chars().count() > from + WIDTH {
        shown.push('…');
    }
    shown
}
