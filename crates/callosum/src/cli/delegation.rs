//! Arguments and output of `callosum delegation`.
//!
//! The use case is [`callosum_app::goal::explain`].

use callosum_app::CommandError;
use callosum_app::goal::{explain, goal};
use clap::{Args, Subcommand};

use super::context::Context;
use crate::ui::Table;

/// Explain where a goal is planned
///
/// The delegation engine decides: for the stored plan of an earlier run, by the mesh's routing matrix, by scores of the
/// models that are ready, or for a built-in plan.
#[derive(Debug, Subcommand)]
pub(crate) enum DelegationCommand {
    Explain(ExplainArgs),
}

/// Print where a goal would be planned, and why
///
/// No model is asked, and nothing is recorded.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum delegation explain 'Map the repository'")]
pub(crate) struct ExplainArgs {
    /// The goal, in a sentence or two
    #[arg(value_name = "GOAL")]
    goal: String,
}

pub(super) fn run(context: &Context, command: &DelegationCommand) -> Result<(), CommandError> {
    let DelegationCommand::Explain(args) = command;
    let goal = goal(&args.goal)?;
    let output = explain(context, &goal)?;
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let confidence = output.confidence;
    let mut text = format!(
        "{} ({}, confidence {confidence:.2})\n{}\n",
        output.target, output.why, output.reasoning
    );
    if !output.scores.is_empty() {
        let mut table = Table::new(&["target", "score", "excluded by"]);
        for score in output.scores {
            let excluded = score.excluded_by.unwrap_or_default();
            table.row([score.target, format!("{:.2}", score.score), excluded]);
        }
        text.push('\n');
        text.push_str(&table.render());
    }
    if !output.past.is_empty() {
        let mut table = Table::new(&[
            "past plans of",
            "completed",
            "failed",
            "rejected",
            "declined",
            "no plan",
            "refused replies",
        ]);
        for past in output.past {
            table.row([
                past.model,
                past.completed.to_string(),
                past.failed.to_string(),
                past.rejected.to_string(),
                past.declined.to_string(),
                past.no_plan.to_string(),
                past.refused_replies.to_string(),
            ]);
        }
        text.push('\n');
        text.push_str(&table.render());
    }
    context.ui.read_by_all(&text)
}
