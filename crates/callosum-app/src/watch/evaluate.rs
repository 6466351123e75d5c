//! `callosum watch test`: accuracy of the reader of tool output over a file of outputs.

use callosum_diagnose::ErrorEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::watch::EventOutput;

/// An example of a line, for errors.
pub const FORM: &str = r#"each line is {"id": "1", "text": "sh: 1: x: not found", "expect": {"type": "CommandNotFound"}}"#;

/// One line of the file.
#[derive(Debug, Deserialize)]
pub struct Row {
    /// The id of the row.
    pub id: String,
    /// The output to read.
    pub text: String,
    /// The event that is right; none if the output has no error.
    #[serde(default)]
    pub expect: Option<Expected>,
}

/// The error that a row is expected to have. A key that is missing is not compared; `type: null` expects no error.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Expected(Map<String, Value>);

impl Expected {
    /// Returns the type, if an error is expected.
    pub fn error_type(&self) -> Option<&str> {
        self.0.get("type").and_then(Value::as_str)
    }

    /// Whether the first event of an output is the expected one.
    pub fn holds(&self, events: &[ErrorEvent]) -> bool {
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
pub struct WatchTestOutput {
    /// Number of outputs.
    pub rows: usize,
    /// Number of outputs that are expected to have an error.
    pub positive: usize,
    /// Number of those that were read as expected.
    pub right: usize,
    /// Number of outputs that are expected to have no error.
    pub negative: usize,
    /// Number of those for which an error was reported.
    pub false_events: usize,
    /// Ids of the rows that were read differently than expected.
    pub wrong: Vec<String>,
    /// The errors of each output.
    pub verdicts: Vec<VerdictOutput>,
}

/// The errors that were found in one output.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerdictOutput {
    /// The row's id.
    pub id: String,
    /// Its errors, the one to act on first.
    pub events: Vec<EventOutput>,
}
