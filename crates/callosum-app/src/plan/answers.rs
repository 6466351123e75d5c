//! Answers to a program's calls, from a file with a line of JSON for each.

use std::path::Path;

use callosum_plan::{CapabilityName, Failure, FailureKind, Value, Yield};
use serde::Deserialize;

use crate::plan::source::{file_at, text_of};
use crate::{CommandError, Exit};

/// The answers, to be taken in their order.
pub struct Answers {
    name: String,
    lines: std::vec::IntoIter<(usize, CapabilityName, Result<Value, Failure>)>,
}

/// One line, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    call: String,
    value: Option<String>,
    error: Option<String>,
}

/// Bytes of a file of answers at most.
const MOST: usize = 64 << 20;

const USAGE: &str = r#"each line is {"call": ":cap", "value": "{:a 1}"} or {"call": ":cap", "error": "what failed"}"#;

impl Answers {
    /// Returns no answers.
    pub fn none() -> Self {
        Self {
            name: String::new(),
            lines: Vec::new().into_iter(),
        }
    }

    /// Reads all answers of a file, or says which line is none.
    pub fn read(file: &Path) -> Result<Self, CommandError> {
        let name = file.display().to_string();
        let bytes = file_at(file, MOST + 1)?;
        if bytes.len() > MOST {
            return Err(CommandError::new(
                Exit::Usage,
                format!("`{name}` has more than {MOST} bytes"),
            ));
        }
        let text = text_of(&name, bytes)?;
        let mut lines = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let (call, answer) = parse(line).map_err(|why| {
                CommandError::new(Exit::Usage, format!("{name}:{number}: {why}")).hint(USAGE)
            })?;
            lines.push((number, call, answer));
        }
        Ok(Self {
            name,
            lines: lines.into_iter(),
        })
    }

    /// Takes the next answer, which must be for this call.
    pub fn take(&mut self, call: &Yield) -> Result<Result<Value, Failure>, CommandError> {
        match self.lines.next() {
            Some((_, capability, answer)) if capability == call.capability => Ok(answer),
            Some((number, capability, _)) => Err(CommandError::new(
                Exit::No,
                format!(
                    "the program calls :{}, and {}:{number} answers :{capability}",
                    call.capability, self.name
                ),
            )
            .hint("list the answers in the order of the calls")),
            None => Ok(Err(Failure::new(
                FailureKind::UnknownCapability,
                format!("no answer is given for the call of `:{}`", call.capability),
            )
            .with_hint("give answers with `--answers FILE.jsonl`"))),
        }
    }

    /// Returns the number of lines that are left.
    pub fn left(&self) -> usize {
        self.lines.len()
    }
}

fn parse(line: &str) -> Result<(CapabilityName, Result<Value, Failure>), String> {
    let line: Line = serde_json::from_str(line).map_err(|error| {
        // It always says that it is line 1.
        let text = error.to_string();
        text.replace(" at line 1 column ", ", at column ")
    })?;
    let call = CapabilityName::parse(&line.call).map_err(|error| format!("call: {error}"))?;
    let answer = match (line.value, line.error) {
        (Some(value), None) => {
            Ok(Value::read(&value).map_err(|error| format!("value: `{value}`: {error}"))?)
        }
        (None, Some(error)) => Err(Failure::new(FailureKind::CapabilityError, error)),
        _ => return Err("expected one of `value` and `error`".to_owned()),
    };
    Ok((call, answer))
}
