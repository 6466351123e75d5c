//! Audit records as the commands print them.

use callosum_ledger::{AuditReadError, AuditReader, AuditRecord};
use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Context;
use crate::{CommandError, Exit};

/// `callosum audit tail --json` and `callosum audit query --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RecordsOutput {
    /// The records as they are stored, in the order in which they were written.
    pub records: Vec<Value>,
}

/// A reader of the project's journal.
pub fn reader(context: &Context) -> AuditReader {
    AuditReader::new(context.disk.clone(), context.ledger_paths())
}

/// Converts a failure to read the journal to an error of the command.
pub fn unreadable(error: &AuditReadError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot read the audit journal", error)
        .hint("callosum audit verify")
}

/// Says which lines a reader passed over because they are no records.
pub fn tell_unreadable(context: &Context, reader: &AuditReader) {
    for line in reader.unreadable() {
        context
            .report
            .warn(&line.to_string(), Some("callosum audit verify"));
    }
}

/// The details on one line, cut to what a table bears.
pub fn details(record: &AuditRecord) -> String {
    const WIDTH: usize = 80;
    let parts: Vec<String> = record
        .details
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}={}", on_one_line(text)),
            other => format!("{key}={other}"),
        })
        .collect();
    let line = parts.join(" ");
    if line.chars().count() <= WIDTH {
        return line;
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
}
