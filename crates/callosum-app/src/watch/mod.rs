//! Runs a command and reads the errors that it prints ([`command`]); measures the reader against a file of outputs ([`evaluate`]).

pub mod command;
pub mod evaluate;

pub use self::command::{WatchOutput, Watched, fix_line};
pub use self::evaluate::WatchTestOutput;

use callosum_diagnose::ErrorEvent;
use schemars::JsonSchema;
use serde::Serialize;

/// One error that a tool printed.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EventOutput {
    /// Its type: the class that the language prints, else a name of the closed list.
    pub error_type: String,
    /// The file as printed.
    pub file_path: Option<String>,
    /// The line in the file, from 1 on.
    pub line_number: Option<u32>,
    /// The message on one line.
    pub message: String,
    /// `low`, `medium`, `high` or `critical`.
    pub severity: String,
    /// `stdout`, `stderr` or `merged`.
    pub stream_source: String,
    /// When it was read, in UTC.
    pub timestamp: String,
    /// The lines that it was read from.
    pub raw_output: String,
    /// The tool's own code for it.
    pub code: Option<String>,
    /// The module, package, program or symbol that is missing or at fault.
    pub module: Option<String>,
    /// The test that failed.
    pub test: Option<String>,
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
pub fn summary(event: &ErrorEvent) -> String {
    let place = match (&event.file_path, event.line_number) {
        (Some(file), Some(line)) => format!(" {file}:{line}"),
        (Some(file), None) => format!(" {file}"),
        (None, _) => String::new(),
    };
    format!("{}{place}: {}", event.error_type, event.message)
}
