//! Arguments and output of `callosum watch test`.
//!
//! The use case is [`callosum_app::watch::evaluate`].

use std::fmt::Write as _;

use callosum_app::watch::EventOutput;
use callosum_app::watch::evaluate::{FORM, Row, VerdictOutput, WatchTestOutput};
use callosum_app::{CommandError, Exit, many};
use callosum_diagnose::{StreamSource, read};
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;
use crate::cli::text_input;

/// Test the detection of errors against a file of outputs
///
/// Each line of FILE is `{"id": …, "text": …, "expect": {"type": …, "file": …, "line": …, "severity": …}}`, or
/// `{"type": null}` if the output has no error; `expect` may be missing. `-` reads standard input. Prints the errors
/// found in each row, and the totals. Exits with 1 if a row is read differently than expected.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum watch test outputs.jsonl
  $ callosum watch test outputs.jsonl --json")]
pub(crate) struct TestArgs {
    /// File of outputs, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: std::path::PathBuf,
}

/// Runs `callosum watch test`.
pub(super) fn run(context: &Context, args: &TestArgs) -> Result<(), CommandError> {
    let (name, bytes) = text_input::read(context, &args.file)?;
    let text = String::from_utf8_lossy(&bytes);
    let now = context.clock.now().to_string();
    let mut output = WatchTestOutput::default();
    let mut shown = String::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let row: Row = serde_json::from_str(line).map_err(|error| {
            CommandError::because(
                Exit::Usage,
                format!("cannot read line {} of {name}", number + 1),
                &error,
            )
            .hint(FORM)
        })?;
        let events = read(row.text.as_bytes(), StreamSource::Merged, &now).events;
        output.rows += 1;
        let is_right = row.expect.as_ref().map(|expected| {
            let is_right = expected.holds(&events);
            if expected.error_type().is_some() {
                output.positive += 1;
                output.right += usize::from(is_right);
            } else {
                output.negative += 1;
                output.false_events += usize::from(!is_right);
            }
            is_right
        });
        let mark = if is_right == Some(false) {
            output.wrong.push(row.id.clone());
            " (unexpected)"
        } else {
            ""
        };
        let found = events.first().map_or_else(
            || "no error".to_owned(),
            |event| on_one_line(&callosum_app::watch::summary(event)),
        );
        let _ = writeln!(shown, "{}: {found}{mark}", on_one_line(&row.id));
        output.verdicts.push(VerdictOutput {
            id: row.id,
            events: events.iter().map(EventOutput::from).collect(),
        });
    }
    if output.rows == 0 {
        let what = format!("{name} has no rows");
        return Err(CommandError::new(Exit::Usage, what).hint(FORM));
    }
    if context.ui.json {
        context.ui.json_data(&output)?;
    } else {
        let _ = writeln!(
            shown,
            "{}, {} of {} with an error read as expected, {} of {} without one reported as an error",
            many(output.rows as u64, "output"),
            output.right,
            output.positive,
            output.false_events,
            output.negative,
        );
        context.ui.foreign(&shown)?;
    }
    if output.wrong.is_empty() {
        Ok(())
    } else {
        Err(CommandError::told(Exit::No))
    }
}
