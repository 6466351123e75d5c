//! `callosum executor remove`: an executor leaves the registry.

use schemars::JsonSchema;
use serde::Serialize;

use crate::executor::list::ExecutorOutput;

/// `callosum executor remove --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RemovedOutput {
    /// Executor whose entry was removed.
    pub id: String,
    /// The entry as it was; null where it made no sense.
    pub executor: Option<ExecutorOutput>,
}
