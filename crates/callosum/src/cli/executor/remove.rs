//! Arguments and output of `callosum executor remove`.
//!
//! The use case is [`callosum_app::executor::remove`].

use callosum_app::executor::list::ExecutorOutput;
use callosum_app::executor::remove::RemovedOutput;
use callosum_app::executor_pool::Roster;
use callosum_app::tool_schema_cache::KeptTools;
use callosum_app::{CommandError, Exit, open_ledger};
use callosum_executor::registry::{EMBEDDED_ID, Executor};
use callosum_ledger::{AuditEvent, Event};
use clap::Args;

use crate::cli::context::Context;

/// Remove an executor from the registry
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum executor remove mine")]
pub(crate) struct RemoveArgs {
    /// Executor to remove
    #[arg(value_name = "ID")]
    executor: String,
}

pub(super) fn run(context: &Context, args: &RemoveArgs) -> Result<(), CommandError> {
    let id = &args.executor;
    if id == EMBEDDED_ID {
        let what = format!("cannot remove `{id}`: it is built into Callosum");
        return Err(
            CommandError::new(Exit::Usage, what).hint(format!("callosum executor disable {id}"))
        );
    }
    let ledger = open_ledger::open(context)?;
    let mut roster = Roster::load_for_change(context)?;
    let executor = roster.known(id).cloned();
    let surroundings = context.surroundings().ok();
    let shown = |executor: &Executor| ExecutorOutput::of(executor, &roster, surroundings.as_ref());
    let output = RemovedOutput {
        id: id.clone(),
        executor: executor.as_ref().ok().map(shown),
    };
    // An entry that makes no sense is no executor, and was never trusted.
    if !roster.remove(id) {
        executor?;
        return Ok(());
    }
    roster.save()?;
    if let Ok(executor) = executor {
        let fingerprint = executor.fingerprint();
        let mut others = roster.registry().executors().iter();
        // This machine trusts a command, under any name.
        if !others.any(|other| other.fingerprint() == fingerprint) {
            roster.forget(&executor)?;
        }
        KeptTools::of_project(context).forget(id)?;
    }
    let event = AuditEvent {
        executor: Some(id.clone()),
        status: Some("removed".to_owned()),
        ..AuditEvent::new(Event::Registry)
    };
    open_ledger::record(&ledger, event.with("change", "removed"))?;
    context.report.say(&format!("removed {id}"));
    if context.ui.json {
        context.ui.json_data(&output)?;
    }
    Ok(())
}
