//! Arguments and output of `callosum guard explain`.
//!
//! The use case is [`callosum_app::guard::explain`].

use std::ffi::OsString;
use std::path::Path;

use callosum_app::CommandError;
use callosum_app::guard::check::CheckOutput;
use callosum_app::guard::explain::{
    ExplainOutput, LookedOutput, StepOutput, every_rule, on_one_screen,
};
use callosum_app::guard::gather_facts;
use callosum_guard::explain;
use callosum_redact::terminal_escape::visible;
use clap::Args;

use super::check::Asked;
use super::gather_facts::StrictnessArgs;
use crate::cli::context::Context;

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

pub(super) fn run(context: &Context, args: &ExplainArgs) -> Result<(), CommandError> {
    let policy = args.strictness.policy_with_permits(context)?;
    let asked = Asked::read(&args.command)?;
    let (facts, look) = gather_facts::facts_after_look(context, &asked.line, &policy);
    let explained = explain(&asked.line, &facts, &policy);
    let verdict = asked.verdict(explained.verdict);
    let verdict = gather_facts::with_blast_radius(context, look.as_ref(), verdict);
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
