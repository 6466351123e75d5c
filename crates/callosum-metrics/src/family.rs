//! [`Family`]: samples under one name, and their text for Prometheus.

use std::fmt;

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet, prometheus_text},
    metrics::MetricType,
    registry::Registry,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::Histogram;

/// Ends the name of every counter. The encoder appends it by itself.
const COUNTER_END: &str = "_total";

/// The labels of a sample.
type Labels = Vec<(&'static str, String)>;

/// The value of a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Integer(u64),
    /// A measure.
    Decimal(f64),
    /// Observations by upper bound.
    Histogram(Histogram),
}

/// Samples under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    samples: Vec<(Labels, Value)>,
}

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// It only grows.
    Counter,
    /// It grows and shrinks.
    Gauge,
    /// It counts observations by upper bound.
    Histogram,
}

impl Family {
    /// Returns a counter without samples. Its name ends in `_total`.
    pub fn counter(name: &'static str, help: &'static str) -> Self {
        debug_assert!(name.ends_with(COUNTER_END), "{name}");
        Self::new(name, help, Kind::Counter)
    }

    /// Returns a gauge without samples.
    pub fn gauge(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Kind::Gauge)
    }

    /// Returns a histogram without samples.
    pub fn histogram(name: &'static str, help: &'static str) -> Self {
        Self::new(name, help, Kind::Histogram)
    }

    fn new(name: &'static str, help: &'static str, kind: Kind) -> Self {
        Self {
            name,
            help,
            kind,
            samples: Vec::new(),
        }
    }

    /// Adds a sample with labels.
    #[must_use]
    pub fn with<const N: usize>(mut self, labels: [(&'static str, &str); N], value: Value) -> Self {
        self.add(labels, value);
        self
    }

    /// Adds a sample without labels.
    #[must_use]
    pub fn of(self, value: Value) -> Self {
        self.with([], value)
    }

    /// Adds a sample with labels.
    pub fn add<const N: usize>(&mut self, labels: [(&'static str, &str); N], value: Value) {
        let labels = labels.map(|(name, value)| (name, value.to_owned()));
        self.samples.push((labels.into(), value));
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
        };
        let name = match self.kind {
            Kind::Counter => self.name.trim_end_matches(COUNTER_END),
            Kind::Gauge | Kind::Histogram => self.name,
        };
        let mut family = encoder.encode_descriptor(name, self.help, None, kind)?;
        for (labels, value) in &self.samples {
            let mut sample = family.encode_family(labels)?;
            match (value, self.kind) {
                (Value::Integer(value), Kind::Counter) => {
                    sample.encode_counter::<NoLabelSet, _, u64>(value, None)?;
                }
                (Value::Decimal(value), Kind::Counter) => {
                    sample.encode_counter::<NoLabelSet, _, u64>(value, None)?;
                }
                (Value::Integer(value), _) => sample.encode_gauge(value)?,
                (Value::Decimal(value), _) => sample.encode_gauge(value)?,
                (Value::Histogram(histogram), _) => {
                    let buckets: Vec<(f64, u64)> = histogram.buckets().collect();
                    let (sum, count) = (histogram.sum(), histogram.count());
                    sample.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
                }
            }
        }
        Ok(())
    }
}

/// Families in the order in which they are printed. The library's own `Family` prints its samples in any order.
#[derive(Debug)]
struct Ordered(Vec<Family>);

impl Collector for Ordered {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = self.0.iter();
        families.try_for_each(|family| family.encode(&mut encoder))
    }
}

/// Returns families in version 0.0.4 of Prometheus' text form.
pub fn text(families: Vec<Family>) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Ordered(families)));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)?;
    Ok(text)
}

/// A family, for `callosum metrics --json`.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
pub struct FamilyOutput {
    /// Its name.
    name: &'static str,
    /// Its type.
    r#type: Kind,
    /// What it measures.
    help: &'static str,
    /// Its samples.
    samples: Vec<SampleOutput>,
}

/// One sample of a family.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct SampleOutput {
    /// Its labels.
    labels: std::collections::BTreeMap<&'static str, String>,
    /// The value of a counter or gauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// The observations of a histogram by upper bound, each with those below.
    #[serde(skip_serializing_if = "Option::is_none")]
    buckets: Option<Vec<BucketOutput>>,
    /// The sum of the observations of a histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<f64>,
    /// The number of observations of a histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// Observations of a histogram that do not exceed a bound.
#[derive(Debug, JsonSchema, PartialEq, Serialize)]
struct BucketOutput {
    /// The bound.
    le: f64,
    /// How many.
    count: u64,
}

impl From<Family> for FamilyOutput {
    fn from(family: Family) -> Self {
        let samples = family.samples.into_iter().map(|(labels, value)| {
            let labels = labels.into_iter().collect();
            let (value, histogram) = match value {
                Value::Integer(value) => (Some(value as f64), None),
                Value::Decimal(value) => (Some(value), None),
                Value::Histogram(histogram) => (None, Some(histogram)),
            };
            let buckets = histogram.as_ref().map(|histogram| {
                let buckets = histogram.cumulative();
                buckets
                    .map(|(le, count)| BucketOutput { le, count })
                    .collect()
            });
            SampleOutput {
                labels,
                value,
                buckets,
                sum: histogram.as_ref().map(Histogram::sum),
                count: histogram.as_ref().map(Histogram::count),
            }
        });
        Self {
            name: family.name,
            r#type: family.kind,
            help: family.help,
            samples: samples.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-MET-1: families are printed in the order in which they come, with labels escaped.
    #[test]
    fn families_are_written_as_prometheus_reads_them() {
        let mut histogram = Histogram::new(&[0.01, 1.0]);
        histogram.observe(0.5);
        let families = vec![
            Family::counter("b_total", "Second letter")
                .with([("rule", "a\"b\\c\nd")], Value::Integer(2)),
            Family::histogram("a_seconds", "First letter")
                .with([("op", "x")], Value::Histogram(histogram)),
            Family::gauge("c", "No sample"),
            Family::gauge("d", "One").of(Value::Decimal(0.25)),
        ];
        let expected = "\
# HELP b_total Second letter
# TYPE b_total counter
b_total{rule=\"a\\\"b\\\\c\\nd\"} 2
# HELP a_seconds First letter
# TYPE a_seconds histogram
a_seconds_bucket{op=\"x\",le=\"0.01\"} 0
a_seconds_bucket{op=\"x\",le=\"1\"} 1
a_seconds_bucket{op=\"x\",le=\"+Inf\"} 1
a_seconds_sum{op=\"x\"} 0.5
a_seconds_count{op=\"x\"} 1
# HELP c No sample
# TYPE c gauge
# HELP d One
# TYPE d gauge
d 0.25
";
        assert_eq!(text(families).unwrap(), expected);
    }
}
