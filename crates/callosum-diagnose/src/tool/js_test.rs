//! Test runners of JavaScript: Jest, Vitest, Mocha and `node --test`.

use std::borrow::Cow;

use super::{
    node::{error_type, frame, header, is_project, missing_module},
    scan::{
        between, indent, is_exception, mentions, mentions_any, number, on_one_line, place, quoted,
        starts_any, text,
    },
    tsc,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of one failure that are read.
const LONGEST_FAILURE: usize = 200;

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
struct Failure<'a> {
    first: usize,
    last: usize,
    name: Cow<'static, str>,
    severity: Severity,
    message: String,
    place: Option<(&'a str, Option<u32>)>,
    module: Option<String>,
    test: String,
}

impl Failure<'_> {
    fn report(self, found: &mut Vec<Finding>) {
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
fn is_expectation(class: &str, message: &str) -> bool {
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
fn project_frame(lines: &[Line], from: usize, to: usize) -> Option<(&str, Option<u32>)> {
    (from..to)
        .filter_map(|at| frame(text(lines, at)).and_then(super::node::Frame::place))
        .find(|(file, _)| is_project(file))
        .map(|(file, line)| (file, Some(line)))
}

/// Reads Jest: `FAIL file`, then a block `  ● test` for each failure.
fn read_jest(lines: &[Line], found: &mut Vec<Finding>) {
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
fn jest_message(lines: &[Line], start: usize, end: usize) -> String {
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

/// Reads Vitest: ` FAIL  file > test`, the error at the start of a line, and frames with `❯`.
fn read_vitest(lines: &[Line], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim_end();
        let is_unhandled = line.starts_with('⎯')
            && mentions_any(line, &["Unhandled ", "Startup Error", "Uncaught Exception"]);
        let name = line.strip_prefix(" FAIL  ");
        if name.is_none() && !is_unhandled {
            at += 1;
            continue;
        }
        // Tests that fail alike are listed one below the other.
        let mut start = at + 1;
        while start < lines.len()
            && (text(lines, start).starts_with(" FAIL  ") || text(lines, start).trim().is_empty())
        {
            start += 1;
        }
        if text(lines, start).starts_with("Vitest caught ") {
            start = (start..lines.len())
                .find(|at| {
                    header(text(lines, *at)).is_some_and(|header| is_exception(header.class))
                })
                .unwrap_or(start);
        }
        let mut end = start;
        while end < lines.len() && end - start < LONGEST_FAILURE {
            let next = text(lines, end);
            if next.starts_with('⎯') || (end > start && next.starts_with(" FAIL  ")) {
                break;
            }
            end += 1;
        }
        if start < end && !text(lines, start).starts_with('⎯') {
            let name = name.unwrap_or("");
            vitest_failure(lines, at, start, end, name, is_unhandled).report(found);
        }
        at = end.max(at + 1);
        if text(lines, at).starts_with('⎯')
            && !mentions_any(text(lines, at), &["Unhandled ", "Failed ", "Uncaught "])
        {
            at += 1;
        }
    }
}

fn vitest_failure<'a>(
    lines: &'a [Line],
    at: usize,
    start: usize,
    end: usize,
    name: &str,
    is_unhandled: bool,
) -> Failure<'a> {
    let message = text(lines, start).trim();
    let is_suite = is_unhandled || (mentions(name, " [ ") && name.trim_end().ends_with(']'));
    let mut place = (start..end)
        .filter_map(|at| text(lines, at).trim_start().strip_prefix("❯ "))
        .filter_map(|frame| super::scan::place(frame.rsplit(' ').next()?))
        .find(|(file, _)| is_project(file))
        .map(|(file, line)| (file, Some(line)));
    let module = missing_module(message).map(str::to_owned);
    let mut kind = test_type(message, None);
    if place.is_none() || mentions(message, "Failed to resolve import ") {
        // `  File: /w/a.ts:1:16` of Vite, `/w/a.ts:2:3: ERROR: …` of esbuild.
        for at in start..end {
            let line = text(lines, at).trim();
            let location = line
                .strip_prefix("File: ")
                .or_else(|| line.split_once(": ERROR: ").map(|(place, _)| place));
            if let Some((file, line)) = location
                .and_then(super::scan::place)
                .filter(|(file, _)| is_project(file))
            {
                place = Some((file, Some(line)));
            }
        }
        if let Some(source) = message
            .split_once("\" from \"")
            .and_then(|(_, from)| from.split('"').next())
        {
            place = Some((source, place.and_then(|(_, line)| line)));
        }
    }
    if module.is_some()
        && let Some((_, rest)) = message.rsplit_once(") in ")
        && let Some(file) = rest.split(". Does ").next()
    {
        place = Some((file, place.and_then(|(_, line)| line)));
    }
    if mentions(message, "Transform failed with ") {
        kind = "SyntaxError".into();
    }
    let own = name
        .split(" > ")
        .next()
        .unwrap_or_default()
        .split(" [ ")
        .next()
        .unwrap_or_default();
    if place.is_none() && !own.is_empty() {
        place = text(lines, at)
            .find(own)
            .map(|from| &text(lines, at)[from..from + own.len()])
            .map(|file| (file, None));
    }
    let last = (at..end)
        .rev()
        .find(|at| !text(lines, *at).trim().is_empty())
        .unwrap_or(at);
    Failure {
        first: at,
        last,
        name: kind,
        severity: if is_suite {
            Severity::High
        } else {
            Severity::Medium
        },
        message: message.to_owned(),
        place,
        module,
        test: name.trim().to_owned(),
    }
}

/// Reads Mocha: `  2 failing`, then a block `  1) title` for each failure.
fn read_mocha(lines: &[Line], found: &mut Vec<Finding>) {
    let Some(summary) = (0..lines.len()).find(|at| {
        let line = text(lines, *at);
        line.starts_with("  ")
            && number(line.trim()).is_some_and(|(_, rest)| rest.trim_end() == " failing")
    }) else {
        return;
    };
    let is_start = |at: usize| {
        let line = text(lines, at);
        indent(line) == 2
            && number(line.trim_start()).is_some_and(|(_, rest)| rest.starts_with(") "))
    };
    let mut at = summary + 1;
    while at < lines.len() {
        if !is_start(at) {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < lines.len() && end - at < LONGEST_FAILURE && !is_start(end) {
            if !text(lines, end).is_empty()
                && !text(lines, end).starts_with(' ')
                && text(lines, end - 1).trim().is_empty()
                && frame(text(lines, end - 1)).is_some()
            {
                break;
            }
            end += 1;
        }
        if let Some(failure) = mocha_failure(lines, at, end) {
            failure.report(found);
        }
        at = end;
    }
}

fn mocha_failure(lines: &[Line], at: usize, end: usize) -> Option<Failure<'_>> {
    // The titles end with a colon.
    let title_end = (at..end.min(at + 12)).find(|at| text(lines, *at).trim_end().ends_with(':'))?;
    let titles: Vec<&str> = (at..=title_end)
        .map(|at| text(lines, at).trim().trim_end_matches(':'))
        .collect();
    let test = titles.join(" ");
    let test = test
        .split_once(") ")
        .map_or(test.as_str(), |(_, test)| test);
    let start = (title_end + 1..end).find(|at| !text(lines, *at).trim().is_empty())?;
    let message = text(lines, start).trim();
    let name = test_type(message, None);
    let mut place = project_frame(lines, start, end);
    if name == "TestTimeout" {
        let file = between(message, "(/", ")").and_then(|inner| {
            let from = message.find(inner)?;
            message.get(from - 1..from + inner.len())
        });
        if let Some(file) = file {
            place = Some((file, None));
        }
    }
    let last = (at..end)
        .rev()
        .find(|at| !text(lines, *at).trim().is_empty())
        .unwrap_or(at);
    let mut whole = message.to_owned();
    for below in start + 1..last.min(start + 8) {
        if frame(text(lines, below)).is_some()
            || text(lines, below).trim().starts_with("+ expected")
        {
            break;
        }
        whole.push(' ');
        whole.push_str(text(lines, below).trim());
    }
    Some(Failure {
        first: at,
        last,
        name,
        severity: Severity::Medium,
        message: whole,
        place,
        module: missing_module(message).map(str::to_owned),
        test: test.to_owned(),
    })
}

/// Reads `node --test`: `✖ test (1.2ms)` and the error below it, in the run or in the list of failures.
fn read_node_test(lines: &[Line], found: &mut Vec<Finding>) {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for at in 0..lines.len() {
        let line = text(lines, at);
        let depth = indent(line);
        let Some(rest) = line.trim_start().strip_prefix("✖ ") else {
            continue;
        };
        let Some((name, time)) = rest.rsplit_once(" (") else {
            continue;
        };
        let time = time.split(')').next().unwrap_or_default();
        if !time.ends_with("ms") || mentions_any(rest, &["# TODO", "# SKIP"]) {
            continue;
        }
        let mut end = at + 1;
        while end < lines.len() && end - at < LONGEST_FAILURE {
            let next = text(lines, end);
            if !next.trim().is_empty() && indent(next) <= depth {
                break;
            }
            end += 1;
        }
        let Some(start) = (at + 1..end).find(|at| !text(lines, *at).trim().is_empty()) else {
            continue;
        };
        let message = text(lines, start).trim();
        let is_file = message == "'test failed'";
        if is_file
            || mentions_any(message, &["subtest failed", "subtests failed"])
            || starts_any(message, &["✖", "✔", "▶"])
        {
            continue;
        }
        let location = at
            .checked_sub(1)
            .and_then(|above| text(lines, above).trim().strip_prefix("test at "))
            .and_then(place)
            .map(|(file, line)| (file, Some(line)));
        let frame = project_frame(lines, start, end);
        if let Some(known) = failures.iter_mut().find(|known| known.test == name) {
            known.place = known.place.or(location);
            continue;
        }
        let code = (start..end).find_map(|at| {
            text(lines, at)
                .trim()
                .strip_prefix("code: ")
                .and_then(quoted)
        });
        let last = (at..end)
            .rev()
            .find(|at| !text(lines, *at).trim().is_empty())
            .unwrap_or(at);
        failures.push(Failure {
            first: at,
            last,
            name: test_type(message.trim_matches('\''), code),
            severity: Severity::Medium,
            message: jest_message(lines, start, end),
            place: frame.or(location),
            module: missing_module(message).map(str::to_owned),
            test: name.to_owned(),
        });
    }
    for failure in failures {
        failure.report(found);
    }
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
