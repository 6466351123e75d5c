//! A program's source as the command line names it, and what is wrong with it as programs read it.

use std::path::Path;

use callosum_host::{Disk, OpenHow};
use callosum_plan::{Colours, Failure, Finding, Span, read};
use schemars::JsonSchema;
use serde::Serialize;

use crate::report::Reporter;
use crate::{CommandError, Exit};

/// A program's text, and what it is called in messages.
pub struct Source {
    /// The text.
    pub text: String,
    /// The name for messages.
    pub name: String,
}

/// Something that is wrong with a program, as programs read it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FindingOutput {
    /// The rule that it breaks, as `undefined-symbol`.
    pub rule: String,
    /// Fault.
    pub message: String,
    /// Remedy.
    pub hint: Option<String>,
    /// The line where it begins, from 1.
    pub line: usize,
    /// The column where it begins, in characters from 1.
    pub column: usize,
}

impl Source {
    /// Refuses a text without a program. A text that can't be parsed is reported when it is
    /// compiled.
    pub fn of_some_program(self) -> Result<Self, CommandError> {
        if !read(&self.text).is_ok_and(|forms| forms.is_empty()) {
            return Ok(self);
        }
        let why = if self.text.trim().is_empty() {
            "it is empty"
        } else {
            "it contains only comments"
        };
        let what = format!("there is no program in {}: {why}", self.name);
        Err(CommandError::new(Exit::Usage, what).hint("callosum plan eval -e '(+ 1 2)'"))
    }

    /// A source that was kept, and what it is called in messages.
    pub fn named(text: String, name: String) -> Self {
        Self { text, name }
    }

    /// Tells all that is wrong with the program, each with its place.
    pub fn tell(&self, findings: &[Finding], report: &dyn Reporter) {
        for finding in findings {
            report.say(&finding.render(&self.text, &self.name, Colours::Styled));
            report.say("");
        }
    }

    /// Tells how the evaluation failed, with its place.
    pub fn tell_failure(&self, failure: &Failure, report: &dyn Reporter) {
        report.say(&failure.render(&self.text, &self.name, Colours::Styled));
    }

    /// Returns the line and the column of a span, from 1.
    pub fn line_and_column(&self, span: Span) -> (usize, usize) {
        span.line_and_column(&self.text)
    }

    /// Converts a finding of the compiler.
    pub fn finding_output(&self, finding: &Finding) -> FindingOutput {
        let (line, column) = self.line_and_column(finding.span);
        FindingOutput {
            rule: finding.rule.to_string(),
            message: finding.message.clone(),
            hint: finding.hint.clone(),
            line,
            column,
        }
    }
}

/// Bytes of a source that are read: some more than it may have, so that one that is too large still is
/// without a mark at its beginning and a part of a character at its end.
pub const MOST: usize = callosum_plan::MAX_SOURCE + 8;

/// Reads at most so many bytes of a file that the command line names.
pub fn file_at(file: &Path, most: usize) -> Result<Vec<u8>, CommandError> {
    let read = Disk::real()
        .open(file, OpenHow::READ)
        .and_then(|open| open.read_range(0, most));
    read.map_err(|error| CommandError::from_error(Exit::Usage, &error))
}

/// The text of a file, without the mark that some editors begin one with.
pub fn text_of(name: &str, mut bytes: Vec<u8>) -> Result<String, CommandError> {
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(..'\u{feff}'.len_utf8());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CommandError::new(Exit::No, format!("`{name}` is not UTF-8, at byte {at}"))
            .hint("save it as UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`")
    })
}
