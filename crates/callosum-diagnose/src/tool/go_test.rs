//! `go test`: failed tests with their log lines, before or after the result, and packages without a test.

use super::scan::{ends_any, indent, mentions, on_one_line, place_before, starts_any, text};
use crate::{Severity, finding::Finding, line::Line};

/// A log line of a test.
struct Log<'a> {
    test: &'a str,
    at: usize,
    file: &'a str,
    line: u32,
    message: &'a str,
}

/// Reads `--- FAIL: TestX` with its log lines, which come after it, or before it under `-v`.
pub(super) fn read_tests(lines: &[Line], found: &mut Vec<Finding>) {
    let mut logs: Vec<Log<'_>> = Vec::new();
    let mut current = "";
    for at in 0..lines.len() {
        let line = text(lines, at);
        let trimmed = line.trim_start();
        let mark = ["=== RUN ", "=== CONT ", "=== NAME ", "=== PAUSE "]
            .iter()
            .find_map(|mark| trimmed.strip_prefix(mark));
        if let Some(name) = mark {
            current = name.trim();
        } else if let Some(name) = result(trimmed) {
            current = name;
        } else if trimmed.len() < line.len()
            && let Some((file, number, message)) = place_before(trimmed)
            && ends_any(file, &[".go"])
            && !file.contains(' ')
            && !current.is_empty()
        {
            logs.push(Log {
                test: current,
                at,
                file,
                line: number,
                message,
            });
        }
    }
    for at in 0..lines.len() {
        let line = text(lines, at);
        let Some(rest) = line.trim_start().strip_prefix("--- FAIL: ") else {
            continue;
        };
        let name = rest.split(' ').next().unwrap_or(rest);
        let depth = indent(line);
        let mut end = at + 1;
        while end < lines.len() && indent(text(lines, end)) > depth {
            end += 1;
        }
        let has_failed_part =
            (at + 1..end).any(|at| text(lines, at).trim_start().starts_with("--- FAIL: "));
        let is_panic = starts_any(text(lines, end), &["panic: ", "fatal error: "]);
        if has_failed_part || is_panic {
            continue;
        }
        let own: Vec<&Log<'_>> = logs.iter().filter(|log| log.test == name).collect();
        let log = own.iter().find(|log| log.at > at).or_else(|| own.first());
        let mut message = log.map_or_else(
            || text(lines, at + 1).trim().to_owned(),
            |log| log.message.to_owned(),
        );
        let start = log.map_or(at, |log| log.at.min(at));
        let mut last = end.saturating_sub(1).max(at);
        if let Some(log) = log {
            if log.message.is_empty() {
                message = testify(lines, log.at + 1);
            }
            last = last.max(log.at);
        } else if name.starts_with("Example") {
            let stop =
                (at + 1..lines.len().min(at + 40)).find(|at| text(lines, *at).starts_with("FAIL"));
            last = stop.map_or(last, |stop| stop - 1);
            message = on_one_line(
                &(at + 1..=last)
                    .map(|at| text(lines, at))
                    .collect::<Vec<_>>()
                    .join(" "),
            );
        }
        let mut finding = Finding::new(start, last, "TestFailure", Severity::Medium, message);
        if let Some(log) = log {
            finding = finding.at(log.file, log.line);
        }
        finding.test = Some(name.to_owned());
        found.push(finding);
    }
}

/// Returns the test of `--- FAIL: TestX (0.00s)`, `--- PASS: …` or `--- SKIP: …`.
fn result(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("--- ")?;
    let (_, rest) = rest.split_once(": ")?;
    rest.split(' ').next()
}

/// Returns the text behind `Error:` in a report of testify.
fn testify(lines: &[Line], from: usize) -> String {
    let mut message = String::new();
    let mut is_error = false;
    for at in from..lines.len().min(from + 20) {
        let line = text(lines, at).trim();
        if let Some(rest) = line.strip_prefix("Error:") {
            is_error = true;
            message.push_str(rest.trim());
        } else if starts_any(line, &["Test:", "Messages:", "Error Trace:", "---", "FAIL"]) {
            if is_error {
                break;
            }
        } else if is_error {
            message.push(' ');
            message.push_str(line);
        }
    }
    message
}

/// Reads packages without tests, if none of the output has one.
pub(super) fn read_no_tests(lines: &[Line], found: &mut Vec<Finding>) {
    let is_run = (0..lines.len()).any(|at| {
        let line = text(lines, at);
        (line.starts_with("ok  \t") && !mentions(line, "[no tests to run]"))
            || starts_any(line, &["FAIL", "--- ", "\tpanic"])
    });
    if is_run {
        return;
    }
    for at in 0..lines.len() {
        let line = text(lines, at);
        let is_empty = (line.starts_with("?   \t") && line.ends_with("[no test files]"))
            || (line.starts_with("ok  \t") && line.ends_with("[no tests to run]"));
        if is_empty {
            found.push(Finding::new(
                at,
                at,
                "NoTestsRan",
                Severity::Low,
                line.replace('\t', " "),
            ));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::{
        go::read,
        scan::tests::{event, findings, first},
    };

    /// CAKE-WATCH-1: under `-v` the log lines come first, and testify's report names its error.
    #[test]
    fn tests_find_their_log_lines() {
        let text = "=== RUN   TestA\n    a_test.go:4: fine\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/case\n    a_test.go:9: bad\n--- FAIL: TestB (0.00s)\n    --- FAIL: TestB/case (0.00s)\nFAIL\n";
        assert_eq!(first(read, text), event("TestFailure", "a_test.go", 9));
        let text = "--- FAIL: TestA (0.00s)\n    a_test.go:12: \n        \tError Trace:\t/w/a_test.go:12\n        \tError:      \tNot equal: \n        \t            \texpected: 4\n        \tTest:       \tTestA\nFAIL\n";
        assert_eq!(findings(read, text)[0].message, "Not equal: expected: 4");
    }
}
