//! `callosum plan eval`: evaluates a program, with the answers to its calls from a file.

use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::dry_run::RulingOutput;
use crate::plan::source::FindingOutput;

/// Output of `plan eval --json`, and of `plan run --dry-run --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanEvalOutput {
    /// The value in the language's notation; null where the program failed.
    pub value: Option<String>,
    /// The calls that were made, each with its position and its arguments, in order.
    pub calls: Vec<String>,
    /// Rulings of the kernel on each call, with `plan run --dry-run`; empty with `plan eval`.
    pub rulings: Vec<RulingOutput>,
    /// Failure that kept it from a value.
    pub error: Option<EvalErrorOutput>,
}

/// Failure of a program, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EvalErrorOutput {
    /// The kind of failure, as `TypeError`.
    pub kind: String,
    /// Message.
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// The line where it happened, from 1, where that is known.
    pub line: Option<usize>,
    /// The column where it happened, in characters from 1, where that is known.
    pub column: Option<usize>,
    /// All that the compiler has against the program, where it did not run.
    pub findings: Vec<FindingOutput>,
}
