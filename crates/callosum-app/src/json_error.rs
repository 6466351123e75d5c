//! Failures as programs read them: the error inside every JSON object, and the object that is the
//! whole output if a command failed before it had printed one of its own.

use schemars::JsonSchema;
use serde::Serialize;

use crate::CommandError;

/// A failure, as programs read it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ErrorOutput {
    /// The seed's code, E001 to E008, where it has one.
    pub code: Option<String>,
    /// Failure, on one line.
    pub message: String,
    /// More for diagnosis: the executor's words, every attempt, how the command is used.
    pub details: Option<String>,
    /// Remedy, to be pasted if it is a command; null if none is known.
    pub hint: Option<String>,
}

/// Output of `--json` if a command fails, or its line is invalid, before it has printed an object
/// of its own.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FailureOutput {
    /// The failure.
    pub error: ErrorOutput,
}

impl ErrorOutput {
    /// A failure without a code.
    pub fn plain(message: String) -> Self {
        Self {
            code: None,
            message,
            details: None,
            hint: None,
        }
    }

    /// A command that failed before anything ran.
    pub fn of_command(error: &CommandError) -> Self {
        Self {
            code: error.code.map(|code| code.as_str().to_owned()),
            message: error.one_line(),
            details: None,
            hint: error.hint_text().map(str::to_owned),
        }
    }
}

/// Converts an error of clap. Its first paragraph is the message.
pub fn misuse(rendered: &str) -> ErrorOutput {
    let (first, rest) = rendered.split_once("\n\n").unwrap_or((rendered, ""));
    let words: Vec<&str> = first.split_whitespace().collect();
    let message = words.join(" ");
    ErrorOutput {
        code: None,
        message: message
            .strip_prefix("error: ")
            .unwrap_or(&message)
            .to_owned(),
        details: Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty()),
        hint: None,
    }
}
