//! `callosum guard explain`: how the guard came to what it says.

use std::{ffi::OsString, fmt::Write as _};

use callosum_guard::{Decision, explain};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    check::{Asked, CheckOutput},
    place::{self, StrictnessArgs},
};
use crate::{cli::context::Context, ui::CommandError};

/// Show every command that a command would run, and every rule that looked at it
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard explain -- 'env X=1 bash -c \"git reset --hard\"'
  $ callosum guard explain --json -- ls")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    strictness: StrictnessArgs,
    /// The command
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// `callosum guard explain --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ExplainOutput {
    /// The verdict.
    pub(crate) verdict: CheckOutput,
    /// Every command that would run, outermost first.
    pub(crate) steps: Vec<StepOutput>,
}

/// A command that would run.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct StepOutput {
    /// How deep it stands in others.
    pub(crate) depth: usize,
    /// What brought it there; empty where it stands by itself.
    pub(crate) via: String,
    /// Its words; what is not known is shown as `…`.
    pub(crate) command: String,
    /// The rules that looked at it.
    pub(crate) looked: Vec<LookedOutput>,
}

/// A rule that looked at a command.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct LookedOutput {
    /// The rule.
    pub(crate) rule: String,
    /// What it says: `allow` where it does not hold.
    pub(crate) decision: String,
}

pub(super) fn run(context: &Context, args: &ExplainArgs) -> Result<(), CommandError> {
    let policy = args.strictness.policy_with_permits(context)?;
    let asked = Asked::of(&args.command);
    let facts = place::facts_after_look(context, &asked.line, &policy);
    let explained = explain(&asked.line, &facts, &policy);
    let output = ExplainOutput {
        verdict: CheckOutput::new(&asked.line, asked.verdict(explained.verdict)),
        steps: explained
            .steps
            .into_iter()
            .map(|step| StepOutput {
                depth: step.depth,
                via: step.via,
                command: step.command,
                looked: step
                    .looked
                    .into_iter()
                    .map(|looked| LookedOutput {
                        rule: looked.rule,
                        decision: looked.decision.name().to_owned(),
                    })
                    .collect(),
            })
            .collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    context.ui.foreign(&shown(&output))
}

fn shown(output: &ExplainOutput) -> String {
    let mut text = output.verdict.shown();
    for step in &output.steps {
        let indent = "  ".repeat(step.depth);
        let _ = write!(text, "{indent}- ");
        if !step.via.is_empty() {
            let _ = write!(text, "[{}] ", step.via);
        }
        let _ = writeln!(
            text,
            "{}",
            if step.command.is_empty() {
                "(redirections alone)"
            } else {
                &step.command
            }
        );
        let allow = Decision::Allow.name();
        let held: Vec<&LookedOutput> = step.looked.iter().filter(|l| l.decision != allow).collect();
        for looked in &held {
            let _ = writeln!(text, "{indent}    {}: {}", looked.decision, looked.rule);
        }
        let passed: Vec<&str> = step
            .looked
            .iter()
            .filter(|looked| looked.decision == allow)
            .map(|looked| looked.rule.as_str())
            .collect();
        if !passed.is_empty() {
            let _ = writeln!(text, "{indent}    nothing against it: {}", passed.join(" "));
        }
    }
    text
}
