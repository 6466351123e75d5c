//! Arguments and output of `callosum metrics`.
//!
//! The use case is [`callosum_app::metrics`].

use callosum_app::metrics::MachineMetricsOutput;
use callosum_app::{CommandError, Exit};
use callosum_metrics::{FamilyOutput, text};
use clap::Args;

use super::context::Context;
use super::guard::MachineMetrics;

/// Print metrics of every project on this machine
///
/// Counts the decisions of the guard and the messages about errors, in the Prometheus text format. The daemon
/// (`callosum serve`) serves the same metrics and its own at 127.0.0.1:9090/metrics.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum metrics
  $ callosum metrics --json")]
pub(crate) struct MetricsArgs {}

pub(super) fn run(context: &Context, _args: &MetricsArgs) -> Result<(), CommandError> {
    let homes = &context.project.homes;
    let families =
        MachineMetrics::default().families(&context.disk, homes, &context.environment)?;
    if context.ui.json {
        let families = families.into_iter().map(FamilyOutput::from).collect();
        return context.ui.json_data(&MachineMetricsOutput { families });
    }
    let text = text(families).map_err(|error| CommandError::from_error(Exit::Internal, &error))?;
    context.ui.foreign(&text)
}
