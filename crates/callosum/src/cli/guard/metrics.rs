//! `callosum guard metrics`: the seed's metrics, counted from what was recorded.

use std::{collections::BTreeMap, fmt::Write as _};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::log::{self, DecisionOutput};
use crate::{
    cli::{context::Context, moment::Moment},
    ui::CommandError,
};

/// Print what the guard has done as metrics, in the text form of Prometheus
///
/// Counted from the same records that `callosum guard log` shows, so that they stay what they are
/// from one process to the next.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum guard metrics
  $ callosum guard metrics --since 7d
  $ callosum guard metrics --json
  $ callosum guard metrics --everywhere")]
pub(crate) struct MetricsArgs {
    /// Only from this time on: a date, a time (UTC), or how long ago (30m, 2h, 7d, 2w)
    #[arg(long, value_name = "TIME", value_parser = Moment::read)]
    since: Option<Moment>,
    /// About any other folder of the machine's journal too
    #[arg(long)]
    everywhere: bool,
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
    /// How many commands the client was told to run without a prompt of its own.
    #[serde(rename = "cake_auto_allowed_total")]
    auto_allowed: u64,
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
    severity: &'static str,
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

/// Seed CAKE §6: upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 6] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0];

/// What is counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// By type and severity.
    interventions: BTreeMap<(&'static str, &'static str), u64>,
    /// By rule.
    prevented: BTreeMap<String, u64>,
    /// Commands that ran without a prompt.
    auto_allowed: u64,
    /// By operation.
    latencies: BTreeMap<&'static str, Latency>,
}

/// How long something took.
#[derive(Clone, Debug, Default)]
struct Latency {
    within: [u64; BOUNDS.len()],
    count: u64,
    micros: u64,
}

impl Counts {
    pub(super) fn add(&mut self, decision: &DecisionOutput) {
        let Some(took) = decision.took_us else {
            return;
        };
        self.auto_allowed += u64::from(decision.auto_allowed);
        let operation = match (&decision.command, decision.paths.is_empty()) {
            (Some(_), _) => "command",
            (None, false) => "write",
            (None, true) => "event",
        };
        let latency = self.latencies.entry(operation).or_default();
        latency.count += 1;
        latency.micros = latency.micros.saturating_add(took);
        let seconds = took as f64 / 1e6;
        for (within, bound) in latency.within.iter_mut().zip(BOUNDS) {
            *within += u64::from(seconds <= bound);
        }
        let severity = match decision.verdict.as_str() {
            "blocked" => "block",
            "asked" => "ask",
            _ => return,
        };
        *self.interventions.entry((operation, severity)).or_default() += 1;
        if severity == "block" {
            let rule = decision.rule.clone().unwrap_or_default();
            *self.prevented.entry(rule).or_default() += 1;
        }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn join(&mut self, other: &Self) {
        for (what, count) in &other.interventions {
            *self.interventions.entry(*what).or_default() += count;
        }
        self.auto_allowed += other.auto_allowed;
        for (rule, count) in &other.prevented {
            *self.prevented.entry(rule.clone()).or_default() += count;
        }
        for (operation, theirs) in &other.latencies {
            let ours = self.latencies.entry(operation).or_default();
            ours.count += theirs.count;
            ours.micros = ours.micros.saturating_add(theirs.micros);
            for (within, count) in ours.within.iter_mut().zip(theirs.within) {
                *within += count;
            }
        }
    }

    /// The text form, as version 0.0.4 of it has it.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let begin = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "cake_interventions_total";
        begin(&mut text, name, "counter", "Total number of interventions");
        for ((operation, severity), count) in &self.interventions {
            let success = success(severity);
            let _ = writeln!(
                text,
                "{name}{{type=\"{operation}\",severity=\"{severity}\",success=\"{success}\"}} {count}"
            );
        }
        let name = "cake_errors_prevented_total";
        begin(&mut text, name, "counter", "Total errors prevented");
        for (rule, count) in &self.prevented {
            let rule = escaped(rule);
            let _ = writeln!(text, "{name}{{error_type=\"{rule}\"}} {count}");
        }
        let name = "cake_auto_allowed_total";
        begin(
            &mut text,
            name,
            "counter",
            "Total commands that ran without a prompt",
        );
        let _ = writeln!(text, "{name} {}", self.auto_allowed);
        let name = "cake_response_latency_seconds";
        begin(
            &mut text,
            name,
            "histogram",
            "Response latency by component",
        );
        for (operation, latency) in &self.latencies {
            let labels = format!("component=\"guard\",operation=\"{operation}\"");
            for (within, bound) in latency.within.iter().zip(BOUNDS) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {within}");
            }
            let Latency { count, micros, .. } = latency;
            let sum = *micros as f64 / 1e6;
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{{labels}}} {sum}");
            let _ = writeln!(text, "{name}_count{{{labels}}} {count}");
        }
        let name = "cake_voice_similarity_score";
        begin(&mut text, name, "gauge", "Current voice similarity score");
        text
    }

    fn output(&self) -> MetricsOutput {
        MetricsOutput {
            interventions: self
                .interventions
                .iter()
                .map(|((operation, severity), count)| InterventionsOutput {
                    r#type: operation,
                    severity,
                    success: success(severity),
                    value: *count,
                })
                .collect(),
            prevented: self
                .prevented
                .iter()
                .map(|(rule, count)| PreventedOutput {
                    error_type: rule.clone(),
                    value: *count,
                })
                .collect(),
            auto_allowed: self.auto_allowed,
            latencies: self
                .latencies
                .iter()
                .map(|(operation, latency)| LatencyOutput {
                    component: "guard",
                    operation,
                    buckets: BOUNDS
                        .into_iter()
                        .zip(latency.within)
                        .map(|(le, count)| BucketOutput { le, count })
                        .collect(),
                    sum: latency.micros as f64 / 1e6,
                    count: latency.count,
                })
                .collect(),
        }
    }
}

