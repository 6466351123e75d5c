//! `callosum metrics`: what guard and operator did on this machine, as Prometheus reads it.

use callosum_metrics::FamilyOutput;
use schemars::JsonSchema;
use serde::Serialize;

/// `callosum metrics --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct MachineMetricsOutput {
    /// The metrics, each with its samples.
    pub families: Vec<FamilyOutput>,
}
