//! `callosum watch test`: how well the reader of tool output does on a file of outputs.

use std::fmt::Write as _;

use callosum_diagnose::{ErrorEvent, StreamSource, read};
use callosum_evidence::terminal::on_one_line;
use clap::Args;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::EventOutput;
use crate::{
    cli::{context::Context, text_input},
    ui::{CommandError, Exit, many},
};

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

/// An example of a line, for errors.
const FORM: &str = r#"each line is {"id": "1", "text": "sh: 1: x: not found", "expect": {"type": "CommandNotFound"}}"#;

/// One line of the file.
#[derive(Debug, Deserialize)]
struct Row {
    id: String,
    text: String,
    #[serde(default)]
    expect: Option<Expected>,
}

/// The error that a row is expected to have. A key that is missing is not compared; `type: null` expects no error.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Expected(Map<String, Value>);

impl Expected {
    /// Returns the type, if an error is expected.
    fn error_type(&self) -> Option<&str> {
        self.0.get("type").and_then(Value::as_str)
    }

    /// Whether the first event of an output is the expected one.
    fn holds(&self, events: &[ErrorEvent]) -> bool {
        let Some(error_type) = self.error_type() else {
            return events.is_empty();
        };
        let key = |name: &str| self.0.get(name);
        events.first().is_some_and(|event| {
            let alias = key("alias").and_then(Value::as_str);
            (event.error_type == error_type || alias == Some(&*event.error_type))
                && key("file").is_none_or(|file| file.as_str() == event.file_path.as_deref())
                && key("line").is_none_or(|line| line.as_u64() == event.line_number.map(u64::from))
                && key("severity").is_none_or(|word| word == event.severity.name())
        })
    }
}

/// `callosum watch test --json`.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub(crate) struct WatchTestOutput {
    /// Number of outputs.
    pub(crate) rows: usize,
    /// Number of outputs that are expected to have an error.
    pub(crate) positive: usize,
    /// Number of those that were read as expected.
    pub(crate) right: usize,
    /// Number of outputs that are expected to have no error.
    pub(crate) negative: usize,
    /// Number of those for which an error was reported.
    pub(crate) false_events: usize,
    /// Ids of the rows that were read differently than expected.
    pub(crate) wrong: Vec<String>,
    /// The errors of each output.
    pub(crate) verdicts: Vec<VerdictOutput>,
}

/// The errors that were found in one output.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct VerdictOutput {
    /// The row's id.
    pub(crate) id: String,
    /// Its errors, the one to act on first.
    pub(crate) events: Vec<EventOutput>,
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
            |event| on_one_line(&super::summary(event)),
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
