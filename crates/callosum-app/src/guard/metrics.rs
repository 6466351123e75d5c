//! `callosum guard metrics`: counters of the guard in this project, and of what agents did after a
//! denial.

use callosum_intervention::knowledge::refusal::Reactions;
use callosum_metrics::{CakeMetrics, Histogram};
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum guard metrics --json`: the samples under the names that they have in the text form.
#[derive(Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct MetricsOutput {
    /// Actions that were asked about or blocked, by subject and decision.
    #[serde(rename = "cake_interventions_total")]
    pub interventions: Vec<InterventionsOutput>,
    /// Blocked actions, by rule.
    #[serde(rename = "cake_errors_prevented_total")]
    pub prevented: Vec<PreventedOutput>,
    /// Number of commands that the client ran without a prompt.
    #[serde(rename = "cake_auto_allowed_total")]
    pub auto_allowed: u64,
    /// Reactions of agents to a denial, by rule.
    #[serde(rename = "cake_refusal_reactions_total")]
    pub reactions: Vec<ReactionsOutput>,
    /// Time from the start of a hook to its record, by subject.
    #[serde(rename = "cake_response_latency_seconds")]
    pub latencies: Vec<LatencyOutput>,
}

/// Number of decisions of a kind.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
pub struct InterventionsOutput {
    /// `command`, `write` or `event`.
    r#type: &'static str,
    /// `ask` or `block`.
    pub severity: String,
    /// `true`, or `unknown` where a person was asked.
    pub success: &'static str,
    /// Count.
    pub value: u64,
}

/// Number of blocks by a rule.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
pub struct PreventedOutput {
    /// The rule.
    pub error_type: String,
    /// Count.
    pub value: u64,
}

/// Reactions of agents to the denials of a rule.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
pub struct ReactionsOutput {
    /// The rule.
    pub rule: String,
    /// Refusals after which it is known.
    pub refusals: u32,
    /// They ran the alternative that the refusal named.
    pub took_alternative: u32,
    /// They ran the same program in another way.
    pub went_around: u32,
    /// They did something else, or nothing for ten minutes.
    pub gave_up: u32,
    /// A person permitted it.
    pub asked_user: u32,
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

/// Durations of decisions.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
pub struct LatencyOutput {
    /// `guard`.
    pub component: &'static str,
    /// `command`, `write` or `event`.
    pub operation: &'static str,
    /// Number of decisions within each bound.
    pub buckets: Vec<BucketOutput>,
    /// Total duration, in seconds.
    pub sum: f64,
    /// Total number.
    pub count: u64,
}

/// Number of decisions within a bound.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
pub struct BucketOutput {
    /// The bound, in seconds.
    pub le: f64,
    /// Count.
    pub count: u64,
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
