//! pytest: failures, errors while collecting and at setup, usage, coverage and runs without tests.

use std::borrow::Cow;

use super::{
    python_traceback::{is_projects, missing_name},
    scan::{bare_class, class_and_message, named, on_one_line, place_before, quoted, text},
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads pytest, pytest-cov and coverage.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let start = found.len();
    if lines.has(" FAILURES ") || lines.has(" ERRORS ") {
        read_sections(lines, found);
    }
    if lines.has("conftest '") {
        read_conftest(lines, found);
    }
    if found.len() == start && (lines.has("FAILED ") || lines.has("ERROR ")) {
        read_summary(lines, found);
    }
    if lines.has("ERROR: ") || lines.has(": error: ") {
        read_usage(lines, found);
    }
    if lines.has("overage") {
        read_coverage(lines, found);
    }
    if found.len() == start {
        read_empty_run(lines, found);
    }
}

/// Returns the words of a heading such as `==== FAILURES ====` or `____ test_a ____`.
fn heading(line: &str, mark: char) -> Option<&str> {
    let inner = line.trim_matches(mark);
    let is_drawn = line.len() >= inner.len() + 2
        && line.starts_with(mark)
        && line.ends_with(mark)
        && inner.len() > 2
        && inner.starts_with(' ')
        && inner.ends_with(' ');
    is_drawn.then(|| inner.trim())
}

/// Reads the parts under `FAILURES` and `ERRORS`.
fn read_sections(lines: &[Line], found: &mut Vec<Finding>) {
    let mut section: Option<bool> = None;
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        if let Some(words) = heading(line, '=') {
            section = match words {
                "FAILURES" => Some(true),
                "ERRORS" => Some(false),
                _ => None,
            };
            at += 1;
            continue;
        }
        if section.is_none() {
            at += 1;
            continue;
        }
        let Some(name) = heading(line, '_') else {
            if let Some(finding) = short_failure(lines, at) {
                found.push(finding);
            }
            at += 1;
            continue;
        };
        let end = (at + 1..lines.len())
            .find(|&below| {
                let line = text(lines, below);
                heading(line, '_').is_some()
                    || heading(line, '=').is_some()
                    || line.starts_with("!!!!!!")
            })
            .unwrap_or(lines.len());
        read_part(lines, (at, end), name, found);
        at = end;
    }
}

/// Reads `--tb=line`: `/a/test_x.py:3: assert 1 == 2` right under the heading.
fn short_failure(lines: &[Line], at: usize) -> Option<Finding> {
    let line = text(lines, at);
    let (file, number, message) = place_before(line)?;
    if !file.ends_with(".py") || line.starts_with([' ', 'E', '>']) {
        return None;
    }
    let (name, severity) = match class_and_message(message) {
        Some((class, _)) if !matches!(class, "AssertionError" | "Failed") => {
            (named(class), Severity::Medium)
        }
        _ => (Cow::Borrowed("TestFailure"), Severity::Medium),
    };
    Some(Finding::new(at, at, name, severity, on_one_line(message)).at(file, number))
}

/// A place in a part: `path:line: rest`.
struct Place<'a> {
    file: &'a str,
    line: u32,
    /// The class after it, which the innermost place of an exception has.
    class: Option<&'a str>,
    at: usize,
}

