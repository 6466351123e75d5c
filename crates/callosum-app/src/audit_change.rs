//! [`leave`]: a record of what a person has changed, in the project's journal, or the machine's where there
//! is no project.

use std::time::Duration;

use callosum_client::hook;
use callosum_ledger::{AuditEvent, notice};

use crate::context::Context;
use crate::disk_errors;

/// Timeout of each lock of the journal.
const PATIENCE: Duration = Duration::from_millis(500);

/// Writes an audit record. If that fails, the change stays, and the failure is a warning.
pub fn leave(context: &Context, event: &AuditEvent) {
    let homes = &context.project.homes;
    let journal = hook::journal(&context.disk, homes, Some(&context.project));
    let at = context.clock.now();
    let written = notice(&context.disk, &journal, &context.ids, (event, at), PATIENCE);
    if let Err(error) = written {
        let what = disk_errors::disk_failed(&error).one_line();
        context.report.warn(
            &format!("cannot write an audit record of this: {what}"),
            None,
        );
    }
}
