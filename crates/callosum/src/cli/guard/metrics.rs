//! Arguments and output of `callosum guard metrics`.
//!
//! The use case is [`callosum_app::guard::metrics`].

use callosum_app::guard::metrics::MetricsOutput;
use callosum_app::time_arg::TimeArg;
use callosum_app::{CommandError, Exit};
use callosum_metrics::{CakeMetrics, text};
use clap::Args;

use super::log;
use crate::cli::context::Context;

/// Print guard metrics in the text format of Prometheus
///
/// Counts the records that `callosum guard log` prints. `callosum metrics` counts every project on this machine, and
/// the messages about errors.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard metrics
  $ callosum guard metrics --since 7d
  $ callosum guard metrics --json
  $ callosum guard metrics --all-projects")]
pub(crate) struct MetricsArgs {
    /// Only records since TIME: a date, a time (UTC) or an age (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = TimeArg::read)]
    since: Option<TimeArg>,
    /// Include the machine journal's records about other folders
    #[arg(long)]
    all_projects: bool,
}

pub(super) fn run(context: &Context, args: &MetricsArgs) -> Result<(), CommandError> {
    let mut metrics = CakeMetrics::default();
    let now = context.clock.now();
    let since = args.since.map(|since| since.first(now));
    log::each(context, since, args.all_projects, |at, decision| {
        metrics.decision(&decision.counted(at));
    })?;
    metrics.settle(now);
    if context.ui.json {
        return context.ui.json_data(&MetricsOutput::from(&metrics));
    }
    let text = text(metrics.families())
        .map_err(|error| CommandError::from_error(Exit::Internal, &error))?;
    context.ui.foreign(&text)
}
