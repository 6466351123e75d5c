//! `callosum guard explain`: the steps that led to the guard's verdict.

use std::fmt::Write as _;

use callosum_guard::Decision;
use schemars::JsonSchema;
use serde::Serialize;

use crate::guard::check::CheckOutput;

/// `callosum guard explain --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExplainOutput {
    /// The verdict.
    pub verdict: CheckOutput,
    /// Every command that would run, outermost first.
    pub steps: Vec<StepOutput>,
    /// Paths of the project that the command may delete or lose work in, as far as it names them.
    pub deletes: Vec<String>,
    /// Files of the project that it writes over.
    pub overwrites: Vec<String>,
}

/// A command that would run.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StepOutput {
    /// Number of commands that it is nested in.
    pub depth: usize,
    /// Its container; empty if it is not nested.
    pub via: String,
    /// Its words; what is not known is shown as `…`.
    pub command: String,
    /// The rules that looked at it.
    pub evaluated_rules: Vec<LookedOutput>,
}

/// A rule that looked at a command.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LookedOutput {
    /// The rule.
    pub rule: String,
    /// Its decision: `allow` if it does not match.
    pub decision: String,
}

/// Most commands, and most paths, that are listed without `-v`.
const MOST: usize = 10;

/// Returns the verdict, the commands that would run, and the rules that matched.
pub fn on_one_screen(output: &ExplainOutput) -> String {
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

/// Returns every rule that matched, a line each.
pub fn every_rule(output: &ExplainOutput) -> String {
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
