//! `callosum plan list`: the runs that the journal has.

use std::num::NonZeroUsize;

use callosum_arbiter::plan_run::ReadRun;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{history, lock};
use crate::{
    cli::context::Context,
    ui::{CommandError, Table, at_least_one, shown_time},
};

/// List runs of plans, newest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum plan list
  $ callosum plan list --open --json")]
pub(crate) struct ListArgs {
    /// Only runs that have not ended
    #[arg(long)]
    open: bool,
    /// Print at most N runs
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: NonZeroUsize,
}

/// What `plan list --json` prints.
#[derive(Debug, JsonSchema, Serialize)]
pub(in crate::cli) struct PlanListOutput {
    /// The runs, the one that was begun last first.
    runs: Vec<RunSummaryOutput>,
}

/// A run in a list.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct RunSummaryOutput {
    /// Its id.
    run: String,
    /// The plan's name, where it has one.
    plan: Option<String>,
    /// When it was begun.
    begun: String,
    /// When the last of its records was told.
    changed: String,
    /// `running`, `waiting` for a person, `interrupted`, `completed`, `failed` or `cancelled`.
    standing: String,
    /// How many calls it has begun.
    calls: usize,
    /// How many of them have an answer.
    answered: usize,
    /// How many records say that they are of it, and count for nothing.
    foreign_records: u64,
}

impl RunSummaryOutput {
    pub(super) fn of(context: &Context, read: &ReadRun) -> Self {
        let state = &read.state;
        let is_running = state.ended().is_none() && lock::is_held(context, state.run());
        Self {
            run: state.run().to_string(),
            plan: state.started().plan.clone(),
            begun: state.begun().to_string(),
            changed: state.changed().to_string(),
            standing: state.standing(is_running).to_owned(),
            calls: state.calls().len(),
            answered: state.answer_count(),
            foreign_records: read.foreign.as_ref().map_or(0, |foreign| foreign.count),
        }
    }
}

/// Marks a run into whose records others wrote.
const MARK: &str = " *";

pub(super) fn run(context: &Context, args: &ListArgs) -> Result<(), CommandError> {
    let runs = history::all(context)?;
    let runs = runs
        .iter()
        .filter(|run| !args.open || run.state.ended().is_none())
        .take(args.limit.get())
        .map(|run| RunSummaryOutput::of(context, run));
    let output = PlanListOutput {
        runs: runs.collect(),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    if output.runs.is_empty() {
        context.report.say(if args.open {
            "no plan runs are waiting"
        } else {
            "no plan runs yet"
        });
        return Ok(());
    }
    let mut table = Table::new(&["run", "plan", "begun", "standing", "calls"]);
    let mut is_any_marked = false;
    for run in output.runs {
        let is_marked = run.foreign_records > 0;
        is_any_marked |= is_marked;
        table.row([
            run.run,
            run.plan.unwrap_or_else(|| "-".to_owned()),
            shown_time(&run.begun),
            format!("{}{}", run.standing, if is_marked { MARK } else { "" }),
            format!("{}/{}", run.answered, run.calls),
        ]);
    }
    context.ui.read_by_all(&table.render())?;
    if is_any_marked {
        let what = "* has records from elsewhere, which are ignored: callosum plan show RUN";
        context.report.say(what);
    }
    Ok(())
}
