//! [`planned`]: one delegation for a call of a plan.

use callosum_arbiter::delegation::TaskStatus;
use callosum_ledger::Entry;

use crate::context::Context;
use crate::delegate::for_client::{Wanted, options};
use crate::delegate::{delegate, render};
use crate::{CommandError, Exit};

/// Delegates one task, and returns its ledger entry.
///
/// The process that runs the plan signs the records.
pub fn planned(context: &Context, wanted: Wanted) -> Result<Entry, CommandError> {
    if wanted.detach {
        // A plan waits for the answer of each of its calls.
        let what = "a plan's call cannot be detached";
        return Err(CommandError::new(Exit::Usage, what));
    }
    let report = delegate(context, &options(wanted)?)?;
    let Some(task) = report.tasks.first() else {
        return Err(CommandError::new(Exit::Internal, "the run has no result"));
    };
    if let TaskStatus::Committed { entry, .. } = &task.status {
        Ok((**entry).clone())
    } else {
        let (error, details) = render::failure(task, "");
        Err(details.lines().fold(error, CommandError::cause))
    }
}
