//! Output of a run's progress, for a person or a program.
//!
//! This file has the part with arguments and output; the rest is [`callosum_app::plan::render`].

use callosum_app::plan::history::{run_of, short};
use callosum_app::plan::render::{PlanRunOutput, RunFailureOutput, WaitingOutput};
use callosum_app::plan::source::Source;
use callosum_app::{CommandError, Exit, many};
use callosum_plan_run::run::{RunEnd, RunId};

use crate::cli::context::Context;

/// Tells how far a run came.
pub(crate) fn tell(
    context: &Context,
    run: &RunId,
    source: &Source,
    end: &RunEnd,
) -> Result<(), CommandError> {
    let ui = context.ui;
    let mut output = PlanRunOutput {
        run: Some(run.to_string()),
        outcome: String::new(),
        value: None,
        error: None,
        blocked_by: Vec::new(),
        findings: Vec::new(),
    };
    match end {
        RunEnd::Completed(value) => {
            "completed".clone_into(&mut output.outcome);
            output.value = Some(value.to_string());
            if ui.json {
                return ui.json_data(&output);
            }
            ui.detail(&format!("run {run}"));
            ui.foreign(&format!("{value}\n"))
        }
        RunEnd::Failed(failure) => {
            "failed".clone_into(&mut output.outcome);
            let place = failure.span.map(|span| source.line_and_column(span));
            output.error = Some(RunFailureOutput {
                kind: failure.kind.to_string(),
                message: failure.message.clone(),
                hint: failure.hint.clone(),
                line: place.map(|(line, _)| line),
                column: place.map(|(_, column)| column),
            });
            if ui.json {
                ui.json_data(&output)?;
                return Err(CommandError::told(Exit::No));
            }
            source.tell_failure(failure, &ui);
            Err(
                CommandError::new(Exit::No, format!("the run failed: {}", failure.kind))
                    .hint(format!("callosum plan show {run} --tree")),
            )
        }
        RunEnd::Cancelled => {
            "cancelled".clone_into(&mut output.outcome);
            if ui.json {
                ui.json_data(&output)?;
                return Err(CommandError::told(Exit::No));
            }
            Err(CommandError::new(
                Exit::No,
                format!("the run {run} was canceled"),
            ))
        }
        RunEnd::Stopped => {
            "stopped".clone_into(&mut output.outcome);
            if ui.json {
                ui.json_data(&output)?;
                return Err(CommandError::told(Exit::Interrupted));
            }
            Err(
                CommandError::new(Exit::Interrupted, format!("the run {run} was interrupted"))
                    .hint(format!(
                        "callosum plan resume {run}; or end it: callosum plan cancel {run}"
                    )),
            )
        }
        RunEnd::Paused(keys) => {
            "waiting".clone_into(&mut output.outcome);
            let state = run_of(context, run.as_str())?.state;
            let calls = keys.iter().filter_map(|key| state.call(*key));
            output.blocked_by = calls.map(|call| WaitingOutput::of(context, call)).collect();
            if ui.json {
                ui.json_data(&output)?;
                return Err(CommandError::told(Exit::Waiting));
            }
            for waiting in &output.blocked_by {
                ui.say(&callosum_redact::terminal_escape::harmless(
                    &waiting.short_text(run),
                ));
            }
            let count = many(keys.len() as u64, "call");
            let what = format!("the run {run} waits for a person: {count}");
            let error = CommandError::new(Exit::Waiting, what);
            Err(match keys.as_slice() {
                [key] if output.blocked_by[0].blocked_by == "approval" => {
                    let key = short(*key);
                    error.hint(format!("callosum plan approve {run} {key}"))
                }
                [key] => {
                    let key = short(*key);
                    error.hint(format!(
                        "settle its outcome: callosum plan resume {run} --set-result '{key}=VALUE', \
                         or --retry-call {key}"
                    ))
                }
                _ => error.hint(format!("callosum plan show {run}")),
            })
        }
    }
}
