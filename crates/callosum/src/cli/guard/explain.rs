//! `callosum guard explain`: how the guard came to what it says.

use std::{ffi::OsString, fmt::Write as _, path::Path};

use callosum_evidence::terminal::visible;
use callosum_guard::{Decision, explain};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    check::{Asked, CheckOutput},
    place::{self, StrictnessArgs},
};
use crate::{cli::context::Context, ui::CommandError};

/// Show what a command would run and do, and which rule decides
///
/// Runs nothing. With -v, lists every rule that was checked.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard explain -- 'env X=1 bash -c \"git reset --hard\"'
  $ callosum guard explain --json -- ls")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    strictness: StrictnessArgs,
    /// Command to explain
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
    /// Paths of the project that the command may delete or lose work in, as far as it names them.
    pub(crate) deletes: Vec<String>,
    /// Files of the project that it writes over.
    pub(crate) overwrites: Vec<String>,
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
    pub(crate) evaluated_rules: Vec<LookedOutput>,
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
    let asked = Asked::read(&args.command)?;
    let (facts, look) = place::facts_after_look(context, &asked.line, &policy);
    let explained = explain(&asked.line, &facts, &policy);
    let verdict = asked.verdict(explained.verdict);
    let verdict = place::with_blast_radius(context, look.as_ref(), verdict);
    // Words such as `reset` are taken for paths as well, so only what exists counts, and patterns.
    let is_there =
        |path: &String| path.contains('*') || context.disk.exists(Path::new(path)).unwrap_or(true);
    let lost = verdict
        .named
        .iter()
        .filter(|path| is_there(path))
        .cloned()
        .collect();
    let replaced = verdict.overwrites.clone();
    let output = ExplainOutput {
        verdict: CheckOutput::new(&asked.line, verdict),
        deletes: lost,
        overwrites: replaced,
        steps: explained
            .steps
            .into_iter()
            .map(|step| StepOutput {
                depth: step.depth,
                via: step.via,
                command: step.command,
                evaluated_rules: step
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
    let text = if context.ui.verbose {
        every_rule(&output)
    } else {
        on_one_screen(&output)
    };
    context.ui.page(&visible(&text))
}

/// Most commands, and most paths, that are listed without `-v`.
const MOST: usize = 10;

/// Returns the verdict, the commands that would run, and the rules that matched.
fn on_one_screen(output: &ExplainOutput) -> String {
    let mut text = output.verdict.shown();
    text.push_str("runs:\n");
    for step in output.steps.iter().take(MOST) {
        let indent = "  ".repeat(step.depth + 1);
        let via = match step.via.as_str() {
            "" => String::new(),
            via => format!(" (through {via})"),
        };
        let _ = writeln!(text, "{indent}{}{via}", step.name());
    }
    more(&mut text, output.steps.len(), "commands");
    for (title, paths) in [
        ("may delete", &output.deletes),
        ("overwrites", &output.overwrites),
    ] {
        if paths.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{title}:");
        for path in paths.iter().take(MOST) {
            let _ = writeln!(text, "  {path}");
        }
        more(&mut text, paths.len(), "paths");
    }
    let allow = Decision::Allow.name();
    let matched = output.steps.iter().flat_map(|step| &step.evaluated_rules);
    let matched = matched.filter(|looked| {
        looked.decision != allow && Some(&looked.rule) != output.verdict.rule.as_ref()
    });
    let mut matched: Vec<String> = matched
        .map(|looked| format!("  {} ({})", looked.rule, looked.decision))
        .collect();
    matched.dedup();
    if !matched.is_empty() {
        let _ = writeln!(
            text,
            "matched as well, and did not decide:\n{}",
            matched.join("\n")
        );
    }
    let checked: usize = output
        .steps
        .iter()
        .map(|step| step.evaluated_rules.len())
        .sum();
    let _ = writeln!(
        text,
        "rules checked: {checked} (all: callosum guard explain -v)"
    );
    text
}

fn more(text: &mut String, all: usize, what: &str) {
    if let Some(more @ 1..) = all.checked_sub(MOST) {
        let _ = writeln!(text, "  and {more} more {what}");
    }
}

impl StepOutput {
    fn name(&self) -> &str {
        if self.command.is_empty() {
            "(redirections only)"
        } else {
            &self.command
        }
    }
}

fn every_rule(output: &ExplainOutput) -> String {
    let mut text = output.verdict.shown();
    for step in &output.steps {
        let indent = "  ".repeat(step.depth);
        let _ = write!(text, "{indent}- ");
        if !step.via.is_empty() {
            let _ = write!(text, "[{}] ", step.via);
        }
        let _ = writeln!(text, "{}", step.name());
        let allow = Decision::Allow.name();
        let (passed, matched): (Vec<&LookedOutput>, Vec<_>) = step
            .evaluated_rules
            .iter()
            .partition(|looked| looked.decision == allow);
        for looked in &matched {
            let _ = writeln!(text, "{indent}    {}: {}", looked.decision, looked.rule);
        }
        let passed: Vec<&str> = passed.iter().map(|looked| looked.rule.as_str()).collect();
        if !passed.is_empty() {
            let _ = writeln!(
                text,
                "{indent}    rules passed: {}: {}",
                passed.len(),
                passed.join(" ")
            );
        }
    }
    text
}
