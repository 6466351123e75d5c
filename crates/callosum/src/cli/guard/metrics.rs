//! `callosum guard metrics`: what the guard did in this project, and what agents did after a refusal.

use callosum_intervention::knowledge::refusal::Reactions;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::log;
use crate::{
    cli::{context::Context, moment::Moment},
    ui::{CommandError, Exit},
};
use callosum_metrics::{CakeMetrics, Histogram, text};

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
    #[arg(long, value_name = "TIME", value_parser = Moment::read)]
    since: Option<Moment>,
    /// Include the machine journal's records about other folders
    #[arg(long)]
    all_projects: bool,
}

/// `callosum guard metrics --json`: the samples under the names that they have in the text form.
#[derive(Debug, Default, JsonSchema, PartialEq, Serialize)]
pub(crate) struct MetricsOutput {
    /// What was asked about or blocked, by what it was about and how it was decided.
    #[serde(rename = "cake_interventions_total")]
    interventions: Vec<InterventionsOutput>,
    /// What was blocked, by the rule.
    #[serde(rename = "cake_errors_prevented_total")]
    prevented: Vec<PreventedOutput>,
    /// How many commands the client ran without a prompt.
    #[serde(rename = "cake_auto_allowed_total")]
    auto_allowed: u64,
    /// What agents did after a refusal, by rule.
    #[serde(rename = "cake_refusal_reactions_total")]
    reactions: Vec<ReactionsOutput>,
    /// How long it took from the start of a hook to its record, by what it was about.
    #[serde(rename = "cake_response_latency_seconds")]
    latencies: Vec<LatencyOutput>,
}

/// How often it was decided so.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct InterventionsOutput {
    /// `command`, `write` or `event`.
    r#type: &'static str,
    /// `ask` or `block`.
    severity: String,
    /// `true`, or `unknown` where a person was asked.
    success: &'static str,
    /// How often.
    value: u64,
}

/// How often a rule has blocked.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct PreventedOutput {
    /// The rule.
    error_type: String,
    /// How often.
    value: u64,
}

/// What agents did after the refusals of a rule.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct ReactionsOutput {
    /// The rule.
    rule: String,
    /// Refusals after which it is known.
    refusals: u32,
    /// They ran the alternative that the refusal named.
    took_alternative: u32,
    /// They ran the same program in another way.
    went_around: u32,
    /// They did something else, or nothing for ten minutes.
    gave_up: u32,
    /// A person permitted it.
    asked_user: u32,
}

impl From<&Reactions> for ReactionsOutput {
    fn from(reactions: &Reactions) -> Self {
        Self {
            rule: reactions.rule.clone(),
            refusals: reactions.refusals,
            took_alternative: reactions.took_alternative,
            went_around: reactions.went_around,
            gave_up: reactions.gave_up,
            asked_user: reactions.asked_user,
        }
    }
}

/// How long decisions took.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct LatencyOutput {
    /// `guard`.
    component: &'static str,
    /// `command`, `write` or `event`.
    operation: &'static str,
    /// How many took no longer than each bound.
    buckets: Vec<BucketOutput>,
    /// How long all of them took, in seconds.
    sum: f64,
    /// How many there were.
    count: u64,
}

/// How many took no longer than a bound.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct BucketOutput {
    /// The bound, in seconds.
    le: f64,
    /// How many.
    count: u64,
}

impl From<&CakeMetrics> for MetricsOutput {
    fn from(metrics: &CakeMetrics) -> Self {
        let interventions = metrics.interventions();
        let prevented = metrics.prevented();
        let latencies = metrics.latencies();
        Self {
            interventions: interventions
                .map(|(kind, severity, success, value)| InterventionsOutput {
                    r#type: kind,
                    severity: severity.to_owned(),
                    success,
                    value,
                })
                .collect(),
            prevented: prevented
                .map(|(rule, value)| PreventedOutput {
                    error_type: rule.to_owned(),
                    value,
                })
                .collect(),
            auto_allowed: metrics.auto_allowed(),
            reactions: metrics
                .refusals()
                .reactions()
                .map(ReactionsOutput::from)
                .collect(),
            latencies: latencies
                .map(|(component, operation, latency)| LatencyOutput {
                    component,
                    operation,
                    buckets: latency
                        .cumulative()
                        .map(|(le, count)| BucketOutput { le, count })
                        .collect(),
                    sum: latency.sum(),
                    count: Histogram::count(latency),
                })
                .collect(),
        }
    }
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
