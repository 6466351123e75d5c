//! `callosum session checkpoint`: records what happened since the last one, before it is lost.

use std::time::Duration;

use callosum_session::Synthesized;
use schemars::JsonSchema;
use serde::Serialize;

/// Time to wait for another session's step.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// `callosum session checkpoint --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SynthesisOutput {
    /// Whether anything was written.
    pub written: bool,
    /// When.
    pub ts: Option<String>,
    /// Decisions since the last checkpoint that are in NOTES.md, and older ones that are again.
    pub decisions: usize,
    /// Those of them that NOTES.md lacked until now: only trajectories and beads had them.
    pub taken_over: usize,
    /// The current bead.
    pub bead: Option<String>,
    /// Files that were written.
    pub files: Vec<String>,
    /// The record's place in the trajectory: `file:line`.
    pub trajectory: Option<String>,
}

impl SynthesisOutput {
    /// Returns what is printed about a synthesis.
    pub fn of(saved: Option<&Synthesized>) -> Self {
        Self {
            written: saved.is_some(),
            ts: saved.map(|saved| saved.ts.clone()),
            decisions: saved.map_or(0, |saved| saved.decisions),
            taken_over: saved.map_or(0, |saved| saved.taken_over),
            bead: saved.and_then(|saved| saved.bead.as_ref().map(ToString::to_string)),
            files: saved.map(|saved| saved.files.clone()).unwrap_or_default(),
            trajectory: saved.map(|saved| saved.written.trajectory.clone()),
        }
    }
}
