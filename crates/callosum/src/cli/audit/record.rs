//! Audit records as the commands print them.

use callosum_evidence::terminal::on_one_line;
use callosum_ledger::{AuditReadError, AuditReader, AuditRecord};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    cli::context::Context,
    ui::{CommandError, Exit, Table, shown_time},
};

/// `callosum audit tail --json` and `callosum audit query --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct RecordsOutput {
    /// The records as they are stored, in the order in which they were written.
    pub(crate) records: Vec<Value>,
}

/// A reader of the project's journal.
pub(super) fn reader(context: &Context) -> AuditReader {
    AuditReader::new(context.disk.clone(), context.ledger_paths())
}

/// Why the journal could not be read.
pub(in crate::cli) fn unreadable(error: &AuditReadError) -> CommandError {
    CommandError::because(Exit::Environment, "cannot read the audit journal", error)
        .hint("callosum audit verify")
}

/// Says which lines a reader passed over because they are no records.
pub(in crate::cli) fn tell_unreadable(context: &Context, reader: &AuditReader) {
    for line in reader.unreadable() {
        context
            .report
            .warn(&line.to_string(), Some("callosum audit verify"));
    }
}

/// Prints records.
pub(super) fn print(context: &Context, records: &[AuditRecord]) -> Result<(), CommandError> {
    if context.ui.json {
        let records = records
            .iter()
            .map(serde_json::to_value)
            .collect::<Result<_, _>>()
            .map_err(CommandError::internal)?;
        return context.ui.json_data(&RecordsOutput { records });
    }
    if records.is_empty() {
        context.report.say("no record matches");
        return Ok(());
    }
    let mut table = Table::new(&[
        "seq", "time", "event", "status", "task", "executor", "details",
    ]);
    for record in records {
        let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
        table.row([
            record.seq.to_string(),
            shown_time(&record.timestamp.to_string()),
            record.event.clone(),
            or_dash(record.status.as_deref()),
            or_dash(record.task_id.as_ref().map(AsRef::as_ref)),
            or_dash(record.executor.as_deref()),
            details(record),
        ]);
    }
    context.ui.data(&table.render())
}

/// The details on one line, cut to what a table bears.
fn details(record: &AuditRecord) -> String {
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
