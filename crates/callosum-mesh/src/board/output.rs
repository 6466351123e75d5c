//! [`OutputReceipt`]: outcome of writing a task's result to its output file (Seed CALC §6, pattern 2).
//!
//! The board only remembers the receipt. [`output_file`](crate::output_file) decides about the path
//! and writes.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Board, BoardError, Status, Task, command::takes_back};
use crate::author::Author;

/// The outcome of writing an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputOutcome {
    /// The file holds the result.
    Written,
    /// Callosum did not write the file.
    Refused,
}

impl OutputOutcome {
    /// Returns its name in events and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Refused => "refused",
        }
    }
}

/// A receipt for an output file, as its event says it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct OutputReceipt {
    /// The outcome.
    pub outcome: OutputOutcome,
    /// The file, with every link resolved if that was possible.
    pub path: String,
    /// Size of the file in bytes, if it was written.
    pub bytes: Option<u64>,
    /// SHA-256 of the file in hexadecimal, if it was written.
    pub sha256: Option<String>,
    /// The reason of a refusal.
    pub reason: Option<String>,
    /// The time of the event; null in the event itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Whether the task changed since, so that its file is due again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stale: bool,
}

impl Task {
    /// Returns whether the result has yet to be written to the output file.
    pub fn is_output_due(&self) -> bool {
        self.has_output() && self.output.as_ref().is_none_or(|output| output.is_stale)
    }

    /// Returns whether there is a result and a file for it.
    fn has_output(&self) -> bool {
        self.status == Status::Complete && self.output_file.is_some() && self.result.is_some()
    }

    /// Notes that the result or its file changed.
    pub(super) fn change_output(&mut self) {
        if let Some(output) = &mut self.output {
            output.is_stale = true;
        }
    }
}

impl Board {
    /// Returns the tasks whose results have yet to be written. Costs a look at each task.
    pub fn due_outputs(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.is_output_due())
    }

    /// Returns a task whose output file may be written again for this agent: its author, or a person.
    pub(crate) fn output_to_write(&self, id: &str, voice: &Author) -> Result<&Task, BoardError> {
        let task = self.known(id)?;
        if !task.has_output() {
            return Err(BoardError::NoOutput {
                task: id.to_owned(),
                why: match (&task.output_file, task.status) {
                    (None, _) => "names no output file",
                    (_, Status::Complete) => "was completed without a result",
                    _ => "is not complete",
                },
            });
        }
        takes_back("task", id, &voice.agent, &[Some(&task.created_by)])?;
        Ok(task)
    }
}