/// Reads the part of one test, from its heading to the next.
fn read_part(lines: &[Line], (first, end): (usize, usize), name: &str, found: &mut Vec<Finding>) {
    let is_collecting = name.starts_with("ERROR collecting ");
    let test = name
        .strip_prefix("ERROR at setup of ")
        .or_else(|| name.strip_prefix("ERROR at teardown of "))
        .or_else(|| name.strip_prefix("ERROR collecting "))
        .unwrap_or(name);
    let mut severity = if is_collecting {
        Severity::High
    } else {
        Severity::Medium
    };
    let captured = (first..end)
        .find(|&at| {
            heading(text(lines, at), '-').is_some_and(|words| words.starts_with("Captured"))
        })
        .unwrap_or(end);
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut reason: Option<(&str, usize)> = None;
    let mut exceptions: Vec<(&str, &str, usize)> = Vec::new();
    let mut links = Vec::new();
    for at in first + 1..captured {
        let line = text(lines, at);
        if let Some(detail) = line
            .strip_prefix('E')
            .filter(|detail| detail.starts_with(' '))
        {
            let detail = detail.trim();
            if let Some((class, message)) = class_and_message(detail)
                && !detail.contains(" = ")
            {
                exceptions.push((class, message, at));
            }
            if let Some(frame) = detail.strip_prefix("File \"")
                && let Some((file, number)) = frame.split_once("\", line ")
                && let Ok(number) = number.trim().parse::<u32>()
            {
                places.push(Place {
                    file,
                    line: number,
                    class: Some("SyntaxError"),
                    at,
                });
            }
            if reason.is_none_or(|(_, before)| before + 1 < at && !is_more(lines, before, at)) {
                reason = Some((detail, at));
            }
        } else if line.contains("The above exception was the direct cause")
            || line.contains("During handling of the above exception")
        {
            links.push(at);
        } else if let Some(rest) = line.strip_prefix("file ")
            && let Some((file, number)) = rest.split_once(", line ")
            && let Ok(number) = number.trim().parse::<u32>()
        {
            places.push(Place {
                file,
                line: number,
                class: None,
                at,
            });
        } else if !line.starts_with([' ', '>', '\t'])
            && let Some((file, number, rest)) = place_before(line)
            && !file.contains(' ')
            && (file.ends_with(".py") || file.starts_with('<'))
        {
            let class = bare_class(rest.trim()).filter(|_| !rest.contains(' '));
            places.push(Place {
                file,
                line: number,
                class,
                at,
            });
        }
    }
    if places.is_empty() && (first..captured).any(|at| text(lines, at).contains("Traceback (most"))
    {
        // `--tb=native`: the reader of tracebacks takes it.
        return;
    }
    // Exceptions that led to the last one.
    let last_link = links.last().copied();
    for link in &links {
        let before = places
            .iter()
            .rev()
            .find(|place| place.at < *link && place.class.is_some());
        if let Some(place) = before {
            let class = place.class.unwrap_or_default();
            let mut cause = Finding::new(
                place.at,
                place.at,
                test_type(class),
                severity,
                exceptions
                    .iter()
                    .rev()
                    .find(|(_, _, at)| at < link)
                    .map_or("", |(_, message, _)| message),
            )
            .at(place.file, place.line);
            cause.is_secondary = true;
            found.push(cause);
        }
    }
    let own = |at: usize| last_link.is_none_or(|link| at > link);
    let exception = exceptions.iter().rev().find(|(_, _, at)| own(*at));
    let exception = exception.copied();
    let place = places
        .iter()
        .rev()
        .filter(|place| own(place.at))
        .find(|place| is_projects(place.file));
    let shown = place.and_then(|place| place.class);
    let class = match (shown, exception) {
        (Some("Failed"), _) => Some("Failed"),
        (Some(class), _) => Some(class),
        // Of a frame in a library the class is behind its own place.
        (None, _) => places
            .iter()
            .rev()
            .find_map(|place| place.class)
            .or(exception.map(|(class, _, _)| class)),
    };
    let message = match (exception, reason) {
        (Some((_, message, _)), _) if !message.is_empty() => message,
        (_, Some((detail, _))) => detail,
        _ => text(lines, first + 1),
    };
    let all = reason.map_or("", |(detail, _)| detail);
    let mut missing = None;
    let error_type: Cow<'static, str> = if let Some(fixture) = all
        .strip_prefix("fixture ")
        .filter(|rest| rest.contains("not found"))
    {
        missing = quoted(fixture).map(str::to_owned);
        Cow::Borrowed("TestError")
    } else if message.starts_with("Timeout >") || message.starts_with("Timeout (>") {
        Cow::Borrowed("TestTimeout")
    } else {
        match class {
            Some(class) => test_type(class),
            None if is_collecting => Cow::Borrowed("TestError"),
            None => Cow::Borrowed("TestFailure"),
        }
    };
    if matches!(&*error_type, "MemoryError") {
        severity = Severity::Critical;
    }
    let mut finding = Finding::new(
        first,
        end.saturating_sub(1),
        error_type,
        severity,
        on_one_line(message),
    );
    if let Some(place) = place {
        finding = finding.at(place.file, place.line);
    } else if let Some(file) = file_of_summary(lines, end, test) {
        finding = finding.at(file, None);
    } else if is_collecting {
        finding = finding.at(test, None);
    }
    finding.module =
        missing.or_else(|| exception.and_then(|(class, message, _)| missing_name(class, message)));
    finding.test = Some(test.to_owned());
    found.push(finding);
}

