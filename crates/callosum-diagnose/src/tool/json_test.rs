//! Shapes of JSON that test runners print: `go test -json`, Jest, Vitest, Mocha, RSpec and Rust's libtest.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::{
    go,
    js_test::test_type,
    json::{Document, is_go_event, line_number, list, string},
    node::{is_project, missing_module},
    scan::{bare_class, mentions, named, on_one_line, place},
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads the reports in the documents.
pub(super) fn read(documents: &[Document], found: &mut Vec<Finding>) {
    for document in documents {
        let lines = (document.first, document.last);
        let value = &document.value;
        if value.get("testResults").is_some() {
            jest(value, lines, found);
        } else if value.get("stats").is_some() && value.get("failures").is_some() {
            for failure in list(value, "failures") {
                mocha(failure, lines, found);
            }
        } else if value.get("examples").is_some() {
            rspec(value, lines, found);
        } else if string(value, &["event"]) == Some("failed")
            && string(value, &["type"]) == Some("test")
        {
            libtest(value, lines, found);
        }
    }
}

/// An event of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent<'a> {
    action: &'a str,
    #[serde(borrow, default)]
    package: Cow<'a, str>,
    #[serde(borrow, default)]
    import_path: Cow<'a, str>,
    #[serde(borrow, default)]
    output: Cow<'a, str>,
}

/// Reads `go test -json`: the output of each package is read as plain text.
pub(super) fn read_go(all: &[Line], found: &mut Vec<Finding>) {
    let mut packages: Vec<(Cow<'_, str>, Vec<String>, Vec<usize>)> = Vec::new();
    for (at, line) in all.iter().enumerate() {
        if !is_go_event(line.text()) {
            continue;
        }
        let Ok(event) = serde_json::from_str::<GoEvent<'_>>(line.text()) else {
            continue;
        };
        if !matches!(event.action, "output" | "build-output") {
            continue;
        }
        let package = if event.package.is_empty() {
            event.import_path
        } else {
            event.package
        };
        let output = event.output;
        let index = packages
            .iter()
            .position(|(name, _, _)| *name == package)
            .unwrap_or_else(|| {
                packages.push((package, Vec::new(), Vec::new()));
                packages.len() - 1
            });
        let (_, lines, numbers) = &mut packages[index];
        for part in output.split_inclusive('\n') {
            let text = part.trim_end_matches('\n');
            // One line may be printed in parts.
            match lines.last_mut() {
                Some(last) if last.ends_with('\u{0}') => {
                    last.pop();
                    last.push_str(text);
                }
                _ => {
                    lines.push(text.to_owned());
                    numbers.push(at);
                }
            }
            if !part.ends_with('\n')
                && let Some(last) = lines.last_mut()
            {
                last.push('\u{0}');
            }
        }
    }
    for (_, lines, numbers) in packages {
        let start = found.len();
        let lines: Vec<Line> = lines.into_iter().map(Line::new).collect();
        go::read(&Window::new(&lines), found);
        for finding in &mut found[start..] {
            finding.first = numbers.get(finding.first).copied().unwrap_or_default();
            finding.last = numbers
                .get(finding.last)
                .copied()
                .unwrap_or(finding.first)
                .max(finding.first);
        }
    }
}

/// Returns the first place of the project in a JavaScript stack.
fn stack_place(stack: &str) -> Option<(&str, u32)> {
    stack
        .lines()
        .filter_map(|line| super::node::frame(line).and_then(super::node::Frame::place))
        .find(|(file, _)| is_project(file))
}

/// Reads Jest and Vitest.
fn jest(value: &Value, (first, last): (usize, usize), found: &mut Vec<Finding>) {
    for suite in list(value, "testResults") {
        let file = string(suite, &["name"]);
        let mut has_failed = false;
        for test in list(suite, "assertionResults") {
            if string(test, &["status"]) != Some("failed") {
                continue;
            }
            has_failed = true;
            let Some(message) = list(test, "failureMessages")
                .first()
                .and_then(Value::as_str)
            else {
                continue;
            };
            let text = message.split("\n    at ").next().unwrap_or(message);
            let head = text.lines().next().unwrap_or_default();
            let mut finding = Finding::new(
                first,
                last,
                test_type(head, None),
                Severity::Medium,
                on_one_line(text),
            );
            if let Some((path, line)) = stack_place(message) {
                finding = finding.at(path, line);
            } else if let Some(file) = file {
                finding = finding.at(file, line_number(test, &["location", "line"]));
            }
            finding.test = string(test, &["fullName"]).map(str::to_owned);
            found.push(finding);
        }
        // A file that does not load.
        let message = string(suite, &["message"]).unwrap_or_default();
        if !has_failed && string(suite, &["status"]) == Some("failed") && !message.is_empty() {
            let text: Vec<&str> = message
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with('●'))
                .collect();
            let head = text.first().copied().unwrap_or_default();
            let module = missing_module(head).map(str::to_owned);
            let name = if module.is_some() {
                "DependencyError".into()
            } else {
                test_type(head, None)
            };
            let mut finding = Finding::new(first, last, name, Severity::High, on_one_line(head));
            if let Some((path, line)) = stack_place(message) {
                finding = finding.at(path, line);
            } else if let Some(file) = file {
                finding = finding.at(file, None);
            }
            finding.module = module;
            found.push(finding);
        }
    }
}

