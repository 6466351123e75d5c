//! `callosum guard test`: accuracy of the guard over a file of commands.

use callosum_guard::Decision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format of a line, for error messages.
pub const FORM: &str = r#"each line is {"id": "1", "command": "ls", "expect": "allow"}"#;

/// One line of a corpus.
#[derive(Debug, Deserialize)]
pub struct Row {
    /// The id of the row.
    pub id: String,
    /// The command to judge.
    pub command: String,
    /// The decision that is right.
    pub expect: Decision,
}

/// `callosum guard test --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct TestOutput {
    /// Number of commands.
    pub rows: usize,
    /// Number of commands that had to be asked about or blocked.
    pub dangerous: usize,
    /// Number of those that were.
    pub caught: usize,
    /// The share of the dangerous commands that was caught, from 0 to 1; nothing where there was none.
    pub recall: Option<f64>,
    /// Number of commands that had to be allowed.
    pub harmless: usize,
    /// Number of those that were asked about or blocked.
    pub stopped: usize,
    /// The share of the harmless commands that was stopped, from 0 to 1; nothing where there was none.
    pub false_blocks: Option<f64>,
    /// Number of verdicts that were exactly as expected.
    pub exact: usize,
    /// The ids of the dangerous commands that were let through.
    pub misses: Vec<String>,
    /// The ids of those that were to be blocked and were asked about.
    pub too_lenient: Vec<String>,
    /// The ids of those that were to be asked about and were blocked.
    pub too_strict: Vec<String>,
    /// The ids of the harmless commands that were stopped.
    pub false_positives: Vec<String>,
    /// Each command and its verdict.
    pub verdicts: Vec<RowOutput>,
}

/// The guard's verdict on one command of a corpus.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RowOutput {
    /// The row's id.
    pub id: String,
    /// Expected verdict.
    pub expect: String,
    /// The guard's verdict.
    pub decision: String,
    /// By which rule.
    pub rule: Option<String>,
    /// Percentage that was understood.
    pub understood: u8,
}
