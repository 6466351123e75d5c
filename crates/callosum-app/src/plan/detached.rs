//! [`resume`]: a run that a process in the background goes on with.

use callosum_plan_run::run::RunId;

use crate::context::Context;
use crate::plan::render::PlanRunOutput;
use crate::{CommandError, background};

/// Starts `callosum plan resume` for a run, and does not wait for it.
///
/// No one else may hold the lock of the run. What came of it is in the journal, as for any run.
///
/// # Errors
/// If the process cannot be started.
pub fn resume(context: &Context, run: &RunId) -> Result<PlanRunOutput, CommandError> {
    let run = run.to_string();
    background::start(context, &["--no-progress", "plan", "resume", &run])?;
    Ok(PlanRunOutput {
        run: Some(run),
        outcome: "detached".to_owned(),
        value: None,
        error: None,
        blocked_by: Vec::new(),
        findings: Vec::new(),
    })
}
