//! `callosum operator`: check messages against the voice gate, and render one for an error.

use callosum_intervention::operator::Operator;
use callosum_intervention::voice::Verdict;
use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;

/// `callosum operator check --json`, with the seed's names.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OperatorCheckOutput {
    /// Whether the message may be sent.
    pub passed: bool,
    /// Similarity to the reference messages with commands, files and numbers masked, from 0 to 1.
    pub score: f64,
    /// Similarity of the text as it is.
    pub raw_score: f64,
    /// `Valid`, or what is wrong.
    pub reason: String,
}

/// `callosum operator say --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct OperatorSayOutput {
    /// The message; `null` if none passes the gate.
    pub message: Option<String>,
    /// `MESSAGE`, `SAFE_DEFAULT` or `SYSTEM_ERROR`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its level, from 1 to 4.
    pub level: u8,
    /// Messages that were rendered and checked.
    pub attempts: usize,
    /// The gate's verdict.
    pub check: OperatorCheckOutput,
}

impl From<Verdict> for OperatorCheckOutput {
    fn from(verdict: Verdict) -> Self {
        Self {
            passed: verdict.passed,
            score: verdict.score,
            raw_score: verdict.raw_score,
            reason: verdict.reason,
        }
    }
}

/// Returns the operator of interventions.
pub fn operator() -> Result<Operator, CommandError> {
    Operator::built_in().map_err(CommandError::internal)
}
