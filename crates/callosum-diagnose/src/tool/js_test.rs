//! Test runners of JavaScript: what they share, and runs without a test.
//!
//! Each has a file: `jest`, `vitest`, `mocha` and `node_test`.

use std::borrow::Cow;

use super::{
    jest::read_jest,
    mocha::read_mocha,
    node::{error_type, frame, header, is_project},
    node_test::read_node_test,
    scan::{is_exception, mentions, mentions_any, on_one_line, quoted, starts_any, text},
    vitest::read_vitest,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of one failure that are read.
pub(super) const LONGEST_FAILURE: usize = 200;

/// Reads Jest, Vitest, Mocha and `node --test`.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("  ● ") || lines.has("● ") {
        read_jest(lines, found);
    }
    if lines.has("FAIL ") && lines.has("❯") || lines.has("⎯⎯") {
        read_vitest(lines, found);
    }
    if lines.has(" failing") {
        read_mocha(lines, found);
    }
    if lines.has("✖ ") {
        read_node_test(lines, found);
    }
    read_no_tests(lines, found);
}

/// Reads runs that found no test, and coverage below its threshold.
fn read_no_tests(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[
        "No test",
        "Could not find '/",
        "Jest: ",
        "ERROR: Coverage for ",
    ]) {
        let line = text(lines, at);
        if starts_any(
            line,
            &[
                "No tests found, exiting with code ",
                "No test files found, exiting with code ",
            ],
        ) {
            let severity = if line.trim_end().ends_with('0') {
                Severity::Low
            } else {
                Severity::High
            };
            found.push(Finding::new(at, at, "NoTestsRan", severity, line.trim()));
        } else if let Some(file) = line
            .strip_prefix("Could not find '/")
            .and_then(|rest| rest.trim_end().strip_suffix('\''))
        {
            let finding = Finding::new(at, at, "FileNotFoundError", Severity::High, line);
            found.push(finding.at(format!("/{file}"), None));
        } else if line.starts_with("Error: No test files found") {
            let mut finding = Finding::new(at, at, "NoTestsRan", Severity::High, line);
            finding.module = quoted(line).map(str::to_owned);
            found.push(finding);
        } else if (line.starts_with("Jest: ") && mentions(line, "coverage threshold"))
            || (line.starts_with("ERROR: Coverage for ") && mentions(line, "does not meet"))
        {
            found.push(Finding::new(at, at, "CoverageDrop", Severity::High, line));
        }
    }
}

/// A failed test, before it is a finding.
pub(super) struct Failure<'a> {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) name: Cow<'static, str>,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) place: Option<(&'a str, Option<u32>)>,
    pub(super) module: Option<String>,
    pub(super) test: String,
}

impl Failure<'_> {
    pub(super) fn report(self, found: &mut Vec<Finding>) {
        let mut finding = Finding::new(
            self.first,
            self.last,
            self.name,
            self.severity,
            on_one_line(&self.message),
        );
        if let Some((file, line)) = self.place {
            finding = finding.at(file, line);
        }
        finding.module = self.module;
        finding.test = Some(self.test);
        found.push(finding);
    }
}

/// Whether the message is a failed expectation.
pub(super) fn is_expectation(class: &str, message: &str) -> bool {
    matches!(
        class,
        "AssertionError" | "JestAssertionError" | "ExpectationFailed"
    ) || starts_any(message, &["expect(", "assert.", "assert("])
        || (class == "Error" && mentions_any(message, &["expect(", "Snapshot `"]))
}

/// Returns the type of a failed test for the first line of its message.
pub(super) fn test_type(message: &str, code: Option<&str>) -> Cow<'static, str> {
    if mentions_any(
        message,
        &[
            "Exceeded timeout of ",
            "Test timed out in ",
            "test timed out after ",
            "Hook timed out in ",
        ],
    ) || (mentions(message, "Timeout of ") && mentions(message, "ms exceeded"))
    {
        return "TestTimeout".into();
    }
    match header(message.strip_prefix("Uncaught ").unwrap_or(message)) {
        Some(header) if is_expectation(header.class, header.message) => "TestFailure".into(),
        Some(header) if is_exception(header.class) || header.code.is_some() => {
            error_type(header.class, header.code.or(code), header.message)
        }
        Some(header)
            if header.class.len() > 3
                && !header.message.is_empty()
                && !header.class.contains('_') =>
        {
            match header.class {
                "Expected" | "Received" | "Failed" | "Snapshot" | "Timeout" => "TestFailure".into(),
                class => super::scan::named(class),
            }
        }
        _ => "TestFailure".into(),
    }
}

/// Returns the first frame of the project in the lines.
pub(super) fn project_frame(lines: &[Line], from: usize, to: usize) -> Option<(&str, Option<u32>)> {
    (from..to)
        .filter_map(|at| frame(text(lines, at)).and_then(super::node::Frame::place))
        .find(|(file, _)| is_project(file))
        .map(|(file, line)| (file, Some(line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: a type error of ts-jest keeps its class and place.
    #[test]
    fn type_errors_of_ts_jest_are_read() {
        let text = "FAIL src/a.test.ts\n  ● Test suite failed to run\n\n    src/a.test.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'.\n\n    3 const n: number = 'x';\n            ~\n\nTest Suites: 1 failed, 1 total\n";
        assert_eq!(
            first(read, text),
            event("TypeCheckError", "src/a.test.ts", 3)
        );
    }

    /// CAKE-WATCH-1: a failure is reported once, though Jest repeats it in its summary.
    #[test]
    fn repeated_failures_are_reported_once() {
        let block = "FAIL src/a.test.js (5.1 s)\n  ● cart › adds\n\n    Error: card declined\n\n      at pay (src/pay.js:7:9)\n\n";
        let text =
            format!("{block}Summary of all failing tests\n{block}Test Suites: 1 failed, 1 total\n");
        let all = findings(read, &text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].error_type, "Error");
        assert_eq!(all[0].test.as_deref(), Some("cart › adds"));
    }

    /// CAKE-WATCH-1: Vitest's timeouts and unresolved imports are named.
    #[test]
    fn vitest_names_timeouts_and_imports() {
        let text = " FAIL  a.test.ts > waits\nError: Test timed out in 5000ms.\nIf this is a long-running test, pass a timeout.\n ❯ a.test.ts:4:1\n\n⎯⎯⎯⎯[1/1]⎯\n";
        assert_eq!(first(read, text), event("TestTimeout", "a.test.ts", 4));
        let text = " FAIL  a.test.ts [ a.test.ts ]\nError: Failed to resolve import \"./x\" from \"src/a.ts\". Does the file exist?\n  Plugin: vite:import-analysis\n  File: /w/src/a.ts:1:16\n  1  |  import x from './x';\n ❯ TransformPluginContext._formatLog node_modules/vite/dist/node/chunks/x.js:1:2\n\n⎯⎯⎯⎯[1/1]⎯\n";
        let finding = &findings(read, text)[0];
        assert_eq!(
            (
                finding.error_type.as_ref(),
                finding.file.as_deref(),
                finding.line
            ),
            ("DependencyError", Some("src/a.ts"), Some(1))
        );
    }

    /// CAKE-WATCH-1: passing runs that log errors have none.
    #[test]
    fn passing_runs_are_quiet() {
        let text = "  console.error\n    Error: x\n\n      at Object.error (a.test.js:2:11)\n\nPASS ./a.test.js\nTests:       1 passed, 1 total\n";
        assert!(findings(read, text).is_empty());
        assert!(findings(read, "✖ known bug (1.2ms) # TODO\n").is_empty());
    }
}