fn mocha(failure: &Value, (first, last): (usize, usize), found: &mut Vec<Finding>) {
    let stack = string(failure, &["err", "stack"]).unwrap_or_default();
    let message = string(failure, &["err", "message"]).unwrap_or(stack);
    let head = stack.lines().next().unwrap_or(message);
    let code = string(failure, &["err", "code"]);
    let name = match test_type(head, code) {
        name if name == "TestFailure" && mentions(message, "Timeout of ") => "TestTimeout".into(),
        name => name,
    };
    let mut finding = Finding::new(first, last, name, Severity::Medium, on_one_line(message));
    if let Some((file, line)) = stack_place(stack) {
        finding = finding.at(file, line);
    } else if let Some(file) = string(failure, &["file"]) {
        finding = finding.at(file, None);
    }
    finding.code = code.map(str::to_owned);
    finding.test = string(failure, &["fullTitle"]).map(str::to_owned);
    found.push(finding);
}

fn rspec(value: &Value, (first, last): (usize, usize), found: &mut Vec<Finding>) {
    // Files that do not load are messages in plain text.
    for message in list(value, "messages").iter().filter_map(Value::as_str) {
        let lines: Vec<Line> = message.lines().map(Line::new).collect();
        let start = found.len();
        super::ruby::read(&Window::new(&lines), found);
        for finding in &mut found[start..] {
            (finding.first, finding.last) = (first, last);
        }
    }
    for example in list(value, "examples") {
        if string(example, &["status"]) != Some("failed") {
            continue;
        }
        let class = string(example, &["exception", "class"])
            .and_then(bare_class)
            .unwrap_or_default();
        let is_expectation = matches!(
            class,
            "ExpectationNotMetError"
                | "MockExpectationError"
                | "MultipleExpectationsNotMetError"
                | ""
        );
        let name = if is_expectation {
            "TestFailure".into()
        } else {
            named(class)
        };
        let message = string(example, &["exception", "message"]).unwrap_or_default();
        let location = list(&example["exception"], "backtrace")
            .iter()
            .filter_map(Value::as_str)
            .filter_map(|frame| place(frame.split(":in ").next()?))
            .find(|(file, _)| super::ruby::is_project(file));
        let mut finding = Finding::new(first, last, name, Severity::Medium, on_one_line(message));
        if let Some((file, line)) = location {
            finding = finding.at(file, line);
        } else if let Some(file) = string(example, &["file_path"]) {
            finding = finding.at(file, line_number(example, &["line_number"]));
        }
        finding.test = string(example, &["full_description"]).map(str::to_owned);
        found.push(finding);
    }
}

/// Reads a failed test of Rust's libtest, whose output has the panic.
fn libtest(value: &Value, (first, last): (usize, usize), found: &mut Vec<Finding>) {
    let output = string(value, &["stdout"]).unwrap_or_default();
    let panic = output.split("panicked at ").nth(1).unwrap_or_default();
    let mut parts = panic.lines();
    let location = parts
        .next()
        .and_then(|line| place(line.trim_end_matches(':')));
    let message: Vec<&str> = parts
        .take_while(|line| !line.starts_with("note: "))
        .collect();
    let mut finding = Finding::new(
        first,
        last,
        "TestFailure",
        Severity::Medium,
        on_one_line(&message.join(" ")),
    );
    if let Some((file, line)) = location {
        finding = finding.at(file, line);
    }
    let is_assertion = mentions(panic, "assertion ");
    if !is_assertion && !panic.is_empty() {
        finding.error_type = "Panic".into();
    }
    finding.test = string(value, &["name"]).map(str::to_owned);
    found.push(finding);
}

#[cfg(test)]
mod tests {
    use crate::tool::{
        json,
        scan::tests::{event, findings, first},
    };

    /// CAKE-WATCH-1: packages that test at the same time, and lines in parts, are put together.
    #[test]
    fn go_packages_are_put_together() {
        let text = concat!(
            r#"{"Action":"output","Package":"a","Output":"--- FAIL: TestA (0.00s)\n"}"#,
            "\n",
            r#"{"Action":"output","Package":"b","Output":"ok  \tb\t0.1s\n"}"#,
            "\n",
            r#"{"Action":"output","Package":"a","Output":"    a_test.go:"}"#,
            "\n",
            r#"{"Action":"output","Package":"a","Output":"7: bad\n"}"#,
            "\n",
        );
        assert_eq!(
            first(json::read, text),
            event("TestFailure", "a_test.go", 7)
        );
        let build =
            r#"{"ImportPath":"a","Action":"build-output","Output":"./a.go:3:5: undefined: x\n"}"#;
        assert_eq!(first(json::read, build), event("CompileError", "./a.go", 3));
    }

    /// CAKE-WATCH-1: libtest's report has the place of the panic; a passing report is quiet.
    #[test]
    fn libtest_and_passing_reports_are_read() {
        let text = r#"{ "type": "test", "name": "adds", "event": "failed", "stdout": "thread 'adds' panicked at src/lib.rs:7:5:\nassertion `left == right` failed\n" }"#;
        let finding = &findings(json::read, text)[0];
        assert_eq!(
            (finding.line, finding.test.as_deref()),
            (Some(7), Some("adds"))
        );
        let text = r#"{"numFailedTests":0,"success":true,"testResults":[{"assertionResults":[{"status":"passed"}],"message":"","name":"/w/a.js","status":"passed"}]}"#;
        assert!(findings(json::read, text).is_empty());
    }
}
