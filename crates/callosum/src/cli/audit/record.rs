//! Audit records as the commands print them.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::audit::record`].

use callosum_app::CommandError;
use callosum_app::audit::record::{RecordsOutput, details};
use callosum_ledger::AuditRecord;

use crate::cli::context::Context;
use crate::ui::{Table, shown_time};

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