/// Whether the lines between two `E` lines are part of one message.
fn is_more(lines: &[Line], from: usize, to: usize) -> bool {
    (from..to).all(|at| text(lines, at).starts_with('E'))
}

/// Returns the type of an exception in a test.
fn test_type(class: &str) -> Cow<'static, str> {
    match class {
        "AssertionError" | "Failed" | "DocTestFailure" => Cow::Borrowed("TestFailure"),
        class => named(class),
    }
}

/// Returns the file that the short summary names for a test.
fn file_of_summary<'a>(lines: &'a [Line], from: usize, test: &str) -> Option<&'a str> {
    let name = test.rsplit('.').next().unwrap_or(test);
    (from..lines.len()).find_map(|at| {
        let line = text(lines, at);
        let rest = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "))?;
        let (file, id) = rest.split_once("::")?;
        let id = id.split(" - ").next().unwrap_or(id);
        (id.ends_with(name) && file.ends_with(".py")).then_some(file)
    })
}

/// Reads `ImportError while loading conftest`.
fn read_conftest(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["while loading conftest '"]) {
        let line = text(lines, at);
        let Some((class, rest)) = line.split_once(" while loading conftest '") else {
            continue;
        };
        let end = (at + 1..lines.len().min(at + 60))
            .find(|&below| text(lines, below).is_empty())
            .unwrap_or(lines.len().min(at + 60));
        let mut place = None;
        let mut exception = None;
        for below in at + 1..end {
            let line = text(lines, below);
            if let Some(detail) = line.strip_prefix("E ") {
                exception = exception.or_else(|| class_and_message(detail.trim()));
            } else if let Some((file, number, _)) = place_before(line)
                && is_projects(file)
                && !line.starts_with(' ')
            {
                place = Some((file, number));
            }
        }
        let Some((class, message)) = exception.or_else(|| Some((bare_class(class)?, rest))) else {
            continue;
        };
        let mut finding = Finding::new(
            at,
            end.saturating_sub(1),
            named(class),
            Severity::High,
            on_one_line(message),
        );
        let (file, number) = place.map_or_else(
            || (rest.split('\'').next().unwrap_or(rest), None),
            |(file, number)| (file, Some(number)),
        );
        finding = finding.at(file, number);
        finding.module = missing_name(class, message);
        found.push(finding);
    }
}

/// Reads `FAILED path::test - reason` of a run without tracebacks (`--tb=no`).
fn read_summary(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let is_pytest = lines
        .lines_with(&["short test summary info"])
        .into_iter()
        .any(|at| {
            heading(text(lines, at), '=').is_some_and(|words| words == "short test summary info")
        });
    for at in lines.lines_with(&["FAILED ", "ERROR "]) {
        let line = text(lines, at);
        let (is_error, rest) = match line.strip_prefix("FAILED ") {
            Some(rest) => (false, rest),
            None => match line.strip_prefix("ERROR ") {
                Some(rest) => (true, rest),
                None => continue,
            },
        };
        let (id, reason) = rest.split_once(" - ").unwrap_or((rest, ""));
        let (file, test) = id.split_once("::").unwrap_or((id, ""));
        if !file.ends_with(".py") || file.contains(' ') || (test.is_empty() && !is_pytest) {
            continue;
        }
        let error_type = match class_and_message(reason) {
            Some((class, _)) => test_type(class),
            None if is_error => Cow::Borrowed("TestError"),
            None => Cow::Borrowed("TestFailure"),
        };
        let severity = if is_error && test.is_empty() {
            Severity::High
        } else {
            Severity::Medium
        };
        let mut finding =
            Finding::new(at, at, error_type, severity, on_one_line(reason)).at(file, None);
        finding.test = (!test.is_empty()).then(|| test.to_owned());
        found.push(finding);
    }
}

