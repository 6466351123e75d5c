//! Arguments and output of `callosum plan list`.
//!
//! The use case is [`callosum_app::plan::list`].

use std::num::NonZeroUsize;

use callosum_app::CommandError;
use callosum_app::plan::history;
use callosum_app::plan::list::{MARK, PlanListOutput, RunSummaryOutput};
use clap::Args;

use crate::cli::context::Context;
use crate::ui::{Table, at_least_one, shown_time};

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
    let mut table = Table::new(&["run", "plan", "started", "state", "calls"]);
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
