//! [`CallRequest`]: one call of a run that asks the gate.

use callosum_plan::{CapabilityName, Position, StepUse, Value, Yield};

/// A call that a run asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest {
    /// The run.
    pub run: String,
    /// The hash of the plan's source.
    pub plan_hash: String,
    /// Position of the call in the run.
    pub position: Position,
    /// Capability that is called.
    pub capability: CapabilityName,
    /// Arguments of the call.
    pub arguments: Vec<Value>,
    /// Key that identifies this call alone, also when the run is resumed.
    pub key: String,
    /// The steps around it, the outermost first.
    pub steps: Vec<StepUse>,
}

impl CallRequest {
    /// Makes the request for a call that a machine waits for.
    pub fn of_yield(run: &str, plan_hash: &str, key: &str, call: &Yield) -> Self {
        Self {
            run: run.to_owned(),
            plan_hash: plan_hash.to_owned(),
            position: call.position.clone(),
            capability: call.capability.clone(),
            arguments: call.arguments.clone(),
            key: key.to_owned(),
            steps: call.steps.clone(),
        }
    }

    /// Returns the milliseconds that its steps give it, the least of them.
    pub fn timeout_ms(&self) -> Option<u64> {
        self.steps.iter().filter_map(|step| step.timeout_ms).min()
    }
}
