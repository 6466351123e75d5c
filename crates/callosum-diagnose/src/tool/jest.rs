//! Jest: `FAIL file`, a block `  ● suite › test` for each failure, and its complaints about its configuration.

use super::{
    js_test::{Failure, LONGEST_FAILURE, project_frame, test_type},
    node::{error_type, frame, header, is_project, missing_module},
    scan::{mentions, number, place, quoted, starts_any, text},
    tsc,
};
use crate::{Severity, finding::Finding, line::Line};

/// Reads Jest: `FAIL file`, then a block `  ● test` for each failure.
pub(super) fn read_jest(lines: &[Line], found: &mut Vec<Finding>) {
    let mut file = None;
    let mut seen: Vec<(String, Option<&str>)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        let trimmed = line.trim_start();
        if let Some(rest) = trimmed.strip_prefix("FAIL ") {
            // A project's name may come first, a time last.
            file = rest
                .split_whitespace()
                .find(|word| word.contains('.') && !word.starts_with('('));
        } else if starts_any(trimmed, &["PASS ", "Test Suites:"]) {
            file = None;
        }
        let Some(name) = line
            .strip_prefix("  ● ")
            .or_else(|| line.strip_prefix("● "))
        else {
            at += 1;
            continue;
        };
        let mut end = at + 1;
        while end < lines.len() && end - at < LONGEST_FAILURE {
            let next = text(lines, end);
            if starts_any(
                next,
                &[
                    "  ● ",
                    "● ",
                    "FAIL ",
                    "PASS ",
                    " FAIL ",
                    " PASS ",
                    "Test Suites:",
                    "Summary of all",
                ],
            ) {
                break;
            }
            end += 1;
        }
        let is_known = seen
            .iter()
            .any(|(known, place)| known == name && *place == file);
        if starts_any(
            name,
            &[
                "Validation Error:",
                "Unrecognized CLI Parameter",
                "Validation Warning:",
            ],
        ) {
            jest_validation(lines, at, end, found);
        } else if !is_known && !name.starts_with("Console") {
            seen.push((name.to_owned(), file));
            if let Some(failure) = jest_failure(lines, at, end, name, file) {
                failure.report(found);
            }
        }
        at = end;
    }
}

fn jest_validation(lines: &[Line], at: usize, end: usize, found: &mut Vec<Finding>) {
    let message = (at + 1..end)
        .map(|at| text(lines, at).trim())
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    if text(lines, at).contains("Validation Warning") {
        found.push(Finding::new(
            at,
            end - 1,
            "BuildWarning",
            Severity::Low,
            message,
        ));
        return;
    }
    let is_missing = mentions(message, "was not found") || mentions(message, " not found");
    let name = if is_missing {
        "DependencyError"
    } else {
        "TestUsageError"
    };
    let mut finding = Finding::new(at, end - 1, name, Severity::High, message);
    if is_missing {
        finding.module = message
            .split_whitespace()
            .nth(1)
            .map(|word| word.trim_matches(['"', '\'', '.', ',']).to_owned());
    }
    found.push(finding);
}

