//! `callosum capability list` and `query`: what plans can call here.

use schemars::JsonSchema;
use serde::Serialize;

use crate::capability::catalog::CapabilityOutput;

/// `callosum capability list --json`, and `query`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CapabilitiesOutput {
    /// The capabilities, in the order of their ids.
    pub capabilities: Vec<CapabilityOutput>,
}
