//! [`resume`]: a run that a process in the background goes on with.

use std::ffi::OsString;

use callosum_host::process::{Launch, Limits, leave};
use callosum_plan_run::run::RunId;

use crate::context::Context;
use crate::plan::render::PlanRunOutput;
use crate::{CommandError, Exit};

/// Starts `callosum plan resume` for a run, and does not wait for it.
///
/// No one else may hold the lock of the run. What came of it is in the journal, as for any run.
///
/// # Errors
/// If the process cannot be started.
pub fn resume(context: &Context, run: &RunId) -> Result<PlanRunOutput, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        let what = "cannot find the path of this program";
        CommandError::because(Exit::Environment, what, &error)
    })?;
    let run = run.to_string();
    let started = leave(&Launch {
        program,
        arguments: ["--no-progress", "plan", "resume", &run]
            .map(OsString::from)
            .into(),
        folder: context.folder.clone(),
        environment: context
            .environment
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        input: Vec::new(),
        limits: Limits {
            quiet: None,
            total: None,
            output_bytes: 0,
            error_bytes: 0,
        },
    });
    started.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
    Ok(PlanRunOutput {
        run: Some(run),
        outcome: "detached".to_owned(),
        value: None,
        error: None,
        blocked_by: Vec::new(),
        findings: Vec::new(),
    })
}
