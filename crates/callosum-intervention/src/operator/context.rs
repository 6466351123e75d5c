//! [`Context`]: what a message is built from, in the seed's input format (Seed CAKE §1).

use callosum_diagnose::ErrorEvent;
use serde::{Deserialize, Serialize};

use crate::voice::EventFacts;

/// Facts about one error. Keys that are not known are ignored, so that an event's own record can be read as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The class of the error.
    pub error_type: String,
    /// The file as printed.
    #[serde(default)]
    pub file_path: Option<String>,
    /// The line in the file, from 1 on.
    #[serde(default)]
    pub line_number: Option<u32>,
    /// The message of the tool.
    #[serde(default, alias = "message")]
    pub error_message: String,
    /// Escalation level, 1 to 4.
    #[serde(default = "first_level")]
    pub escalation_level: u8,
    /// A command that may fix the error.
    #[serde(default)]
    pub suggested_fix: Option<String>,
    /// SHA-256 of the normalized error, after `sha256:`.
    #[serde(default)]
    pub error_signature: String,
    /// Texts of the messages that this error already got.
    #[serde(default)]
    pub previous_interventions: Vec<String>,
    /// Time of the error, as RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// The test that failed.
    #[serde(default)]
    pub test: Option<String>,
    /// The project's root. Files below it are written from there on.
    #[serde(default)]
    pub project_root: Option<String>,
    /// Remembered fix of the same error.
    #[serde(default)]
    pub known_fix: Option<KnownFix>,
}

/// Remembered fix of an error, with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFix {
    /// The fix.
    #[serde(flatten)]
    pub fix: Fix,
    /// Whether a person edited or confirmed it.
    #[serde(default)]
    pub confirmed: bool,
    /// The client that found it.
    #[serde(default)]
    pub by: String,
    /// Time of the success, as RFC 3339.
    #[serde(default)]
    pub when: String,
}

/// A fix in short. Its details are shown beside the message, by the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fix {
    /// A command to run.
    Command(String),
    /// A file to edit.
    Edit(String),
}

/// The reason that a text is not a context.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// It is not a JSON object of this form.
    #[error("not an event of an error: {0}")]
    Form(#[from] serde_json::Error),
    /// A number is out of its range.
    #[error("`{key}` is {value}; allowed is {range}")]
    Range {
        /// The key.
        key: &'static str,
        /// The value.
        value: u32,
        /// Allowed values.
        range: &'static str,
    },
}

/// Returns the level of a first message.
fn first_level() -> u8 {
    1
}

impl Context {
    /// Reads a context from JSON.
    ///
    /// # Errors
    /// The text is not of this form, or a number is out of its range.
    pub fn from_json(text: &str) -> Result<Self, ContextError> {
        let context: Self = serde_json::from_str(text)?;
        context.check()?;
        Ok(context)
    }

    /// Returns the context of an event, for a first message without a fix.
    pub fn of_event(event: &ErrorEvent) -> Self {
        Self {
            error_type: event.error_type.clone(),
            file_path: event.file_path.clone(),
            line_number: event.line_number,
            error_message: event.message.clone(),
            escalation_level: first_level(),
            suggested_fix: None,
            error_signature: String::new(),
            previous_interventions: Vec::new(),
            timestamp: event.timestamp.clone(),
            test: event.test.clone(),
            project_root: None,
            known_fix: None,
        }
    }

    /// Checks the ranges of its numbers.
    pub(super) fn check(&self) -> Result<(), ContextError> {
        if !(1..=4).contains(&self.escalation_level) {
            return Err(ContextError::Range {
                key: "escalation_level",
                value: u32::from(self.escalation_level),
                range: "an integer from 1 to 4",
            });
        }
        if self.line_number == Some(0) {
            return Err(ContextError::Range {
                key: "line_number",
                value: 0,
                range: "an integer of at least 1, or null",
            });
        }
        Ok(())
    }

    /// Returns what the gate compares a message about this error with.
    pub fn facts(&self) -> EventFacts<'_> {
        EventFacts {
            error_type: &self.error_type,
            file: self.file(),
            line: self.line_number,
            test: self.test.as_deref(),
            fix_file: self.fix_file(),
            message: Some(self.error_message.as_str()).filter(|message| !message.is_empty()),
            fixes: self.fixes(),
        }
    }

    /// Returns the file from the project's root if it is inside, else as it is.
    fn file(&self) -> Option<&str> {
        self.file_path.as_deref().map(|file| self.inside_root(file))
    }

    /// Returns the file that the known fix edits, from the project's root.
    fn fix_file(&self) -> Option<&str> {
        match &self.known_fix.as_ref()?.fix {
            Fix::Edit(file) => Some(self.inside_root(file)),
            Fix::Command(_) => None,
        }
    }

    /// Returns the commands that may fix the error: that of the known fix before the suggested one.
    pub(super) fn fixes(&self) -> [Option<&str>; 2] {
        let known = self.known_fix.as_ref().and_then(|known| match &known.fix {
            Fix::Command(command) => Some(command.trim()),
            Fix::Edit(_) => None,
        });
        [known, self.suggested_fix.as_deref().map(str::trim)]
    }

    fn inside_root<'a>(&self, file: &'a str) -> &'a str {
        self.project_root
            .as_deref()
            .map(|root| root.trim_end_matches('/'))
            .filter(|root| !root.is_empty())
            .and_then(|root| file.strip_prefix(root)?.strip_prefix('/'))
            .unwrap_or(file)
    }
}
