//! Arguments and output of `callosum plan show`.
//!
//! The use case is [`callosum_app::plan::show`].

use std::fmt::Write as _;

use callosum_app::CommandError;
use callosum_app::plan::delegated_tasks::delegated_tasks;
use callosum_app::plan::show::{ActionOutput, output};
use callosum_app::plan::{history, lock};
use callosum_plan_run::run::tree_of;
use callosum_redact::terminal_escape::on_one_line;
use clap::Args;

use crate::cli::context::Context;

/// Show a run: its state, its calls and what it waits for
///
/// Prints all arguments of a call that waits for a person.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan show 0f3a
  $ callosum plan show 0f3a --tree")]
pub(crate) struct ShowArgs {
    /// Id of the run, or its beginning
    #[arg(value_name = "ID")]
    run: String,
    /// Show the causal chain: plan, steps, calls, decisions and results
    #[arg(long)]
    tree: bool,
}

pub(super) fn run(context: &Context, args: &ShowArgs) -> Result<(), CommandError> {
    let read = history::run_of(context, &args.run)?;
    history::warn_of_foreign(context, &read);
    let state = &read.state;
    let tasks = delegated_tasks(context, state.begun())?;
    let is_running = state.ended().is_none() && lock::is_held(context, state.run());
    let tree = ActionOutput::of(tree_of(state, &tasks, is_running));
    let output = output(context, &read, is_running, tree);
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut text = String::new();
    let mut is_cut = false;
    if args.tree {
        is_cut = output.tree.draw(0, &mut text);
    } else {
        let rows = [
            ("run", state.run().to_string()),
            ("plan", output.tree.name.clone()),
            ("state", output.tree.standing.clone()),
            ("started", state.begun().to_string()),
            (
                "calls",
                format!(
                    "{} of {} answered",
                    state.answer_count(),
                    state.calls().len()
                ),
            ),
            ("spent", output.spent()),
            (
                "value",
                match &output.value {
                    Some(value) => value.clone(),
                    None if state
                        .ended()
                        .is_some_and(|ended| ended.answer.value.is_some()) =>
                    {
                        format!("long; `callosum plan resume {}` prints it", state.run())
                    }
                    None => "-".to_owned(),
                },
            ),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "{name:<10}{}", on_one_line(&value));
        }
        if let Some(error) = &output.error {
            let _ = writeln!(
                text,
                "{:<10}{}: {}",
                "failure",
                error.kind,
                on_one_line(&error.message)
            );
        }
        for waiting in &output.blocked_by {
            let _ = write!(text, "\n{}", waiting.text(state.run()));
        }
    }
    context.ui.read_by_all(&text)?;
    if is_cut {
        let run = state.run();
        let what = format!(
            "lines that end in … are truncated; the full text: callosum plan show {run} --tree \
             --json"
        );
        context.report.say(&what);
    }
    Ok(())
}
