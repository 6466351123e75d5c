//! `callosum watch`: run a command, and read the errors that it prints.
//!
//! Start with [`run_command`]. `command` runs it with readers at its output; `evaluate` measures the reader against a file of outputs.

mod command;
mod evaluate;

use std::{ffi::OsString, path::Path};

use callosum_diagnose::ErrorEvent;
use clap::{Args, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use self::{
    command::{WatchOutput, Watched, fix_line, launch, run_watched},
    evaluate::WatchTestOutput,
};
use crate::{
    cli::context::Context,
    ui::{CommandError, Ui},
};
use callosum_config::Environment;

/// Run a command and report the errors that it prints
///
/// The command runs as it would without `watch`: its output, signals, window size and exit code pass through. At the
/// end, `watch` prints one line for each distinct error to standard error, with its known fix.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_long_help = "\
Examples:
  $ callosum watch -- cargo test
  $ callosum watch --as ci --json -- make
  $ callosum watch test outputs.jsonl"
)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    verb: Option<WatchVerb>,
    /// Name to record the errors under
    #[arg(long = "as", value_name = "NAME")]
    agent: Option<String>,
    /// Command and its arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Other commands of `watch`.
#[derive(Debug, Subcommand)]
enum WatchVerb {
    Test(evaluate::TestArgs),
}

/// One error that a tool printed.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct EventOutput {
    /// Its type: the class that the language prints, else a name of the closed list.
    pub(crate) error_type: String,
    /// The file as printed.
    pub(crate) file_path: Option<String>,
    /// The line in the file, from 1 on.
    pub(crate) line_number: Option<u32>,
    /// The message on one line.
    pub(crate) message: String,
    /// `low`, `medium`, `high` or `critical`.
    pub(crate) severity: String,
    /// `stdout`, `stderr` or `merged`.
    pub(crate) stream_source: String,
    /// When it was read, in UTC.
    pub(crate) timestamp: String,
    /// The lines that it was read from.
    pub(crate) raw_output: String,
    /// The tool's own code for it.
    pub(crate) code: Option<String>,
    /// The module, package, program or symbol that is missing or at fault.
    pub(crate) module: Option<String>,
    /// The test that failed.
    pub(crate) test: Option<String>,
}

impl From<&ErrorEvent> for EventOutput {
    fn from(event: &ErrorEvent) -> Self {
        Self {
            error_type: event.error_type.clone(),
            file_path: event.file_path.clone(),
            line_number: event.line_number,
            message: event.message.clone(),
            severity: event.severity.name().to_owned(),
            stream_source: event.stream_source.name().to_owned(),
            timestamp: event.timestamp.clone(),
            raw_output: event.raw_output.clone(),
            code: event.code.clone(),
            module: event.module.clone(),
            test: event.test.clone(),
        }
    }
}

/// Returns an error on one line: its type, place and message.
fn summary(event: &ErrorEvent) -> String {
    let place = match (&event.file_path, event.line_number) {
        (Some(file), Some(line)) => format!(" {file}:{line}"),
        (Some(file), None) => format!(" {file}"),
        (None, _) => String::new(),
    };
    format!("{}{place}: {}", event.error_type, event.message)
}

/// Runs the command of `callosum watch` and returns its exit code; `None` if it has another verb.
pub(super) fn run_command(
    environment: &Environment,
    args: &WatchArgs,
    folder: &Path,
    ui: Ui,
) -> Option<u8> {
    if args.verb.is_some() {
        return None;
    }
    let watched = Watched {
        command: &args.command,
        agent: args.agent.as_deref().unwrap_or("watch"),
        folder,
        filter: None,
    };
    Some(run_watched(environment, watched, ui))
}

/// Runs the verbs of `callosum watch`.
pub(super) fn run(context: &Context, args: &WatchArgs) -> Result<(), CommandError> {
    match &args.verb {
        Some(WatchVerb::Test(args)) => evaluate::run(context, args),
        // Run before the project was looked for.
        None => Ok(()),
    }
}