fn jest_failure<'a>(
    lines: &'a [Line],
    at: usize,
    end: usize,
    name: &str,
    file: Option<&'a str>,
) -> Option<Failure<'a>> {
    let is_suite = name.starts_with("Test suite failed to run");
    let mut start = (at + 1..end).find(|at| !text(lines, *at).trim().is_empty())?;
    // The reason of a file that does not parse comes last.
    let details = (start..end).find(|at| text(lines, *at).trim() == "Details:");
    if let Some(details) = details {
        start = (details + 1..end).find(|at| !text(lines, *at).trim().is_empty())?;
    }
    let message = text(lines, start).trim();
    let own_file = file.map(|file| (file.strip_prefix("./").unwrap_or(file), None));
    let frame = project_frame(lines, start, end);
    let last = (at..end)
        .rev()
        .find(|at| !text(lines, *at).trim().is_empty())
        .unwrap_or(at);
    let mut failure = Failure {
        first: at,
        last,
        name: test_type(message, None),
        severity: if is_suite {
            Severity::High
        } else {
            Severity::Medium
        },
        message: jest_message(lines, start, end),
        place: frame.or(own_file),
        module: missing_module(message).map(str::to_owned),
        test: name.trim().to_owned(),
    };
    let is_plain = failure.name == "TestFailure"
        && header(message).is_none()
        && !starts_any(
            message,
            &[
                "expect(", "thrown: ", "assert.", "assert(", "Expected", "Snapshot", "Failed",
            ],
        );
    if is_plain {
        // Jest prints an `Error` without its class.
        failure.name = error_type("Error", None, message);
    }
    if !is_suite {
        return Some(failure);
    }
    if details.is_some()
        && let Some((file, line)) = place(message)
        && let Some(error) =
            (start..end).find(|at| text(lines, *at).trim().starts_with("SyntaxError: "))
    {
        failure.name = "SyntaxError".into();
        text(lines, error).trim().clone_into(&mut failure.message);
        failure.place = Some((file, Some(line)));
        return Some(failure);
    }
    if let Some(finding) =
        (start..end).find_map(|at| tsc::message(lines, at, text(lines, at).trim()))
    {
        failure.name = finding.error_type;
        failure.message = finding.message;
        let line = (start..end).find(|at| {
            mentions(text(lines, *at), "error TS") || mentions(text(lines, *at), "TS")
        })?;
        let location = text(lines, line).trim().split(" - ").next().and_then(place);
        failure.place = location
            .map(|(file, line)| (file, Some(line)))
            .or(failure.place);
        return Some(failure);
    }
    if let Some(rest) = jest_message(lines, start, end)
        .split("Could not locate module ")
        .nth(1)
    {
        failure.module = rest.split(' ').next().map(str::to_owned);
        failure.name = "DependencyError".into();
        return Some(failure);
    }
    if failure.module.is_some() {
        failure.name = "DependencyError".into();
        let source = message
            .rsplit_once(" from ")
            .and_then(|(_, from)| quoted(from));
        if let Some(source) = source {
            failure.place = match frame {
                Some((file, line)) if source.ends_with(file) || file.ends_with(source) => {
                    Some((file, line))
                }
                _ => Some((source, pointed_line(lines, start, end))),
            };
        }
    } else if let Some(rest) = message.strip_prefix("SyntaxError: ") {
        failure.name = "SyntaxError".into();
        let line = rest
            .rsplit_once('(')
            .and_then(|(_, place)| number(place))
            .map(|(line, _)| line);
        let named = rest
            .split_once(": ")
            .map(|(file, _)| file)
            .filter(|file| file.contains('.') && !file.contains(' '));
        if let Some(file) = named {
            failure.place = Some((file, line.or_else(|| pointed_line(lines, start, end))));
        } else if let Some(location) = (start..end)
            .filter_map(|at| place(text(lines, at).trim()))
            .find(|(file, _)| is_project(file))
        {
            failure.place = Some((location.0, Some(location.1)));
        }
    } else if mentions(message, "must contain at least one test") {
        failure.name = "NoTestsRan".into();
    }
    Some(failure)
}

/// Returns the line that a code frame points at (`> 4 | …`).
fn pointed_line(lines: &[Line], from: usize, to: usize) -> Option<u32> {
    (from..to).find_map(|at| {
        let rest = text(lines, at).trim_start().strip_prefix('>')?;
        let (line, rest) = number(rest.trim_start())?;
        rest.trim_start().starts_with('|').then_some(line)
    })
}

/// Returns the lines of a message up to the source or the stack.
pub(super) fn jest_message(lines: &[Line], start: usize, end: usize) -> String {
    let mut message = String::new();
    for at in start..end.min(start + 16) {
        let line = text(lines, at);
        let trimmed = line.trim();
        let is_source = trimmed.starts_with('>')
            || number(trimmed).is_some_and(|(_, rest)| rest.trim_start().starts_with('|'));
        if frame(line).is_some() || is_source {
            break;
        }
        message.push_str(trimmed);
        message.push(' ');
    }
    message
}
