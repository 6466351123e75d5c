//! `callosum metrics`: counters of guard and operator on this machine, in the format of Prometheus.

use callosum_metrics::FamilyOutput;
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum metrics --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MachineMetricsOutput {
    /// The metrics, each with its samples.
    pub families: Vec<FamilyOutput>,
}
