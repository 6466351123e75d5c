//! `callosum session check`: the checkpoint before a context is cleared.

use callosum_session::checkpoint::{Checked, Outcome};
use callosum_session::grounding::Threshold;
use schemars::JsonSchema;
use serde::Serialize;

use crate::session::grounding::GroundingOutput;

/// `callosum session check --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckpointOutput {
    /// Whether the context may be cleared.
    pub permitted: bool,
    /// The seven steps.
    pub steps: Vec<StepOutput>,
    /// The claims.
    pub grounding: GroundingOutput,
}

/// A step of the checkpoint.
#[derive(Debug, JsonSchema, Serialize)]
pub struct StepOutput {
    /// Its number, from 1.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// `pass`, `done`, `warn`, `block` or `skip`.
    pub outcome: String,
    /// Messages.
    pub messages: Vec<String>,
}

/// The steps, each with what it has to say below it.
pub fn shown(steps: &[StepOutput]) -> String {
    steps.iter().map(StepOutput::line).collect()
}

impl CheckpointOutput {
    /// Returns what is printed about a check before a clear.
    pub fn of(checked: &Checked, threshold: &Threshold) -> Self {
        let steps = checked
            .steps
            .iter()
            .zip(1..)
            .map(|(step, number)| StepOutput {
                number,
                name: step.name.to_owned(),
                outcome: step.outcome.to_string(),
                messages: match step.outcome {
                    Outcome::Skipped => Vec::new(),
                    _ => step.said.clone(),
                },
            });
        Self {
            permitted: checked.permits(),
            steps: steps.collect(),
            grounding: GroundingOutput::of(&checked.grounding, threshold),
        }
    }
}

impl StepOutput {
    fn line(&self) -> String {
        let mut text = format!("{}. {}: {}\n", self.number, self.name, self.outcome);
        let in_order = self.messages.is_empty().then(|| self.in_order()).flatten();
        for message in in_order
            .into_iter()
            .chain(self.messages.iter().map(String::as_str))
        {
            text.push_str("   ");
            text.push_str(message);
            text.push('\n');
        }
        text
    }

    /// Returns what a step without a message has found.
    fn in_order(&self) -> Option<&'static str> {
        Some(match self.name.as_str() {
            "negative grounding" => "no feature is called missing without a search for it",
            "decision log" => "NOTES.md can be read and has every decision",
            "bead" => "the current bead has a next step, or is closed",
            "trajectory" => "the records of the session can be read",
            "decay" => "NOTES.md cites code instead of copying it",
            "test scenarios" => "not required by .loa.config.yaml",
            _ => return None,
        })
    }
}
