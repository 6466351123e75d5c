//! Test runners of Ruby: RSpec, Minitest and test-unit.

use super::{
    ruby::{LONGEST_FAILURE, frame, is_project, is_ruby_file},
    scan::{
        bare_class, between, class_and_message, indent, mentions, named, number, on_one_line,
        place, place_before, starts_any, text,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Returns the first place of the project in the lines, which begin with `# ` under RSpec.
pub(super) fn project_place(lines: &[Line], from: usize, to: usize) -> Option<(&str, u32)> {
    (from..to)
        .filter_map(|at| frame(text(lines, at)))
        .map(|(file, number, _)| (file, number))
        .find(|(file, _)| is_project(file) && is_ruby_file(file))
}

/// Reads RSpec: failures, files that do not load, and runs without an example.
pub(super) fn read_rspec(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let mut is_pending = false;
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        let trimmed = line.trim_start();
        if line.starts_with("Pending:") {
            is_pending = true;
        } else if line.starts_with("Failures:") {
            is_pending = false;
        } else if line.starts_with("No examples found.") {
            let has_error = lines.has("outside of examples") || lines.has("An error occurred");
            if !has_error {
                found.push(Finding::new(at, at, "NoTestsRan", Severity::Low, line));
            }
        }
        if line.starts_with("All examples were filtered out") {
            found.push(Finding::new(at, at, "NoTestsRan", Severity::Low, line));
        }
        let is_load = line.starts_with("An error occurred while loading ")
            || line.starts_with("An error occurred in a");
        let is_failure =
            indent(line) == 2 && number(trimmed).is_some_and(|(_, rest)| rest.starts_with(") "));
        if !is_load && !is_failure {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < lines.len() && end - at < LONGEST_FAILURE {
            let next = text(lines, end);
            let is_next = (indent(next) == 2
                && number(next.trim_start()).is_some_and(|(_, rest)| rest.starts_with(") ")))
                || starts_any(
                    next,
                    &[
                        "Finished in ",
                        "Failed examples:",
                        "An error occurred ",
                        "No examples found",
                        "Failures:",
                        "Top ",
                    ],
                );
            if is_next {
                break;
            }
            end += 1;
        }
        if !is_pending && let Some(finding) = rspec_failure(lines, at, end, is_load) {
            found.push(finding);
        }
        at = end;
    }
}

fn rspec_failure(lines: &[Line], at: usize, end: usize, is_load: bool) -> Option<Finding> {
    let source = (at..end).find(|at| text(lines, *at).trim_start().starts_with("Failure/Error: "));
    if source.is_none() && !is_load {
        return None;
    }
    let source = source.unwrap_or(at);
    let depth = indent(text(lines, source));
    // The class is as deep as `Failure/Error`, and ends with a colon.
    let class = (source + 1..end).find_map(|at| {
        let line = text(lines, at);
        let name = line.trim().strip_suffix(':')?;
        let class = bare_class(name)?;
        (indent(line) == depth && !name.contains(' ')).then_some((at, class))
    });
    let start = class.map_or(source + 1, |(at, _)| at + 1);
    let mut message = String::new();
    for below in start..end {
        let line = text(lines, below).trim();
        if line.starts_with("# ") {
            break;
        }
        message.push_str(line);
        message.push(' ');
    }
    let is_expectation = class.is_none_or(|(_, class)| {
        matches!(
            class,
            "ExpectationNotMetError" | "MockExpectationError" | "MultipleExpectationsNotMetError"
        )
    });
    let name = match class {
        Some((_, class)) if !is_expectation => named(class),
        _ if is_load => "TestError".into(),
        _ => "TestFailure".into(),
    };
    let severity = if is_load {
        Severity::High
    } else {
        Severity::Medium
    };
    let last = (at..end)
        .rev()
        .find(|at| !text(lines, *at).trim().is_empty())
        .unwrap_or(at);
    let message = on_one_line(&message);
    let mut finding = Finding::new(at, last, name, severity, message.clone());
    let missing = message
        .split("cannot load such file -- ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let parsed = place_before(&message)
        .filter(|(file, _, rest)| is_ruby_file(file) && mentions(rest, "syntax error"));
    if let Some((file, number, _)) = parsed {
        finding = finding.at(file, number);
    } else if let Some((file, number)) = project_place(lines, source + 1, end) {
        finding = finding.at(file, number);
    } else if let Some(file) = missing.filter(|file| file.starts_with('/')) {
        finding = finding.at(file, None);
    }
    finding.module = missing.map(str::to_owned);
    let first = text(lines, at).trim();
    finding.test = first
        .split_once(") ")
        .filter(|_| !is_load)
        .map(|(_, test)| test.to_owned());
    Some(finding)
}

/// Reads Minitest (`  1) Failure:`, Rails' `Failure:`) and test-unit (`Failure: test_x(ShopTest)`).
pub(super) fn read_minitest(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at).trim_end();
        let word = line.trim_start();
        let word = number(word)
            .and_then(|(_, rest)| rest.strip_prefix(") "))
            .unwrap_or(word);
        let (is_error, inline) = match word {
            "Failure:" => (false, None),
            "Error:" => (true, None),
            _ => match (word.strip_prefix("Failure: "), word.strip_prefix("Error: ")) {
                (Some(rest), _) if rest.starts_with("test") => (false, Some(rest)),
                (_, Some(rest)) if rest.starts_with("test") && rest.contains('(') => {
                    (true, Some(rest))
                }
                _ => continue,
            },
        };
        let header = inline.unwrap_or_else(|| text(lines, at + 1).trim());
        let is_test = inline.is_some() || (header.contains('#') && header.ends_with(':'));
        if !is_test {
            continue;
        }
        let start = if inline.is_some() { at + 1 } else { at + 2 };
        let mut end = start;
        while end < lines.len() && end - at < LONGEST_FAILURE {
            let next = text(lines, end);
            let next_word = next.trim_start();
            let is_next = number(next_word).is_some_and(|(_, rest)| rest.starts_with(") "))
                || starts_any(
                    next,
                    &[
                        "Failure:",
                        "Error:",
                        "=====",
                        "bin/rails test",
                        "rails test",
                    ],
                )
                || number(next).is_some_and(|(_, rest)| {
                    rest.starts_with(" runs, ") || rest.starts_with(" tests, ")
                });
            if is_next {
                break;
            }
            end += 1;
        }
        found.push(minitest_failure(lines, (at, start, end), header, is_error));
    }
}

fn minitest_failure(
    lines: &[Line],
    (at, start, end): (usize, usize, usize),
    header: &str,
    is_error: bool,
) -> Finding {
    let last = (at..end)
        .rev()
        .find(|at| !text(lines, *at).trim().is_empty())
        .unwrap_or(at);
    let mut message = String::new();
    let mut head = text(lines, start).trim();
    // test-unit: `Error: test_x(T): KeyError: …`, and the message below the source.
    let is_inline = !header.ends_with(':') && mentions(header, "(");
    if let Some((_, rest)) = header.split_once("): ").filter(|_| is_inline) {
        head = rest;
        message.push_str(rest);
    }
    for below in start..end {
        let line = text(lines, below);
        let trimmed = line.trim();
        if frame(line).is_some_and(|(file, _, _)| is_ruby_file(file)) {
            if is_inline {
                continue;
            }
            break;
        }
        let numbered = trimmed.trim_start_matches(['=', '>', ' ']);
        let is_source =
            is_inline && number(numbered).is_some_and(|(_, rest)| rest.starts_with(':'));
        if is_source || trimmed.starts_with("====") {
            continue;
        }
        message.push_str(trimmed);
        message.push(' ');
    }
    let message = on_one_line(&message);
    let class = class_and_message(head).filter(|_| is_error);
    let name = class.map_or("TestFailure".into(), |(class, _)| named(class));
    let mut finding = Finding::new(
        at,
        last,
        name,
        Severity::Medium,
        class.map_or(message.clone(), |_| message),
    );
    let bracketed = between(header, " [", "]").and_then(place);
    if let Some((file, number)) = bracketed.or_else(|| project_place(lines, start, end)) {
        finding = finding.at(file, number);
    }
    let test = header.split(" [").next().unwrap_or(header);
    finding.test = Some(
        match test.split_once("): ") {
            Some((before, _)) => test.get(..=before.len()).unwrap_or(test),
            None => test,
        }
        .trim_end_matches(':')
        .to_owned(),
    );
    finding
}
