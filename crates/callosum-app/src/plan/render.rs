//! Output about the progress of a run, for people and programs.

use callosum_plan::{CapabilityName, Finding};
use callosum_plan_run::run::{CallStanding, CallState, RunId, text_of};
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::plan::drive::answers;
use crate::plan::source::{FindingOutput, Source};
use crate::{capability, many};

/// Output of `plan run`, `plan resume` and `plan approve` with `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanRunOutput {
    /// The run's id; null where the plan was refused.
    pub run: Option<String>,
    /// Outcome: `refused`, `completed`, `failed`, `cancelled`, `waiting`, `stopped` or `detached`.
    pub outcome: String,
    /// Its value in the language's notation, where it has one.
    pub value: Option<String>,
    /// Failure.
    pub error: Option<RunFailureOutput>,
    /// The calls that wait for a person.
    pub blocked_by: Vec<WaitingOutput>,
    /// Every reason to refuse the plan, where it was refused.
    pub findings: Vec<FindingOutput>,
}

impl PlanRunOutput {
    /// Returns the output for a plan that the compiler rejects.
    pub fn refused(source: &Source, findings: &[Finding]) -> Self {
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

/// Failure of a run.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RunFailureOutput {
    /// The kind of failure, as `CapabilityError`.
    pub kind: String,
    /// Message.
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// The line where it happened, from 1, where that is known.
    pub line: Option<usize>,
    /// The column where it happened, in characters from 1, where that is known.
    pub column: Option<usize>,
}

/// Most characters of arguments that are shown, unless one call is asked for.
const SHOWN: usize = 200;

/// A call that waits for a person.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WaitingOutput {
    /// Its key.
    pub key: String,
    /// Position of the call in the run.
    pub position: String,
    /// Capability that is called.
    pub capability: String,
    /// With what, in the language's notation; whole, but for secrets; null where what was kept of them is gone.
    pub arguments: Option<String>,
    /// `approval`, or `outcome` if it is unknown whether it was made.
    pub blocked_by: String,
    /// The question, or why it is not known.
    pub question: String,
    /// The type of the value that `plan resume --set-result` takes for it; null if its outcome is not asked for, or if it
    /// has no provider any more.
    pub answer_type: Option<String>,
    /// Whether going on may find out by itself what came of it.
    #[serde(skip)]
    pub may_be_found: bool,
}

impl WaitingOutput {
    /// The same for a call of a run that was not resumed since it was interrupted.
    pub fn unasked(context: &Context, call: &CallState) -> Self {
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
    pub fn of(context: &Context, call: &CallState) -> Self {
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
    pub fn text(&self, run: &RunId) -> String {
        let gone = "[…] (the stored arguments are gone)";
        self.with_arguments(run, self.arguments.as_deref().unwrap_or(gone))
    }

    /// The same where there may be several, with how much is left out.
    pub fn short_text(&self, run: &RunId) -> String {
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

/// Returns the type of a capability's answer, if it has a provider.
fn answer_type(context: &Context, capability: &str) -> Option<String> {
    let name = CapabilityName::parse(capability).ok()?;
    // Faults of the catalogue are reported where calls are made.
    let catalogue = capability::catalogue(context).ok()?;
    Some(catalogue.get(&name)?.output.as_str().to_owned())
}
