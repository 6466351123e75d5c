//! What a person, or a program, is told of how far a run came.

use callosum_arbiter::plan_run::{CallStanding, CallState, RunEnd, RunId, text_of};
use callosum_plan::{CapabilityName, Finding};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    carry::answers,
    history::{run_of, short},
    source::{FindingOutput, Source},
};
use crate::{
    cli::{capability, context::Context},
    ui::{CommandError, Exit, many},
};

/// What `plan run`, `plan resume` and `plan approve` print with `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::cli) struct PlanRunOutput {
    /// The run's id; null where the plan was refused.
    run: Option<String>,
    /// How far it came: `refused`, `completed`, `failed`, `cancelled`, `waiting` or `stopped`.
    outcome: String,
    /// Its value in the language's notation, where it has one.
    value: Option<String>,
    /// Why it failed.
    error: Option<RunFailureOutput>,
    /// The calls that wait for a person.
    blocked_by: Vec<WaitingOutput>,
    /// Every reason to refuse the plan, where it was refused.
    findings: Vec<FindingOutput>,
}

impl PlanRunOutput {
    /// What is printed of a plan that the compiler refuses.
    pub(super) fn refused(source: &Source, findings: &[Finding]) -> Self {
        let findings = findings.iter();
        Self {
            run: None,
            outcome: "refused".to_owned(),
            value: None,
            error: None,
            blocked_by: Vec::new(),
            findings: findings.map(|one| source.finding_output(one)).collect(),
        }
    }
}

/// How a run failed.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct RunFailureOutput {
    /// The kind of failure, as `CapabilityError`.
    pub(super) kind: String,
    /// What happened.
    pub(super) message: String,
    /// How it may be mended.
    pub(super) hint: Option<String>,
    /// The line where it happened, from 1, where that is known.
    pub(super) line: Option<usize>,
    /// The column where it happened, in characters from 1, where that is known.
    pub(super) column: Option<usize>,
}

/// Most characters of arguments that are shown where nobody asked for one call.
const SHOWN: usize = 200;

/// A call that waits for a person.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct WaitingOutput {
    /// Its key.
    key: String,
    /// Which of the run's calls it is.
    position: String,
    /// What is called.
    capability: String,
    /// With what, in the language's notation; whole, but for secrets; null where what was kept of them is gone.
    arguments: Option<String>,
    /// `approval`, or `outcome` where nobody knows whether it was made.
    blocked_by: String,
    /// The question, or why it is not known.
    question: String,
    /// The type of the value that `plan resume --set-result` takes for it; null where its outcome is not asked for, or nobody
    /// provides it any more.
    answer_type: Option<String>,
    /// Whether going on may find out by itself what came of it.
    #[serde(skip)]
    may_be_found: bool,
}

impl WaitingOutput {
    /// One that stands in a run of which nobody has asked since it broke off.
    pub(super) fn unasked(context: &Context, call: &CallState) -> Self {
        let mut output = Self::of(context, call);
        if call.standing == CallStanding::Begun {
            "it is unknown whether this call finished before the run was interrupted; resuming \
             looks that up first"
                .clone_into(&mut output.question);
            output.may_be_found = true;
        }
        output
    }

    /// One that was asked about.
    pub(super) fn of(context: &Context, call: &CallState) -> Self {
        let (blocked_by, question) = match call.standing {
            CallStanding::Begun => (
                "outcome",
                "it is unknown whether this call finished before the run was interrupted"
                    .to_owned(),
            ),
            _ => (
                "approval",
                call.ruled
                    .as_ref()
                    .map_or_else(String::new, |ruled| ruled.reason.clone()),
            ),
        };
        Self {
            key: call.intended.key.to_string(),
            position: call.intended.position.clone(),
            capability: call.intended.capability.clone(),
            arguments: text_of(&answers(context), &call.intended.arguments).ok(),
            blocked_by: blocked_by.to_owned(),
            question,
            answer_type: (call.standing == CallStanding::Begun)
                .then(|| answer_type(context, &call.intended.capability))
                .flatten(),
            may_be_found: false,
        }
    }

    /// The same for a person, and how they answer.
    pub(super) fn text(&self, run: &RunId) -> String {
        let gone = "[…] (the stored arguments are gone)";
        self.with_arguments(run, self.arguments.as_deref().unwrap_or(gone))
    }

    /// The same where there may be several, with how much is left out.
    fn short_text(&self, run: &RunId) -> String {
        let Some(arguments) = &self.arguments else {
            return self.text(run);
        };
        let shown: String = arguments.chars().take(SHOWN).collect();
        let left_out = arguments.chars().count() - shown.chars().count();
        if left_out == 0 {
            return self.text(run);
        }
        let more = many(left_out as u64, "more character");
        let shown = format!("{shown}…\n  {more} of its arguments: callosum plan show {run}");
        self.with_arguments(run, &shown)
    }

    fn with_arguments(&self, run: &RunId, shown: &str) -> String {
        let key: String = self.key.chars().take(12).collect();
        let ways = if self.may_be_found {
            format!("  resume: callosum plan resume {run}\n")
        } else if self.blocked_by == "outcome" {
            let of = self.answer_type.as_deref().unwrap_or("Any");
            format!(
                "  it was done:     callosum plan resume {run} --set-result '{key}=VALUE'\n  \
                                   where VALUE is of type {of}, in the language's notation\n  \
                   it was not done: callosum plan resume {run} --retry-call {key}\n"
            )
        } else {
            format!(
                "  yes: callosum plan approve {run} {key}\n  \
                   no:  callosum plan approve {run} {key} --refuse\n"
            )
        };
        let capability = &self.capability;
        format!(
            "call {} :{capability} {shown}\n  {}\n{ways}",
            self.position, self.question
        )
    }
}

/// What a capability answers, where somebody provides it.
fn answer_type(context: &Context, capability: &str) -> Option<String> {
    let name = CapabilityName::parse(capability).ok()?;
    // What is wrong with the catalogue is told where it is called by.
    let catalogue = capability::catalogue(context).ok()?;
    Some(catalogue.get(&name)?.output.as_str().to_owned())
}

/// Tells how far a run came.
pub(super) fn tell(
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
                ui.say(&callosum_evidence::terminal::harmless(
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