/// Reads errors of the command line and of the configuration.
fn read_usage(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["ERROR: ", ": error: "]) {
        let line = text(lines, at);
        if let Some(rest) = line.strip_prefix("ERROR: ") {
            let path = ["file or directory not found: ", "not found: "]
                .iter()
                .find_map(|start| rest.strip_prefix(start));
            if let Some(path) = path {
                let file = path.split("::").next().unwrap_or(path);
                found.push(
                    Finding::new(at, at, "TestUsageError", Severity::High, on_one_line(rest))
                        .at(file.trim(), None),
                );
            } else if let Some((file, message)) = rest.split_once(": ")
                && (file.ends_with("pytest.ini")
                    || file.ends_with("pyproject.toml")
                    || file.ends_with("setup.cfg")
                    || file.ends_with("tox.ini"))
            {
                let (file, number) = match file.rsplit_once(':') {
                    Some((file, number)) => (file, number.parse().ok()),
                    None => (file, None),
                };
                found.push(
                    Finding::new(
                        at,
                        at,
                        "TestUsageError",
                        Severity::High,
                        on_one_line(message),
                    )
                    .at(file, number),
                );
            }
        } else if let Some((program, message)) = line.split_once(": error: ")
            && program.ends_with("pytest")
        {
            let first = if at > 0 && text(lines, at - 1).contains("usage:") {
                at - 1
            } else {
                at
            };
            found.push(Finding::new(
                first,
                at,
                "TestUsageError",
                Severity::High,
                on_one_line(message),
            ));
        }
    }
}

/// Reads a coverage below its limit.
fn read_coverage(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let at = lines.lines_with(&["overage"]).into_iter().find(|&at| {
        let line = text(lines, at);
        line.starts_with("FAIL Required test coverage of ")
            || line.starts_with("Coverage failure: ")
            || line.starts_with("ERROR: Coverage failure: ")
    });
    if let Some(at) = at {
        let message = on_one_line(text(lines, at));
        found.push(Finding::new(
            at,
            at,
            "CoverageDrop",
            Severity::High,
            message,
        ));
    }
}

/// Reads a run in which no test ran, which pytest ends with 5.
fn read_empty_run(lines: &[Line], found: &mut Vec<Finding>) {
    let tail = lines.len().saturating_sub(5);
    for at in tail..lines.len() {
        let line = text(lines, at);
        let words = heading(line, '=').unwrap_or(line);
        let Some((counts, time)) = words.rsplit_once(" in ") else {
            continue;
        };
        let is_time = time
            .trim_end_matches(')')
            .split(' ')
            .next()
            .is_some_and(|time| {
                time.strip_suffix('s')
                    .is_some_and(|seconds| seconds.parse::<f64>().is_ok())
            });
        let ran_none = counts == "no tests ran"
            || counts
                .split(", ")
                .all(|count| count.ends_with(" deselected") || count.contains(" warning"));
        if is_time && ran_none {
            found.push(Finding::new(
                at,
                at,
                "NoTestsRan",
                Severity::High,
                on_one_line(words),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: short and native tracebacks and runs without any are read.
    #[test]
    fn each_style_of_tracebacks_is_read() {
        let short = "=== FAILURES ===\n___ test_a ___\ntest_a.py:3: in test_a\n    assert f() == 2\nE   assert 1 == 2\nE    +  \
                     where 1 = f()\n=== short test summary info ===\nFAILED test_a.py::test_a - assert 1 == 2\n";
        assert_eq!(first(read, short), event("TestFailure", "test_a.py", 3));
        let line =
            "=== FAILURES ===\n/s/test_a.py:3: assert 1 == 2\n=== short test summary info ===\n";
        assert_eq!(first(read, line), event("TestFailure", "/s/test_a.py", 3));
        let none = "F\n=== short test summary info ===\nFAILED a/test_a.py::T::test_b - KeyError: 'x'\n1 failed in 0.1s\n";
        assert_eq!(first(read, none), event("KeyError", "a/test_a.py", 0));
        assert_eq!(findings(read, none)[0].test.as_deref(), Some("T::test_b"));
    }

    /// CAKE-WATCH-1: a run that passed is quiet.
    #[test]
    fn a_run_that_passed_is_quiet() {
        for text in [
            "....   [100%]\n4 passed in 0.02s\n",
            "=== 4 passed, 1 deselected in 0.02s ===\n",
            "test_a.py::test_errors PASSED\nERRORS found: 0\n",
        ] {
            assert!(findings(read, text).is_empty(), "{text}");
        }
    }
}
