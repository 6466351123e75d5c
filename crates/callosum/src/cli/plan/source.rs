//! A program's source as the command line names it, and what is wrong with it as programs read it.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use callosum_host::Disk;
use callosum_plan::{Colours, Failure, Finding, Span};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ui::{CommandError, Exit, Ui};

/// Which program.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct SourceArgs {
    /// Take SOURCE itself as the program
    #[arg(
        short = 'e',
        long = "expression",
        value_name = "SOURCE",
        allow_hyphen_values = true
    )]
    expression: Option<String>,
    /// The program's file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// A program's text, and what it is called in messages.
pub(super) struct Source {
    pub(super) text: String,
    name: String,
}

/// Something that is wrong with a program, as programs read it.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct FindingOutput {
    /// The rule that it breaks, as `undefined-symbol`.
    rule: String,
    /// What is wrong.
    message: String,
    /// How it may be mended.
    hint: Option<String>,
    /// The line where it begins, from 1.
    line: usize,
    /// The column where it begins, in characters from 1.
    column: usize,
}

impl Source {
    pub(super) fn of(args: &SourceArgs) -> Result<Self, CommandError> {
        if let Some(text) = &args.expression {
            return Ok(Self {
                text: text.clone(),
                name: "-e".to_owned(),
            });
        }
        let file = args.file.as_deref().unwrap_or(Path::new("-"));
        let (name, bytes) = if file.as_os_str() == "-" {
            ("standard input".to_owned(), standard_input()?)
        } else {
            (file.display().to_string(), file_at(file)?)
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            CommandError::new(Exit::No, format!("`{name}` is not UTF-8, at byte {at}"))
        })?;
        Ok(Self { text, name })
    }

    /// Tells all that is wrong with the program, each with its place.
    pub(super) fn tell(&self, findings: &[Finding], ui: Ui) {
        for finding in findings {
            ui.say(&finding.render(&self.text, &self.name, Colours::Styled));
            ui.say("");
        }
    }

    /// Tells how the evaluation failed, with its place.
    pub(super) fn tell_failure(&self, failure: &Failure, ui: Ui) {
        ui.say(&failure.render(&self.text, &self.name, Colours::Styled));
    }

    pub(super) fn line_and_column(&self, span: Span) -> (usize, usize) {
        span.line_and_column(&self.text)
    }

    pub(super) fn finding_output(&self, finding: &Finding) -> FindingOutput {
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

fn standard_input() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    // One byte more than a source may have, which is then told as too large.
    let most = callosum_plan::MAX_SOURCE as u64 + 1;
    let read = std::io::stdin().lock().take(most).read_to_end(&mut bytes);
    read.map_err(|error| CommandError::because(Exit::No, "cannot read standard input", &error))?;
    Ok(bytes)
}

/// Reads a file that the command line names.
pub(super) fn file_at(file: &Path) -> Result<Vec<u8>, CommandError> {
    let read = Disk::real().read(file);
    read.map_err(|error| CommandError::from_error(Exit::Usage, &error))
}
