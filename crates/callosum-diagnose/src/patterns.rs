//! [`Patterns`]: the patterns that users add for errors of their own tools (Seed CAKE §2, `add_pattern`).

use regex::{Regex, RegexBuilder};

use crate::{
    error_type::{is_class, is_listed},
    event::Severity,
    finding::Finding,
    line::Line,
};

/// Most patterns that are compiled.
const MOST: usize = 100;

/// Longest pattern, in bytes.
const LONGEST: usize = 1_000;

/// Largest compiled pattern, in bytes.
const SIZE: usize = 1 << 20;

/// The reason that a pattern is skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is not a regular expression, or too large a one.
    #[error("pattern {pattern:?} is skipped: {reason}")]
    Invalid {
        /// The pattern as written.
        pattern: String,
        /// The last line of the reason.
        reason: String,
    },
    /// Its type is no name of an error.
    #[error("pattern {pattern:?} is skipped: {name:?} is not the name of an error type")]
    Name {
        /// The pattern as written.
        pattern: String,
        /// The type as written.
        name: String,
    },
    /// There are more patterns than are compiled.
    #[error("pattern {pattern:?} is skipped: at most {MOST} patterns are read")]
    TooMany {
        /// The pattern as written.
        pattern: String,
    },
}

/// Compiled patterns with the types that they report.
///
/// A pattern is tried on one line at a time. Its groups `file`, `line` and `message` fill the event; without them the
/// whole line is the message.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    list: Vec<(Regex, String)>,
}

impl Patterns {
    /// Compiles pairs of a regular expression and a type. A bad one is skipped and returned as an error.
    ///
    /// Cost: about 0.1 ms for each pattern, so call it only if there are some.
    pub fn compile<P, T>(pairs: impl IntoIterator<Item = (P, T)>) -> (Self, Vec<PatternError>)
    where
        P: AsRef<str>,
        T: Into<String>,
    {
        let mut list = Vec::new();
        let mut errors = Vec::new();
        for (pattern, name) in pairs {
            let pattern = pattern.as_ref();
            let name = name.into();
            match compile(pattern, &name, list.len()) {
                Ok(regex) => list.push((regex, name)),
                Err(error) => errors.push(error),
            }
        }
        (Self { list }, errors)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Reads the lines that no reader of a tool has claimed; the first pattern that matches a line reports it.
    pub(crate) fn read(&self, lines: &[Line], claimed: &[bool], found: &mut Vec<Finding>) {
        if self.list.is_empty() {
            return;
        }
        for (at, line) in lines.iter().enumerate() {
            if claimed[at] || line.text().is_empty() {
                continue;
            }
            found.extend(
                self.list
                    .iter()
                    .find_map(|(regex, name)| finding(at, line.text(), regex, name)),
            );
        }
    }
}

fn compile(pattern: &str, name: &str, count: usize) -> Result<Regex, PatternError> {
    let invalid = |reason: &str| PatternError::Invalid {
        pattern: pattern.chars().take(200).collect(),
        reason: reason.to_owned(),
    };
    if count >= MOST {
        return Err(PatternError::TooMany {
            pattern: pattern.to_owned(),
        });
    }
    if !(is_listed(name) || is_class(name)) {
        return Err(PatternError::Name {
            pattern: pattern.to_owned(),
            name: name.to_owned(),
        });
    }
    if pattern.len() > LONGEST {
        return Err(invalid("it is longer than 1,000 bytes"));
    }
    let regex = RegexBuilder::new(pattern)
        .size_limit(SIZE)
        .dfa_size_limit(SIZE)
        .build()
        .map_err(|error| {
            // The reason is on the last line, below the pattern and a caret.
            let text = error.to_string();
            invalid(
                text.lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: "),
            )
        })?;
    if regex.is_match("") {
        return Err(invalid("it matches every line"));
    }
    Ok(regex)
}

fn finding(at: usize, line: &str, regex: &Regex, name: &str) -> Option<Finding> {
    let groups = regex.captures(line)?;
    let group = |name: &str| groups.name(name).map(|found| found.as_str().trim());
    let message = group("message").unwrap_or(line.trim());
    let finding = Finding::new(at, at, name.to_owned(), severity(name), message);
    let row: Option<u32> = group("line").and_then(|row| row.parse().ok());
    if let Some(file) = group("file") {
        return Some(finding.at(file, row));
    }
    let mut finding = finding;
    finding.line = row.filter(|row| *row > 0);
    Some(finding)
}

/// Returns the severity that a type has most often.
fn severity(name: &str) -> Severity {
    match name {
        "SegFault" | "OutOfMemory" | "DiskFull" => Severity::Critical,
        "TestFailure" | "TestTimeout" | "LintError" | "CoverageDrop" => Severity::Medium,
        "CompileWarning" | "BuildWarning" | "DeprecationWarning" | "PhpWarning" => Severity::Low,
        _ => Severity::High,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutputReader, StreamSource};

    fn events(patterns: Patterns, text: &str) -> Vec<crate::ErrorEvent> {
        let mut reader =
            OutputReader::new(StreamSource::Merged, "2026-01-01T00:00:00Z").with_patterns(patterns);
        reader.push(text.as_bytes());
        reader.finish().events
    }

    /// CAKE-WATCH-1: a pattern of a user reports its type, and its groups fill the event.
    #[test]
    fn groups_of_a_pattern_fill_the_event() {
        let (patterns, errors) = Patterns::compile([(
            r"^DEPLOY (?P<file>\S+)@(?P<line>\d+): (?P<message>.+)$",
            "DeployError",
        )]);
        assert_eq!(errors, []);
        let events = events(patterns, "fine\nDEPLOY prod.hcl@7: quota exceeded\n");
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].error_type, "DeployError");
        assert_eq!(events[0].file_path.as_deref(), Some("prod.hcl"));
        assert_eq!(events[0].line_number, Some(7));
        assert_eq!(events[0].message, "quota exceeded");
    }

    /// CAKE-WATCH-1: a line that a tool's reader has claimed is not reported again.
    #[test]
    fn a_claimed_line_is_reported_once() {
        let (patterns, _) = Patterns::compile([("fatal", "MyError")]);
        let events = events(
            patterns,
            "fatal: not a git repository (or any of the parent directories): .git\n",
        );
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].error_type, "GitError");
    }

    /// CAKE-WATCH-1: a bad pattern is skipped and reported, and the others work.
    #[test]
    fn a_bad_pattern_is_skipped_and_reported() {
        let long = "x".repeat(2_000);
        let pairs = [
            ("(", "A1x"),
            ("x*", "B1x"),
            ("ok", "two words"),
            (r"(\w{500}){500}", "C1x"),
            (long.as_str(), "D1x"),
            ("HALT", "HaltError"),
        ];
        let (patterns, errors) = Patterns::compile(pairs);
        assert_eq!(errors.len(), 5);
        assert!(
            errors[0].to_string().contains("unclosed group"),
            "{}",
            errors[0]
        );
        assert_eq!(events(patterns, "HALT now\n")[0].error_type, "HaltError");
        let (_, errors) =
            Patterns::compile((0..150).map(|number| (format!("x{number}"), "MyError")));
        assert_eq!(errors.len(), 50);
    }
}
