//! `callosum plan list`: the runs that the journal has.

use callosum_plan_run::run::ReadRun;
use schemars::JsonSchema;
use serde::Serialize;

use crate::context::Context;
use crate::plan::lock;

/// Output of `plan list --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanListOutput {
    /// The runs, the one that was begun last first.
    pub runs: Vec<RunSummaryOutput>,
}

/// A run in a list.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RunSummaryOutput {
    /// Its id.
    pub run: String,
    /// The plan's name, where it has one.
    pub plan: Option<String>,
    /// When it was begun.
    pub begun: String,
    /// The time of its last record.
    pub changed: String,
    /// `running`, `waiting` for a person, `interrupted`, `completed`, `failed` or `cancelled`.
    pub standing: String,
    /// Number of calls that it has begun.
    pub calls: usize,
    /// Number of calls that have an answer.
    pub answered: usize,
    /// Number of records that claim to be of this run, and count for nothing.
    pub foreign_records: u64,
}

impl RunSummaryOutput {
    /// Returns what is printed about a run.
    pub fn of(context: &Context, read: &ReadRun) -> Self {
        let state = &read.state;
        let is_running = state.ended().is_none() && lock::is_held(context, state.run());
        Self {
            run: state.run().to_string(),
            plan: state.started().plan.clone(),
            begun: state.begun().to_string(),
            changed: state.changed().to_string(),
            standing: state.standing(is_running).to_owned(),
            calls: state.calls().len(),
            answered: state.answer_count(),
            foreign_records: read.foreign.as_ref().map_or(0, |foreign| foreign.count),
        }
    }
}

/// Marks a run into whose records others wrote.
pub const MARK: &str = " *";
