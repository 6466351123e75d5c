//! `callosum executor check`: the handshake, step by step.

use callosum_executor::handshake::Handshake;
use callosum_executor::registry::Executor;
use callosum_ledger::{AuditEvent, Event, Ledger};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::executor_pool::Roster;
use crate::tool_schema_cache::{KeptTools, unfit};
use crate::{CommandError, open_ledger};

/// One step of a handshake.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StepOutput {
    /// `ping`, `capabilities`, `validation` or `registration`.
    pub name: String,
    /// `passed`, `failed` or `skipped`.
    pub outcome: String,
    /// Reason of the failure.
    pub reason: Option<String>,
    /// Standard error of the executor if it failed, as far as it is stored.
    pub details: Option<String>,
    /// Milliseconds until the executor had answered.
    pub elapsed_ms: Option<u64>,
}

/// Most executors to shake hands with at a time: a coding agent's start takes a core for seconds,
/// and its steps have a limit.
pub const AT_A_TIME: usize = 4;

/// Stores the tools that a server listed when it was just checked, if it listed any.
pub fn keep_tools(
    context: &Context,
    executor: &Executor,
    handshake: &Handshake,
) -> Result<(), CommandError> {
    if handshake.tools.is_empty() {
        return Ok(());
    }
    for what in unfit(&handshake.tools) {
        let what = format!("{}: its tool {what}", executor.id);
        context.report.warn(&what, None);
    }
    KeptTools::of_project(context).keep(executor, &handshake.tools)
}

/// Writes an entry that was just checked into the registry, and tells the journal.
pub fn enter(
    context: &Context,
    ledger: &Ledger,
    executor: Executor,
    change: &str,
) -> Result<(), CommandError> {
    let mut roster = Roster::load_for_change(context)?;
    let event = AuditEvent {
        executor: Some(executor.id.clone()),
        status: Some(executor.status.to_string()),
        ..AuditEvent::new(Event::Registry)
    };
    roster.put(&executor);
    roster.save()?;
    open_ledger::record(ledger, event.with("change", change))
}