/// Whether it came to what was wanted; what a person answered is the client's to know.
fn success(severity: &str) -> &'static str {
    if severity == "block" {
        "true"
    } else {
        "unknown"
    }
}

/// A label's value, with what would end it escaped.
fn escaped(value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"");
    value.replace('\n', r"\n")
}

pub(super) fn run(context: &Context, args: &MetricsArgs) -> Result<(), CommandError> {
    let mut counts = Counts::default();
    let since = args.since.map(|since| since.first(context.clock.now()));
    log::each(context, since, args.everywhere, |_, decision| {
        counts.add(&decision);
    })?;
    if context.ui.json {
        return context.ui.json_data(&counts.output());
    }
    context.ui.foreign(&counts.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(verdict: &str, rule: &str, took_us: u64) -> DecisionOutput {
        DecisionOutput {
            verdict: verdict.to_owned(),
            rule: (!rule.is_empty()).then(|| rule.to_owned()),
            command: Some("x".to_owned()),
            took_us: Some(took_us),
            ..DecisionOutput::default()
        }
    }

    /// CAKE-MET-1: the seed's names, labels and buckets.
    #[test]
    fn decisions_are_counted_under_the_seeds_names() {
        let mut counts = Counts::default();
        counts.add(&DecisionOutput {
            auto_allowed: true,
            ..decision("allowed", "", 2_000)
        });
        counts.add(&decision("blocked", "a\"b\\c\nd", 20_000));
        counts.add(&decision("asked", "git.branch-delete", 2_000_000));
        // What a person permitted took no time of anybody's.
        counts.add(&DecisionOutput::default());
        let text = counts.text();
        for line in [
            "# TYPE cake_interventions_total counter",
            "cake_interventions_total{type=\"command\",severity=\"ask\",success=\"unknown\"} 1",
            "cake_interventions_total{type=\"command\",severity=\"block\",success=\"true\"} 1",
            "cake_errors_prevented_total{error_type=\"a\\\"b\\\\c\\nd\"} 1",
            "cake_response_latency_seconds_bucket{component=\"guard\",operation=\"command\",le=\"0.01\"} 1",
            "cake_response_latency_seconds_bucket{component=\"guard\",operation=\"command\",le=\"1\"} 2",
            "cake_response_latency_seconds_bucket{component=\"guard\",operation=\"command\",le=\"+Inf\"} 3",
            "cake_response_latency_seconds_sum{component=\"guard\",operation=\"command\"} 2.022",
            "cake_response_latency_seconds_count{component=\"guard\",operation=\"command\"} 3",
            "cake_auto_allowed_total 1",
            "# TYPE cake_voice_similarity_score gauge",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let bucket = |(le, count): (f64, u64)| BucketOutput { le, count };
        let counted = BOUNDS.into_iter().zip([1, 2, 2, 2, 2, 2]);
        let asked = |severity, success| InterventionsOutput {
            r#type: "command",
            severity,
            success,
            value: 1,
        };
        let expected = MetricsOutput {
            interventions: vec![asked("ask", "unknown"), asked("block", "true")],
            prevented: vec![PreventedOutput {
                error_type: "a\"b\\c\nd".to_owned(),
                value: 1,
            }],
            auto_allowed: 1,
            latencies: vec![LatencyOutput {
                component: "guard",
                operation: "command",
                buckets: counted.map(bucket).collect(),
                sum: 2.022,
                count: 3,
            }],
        };
        assert_eq!(counts.output(), expected);
    }
}
