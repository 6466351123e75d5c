//! Mocha: `  2 failing`, then a block `  1) title` for each failure.

use super::{
    js_test::{Failure, LONGEST_FAILURE, project_frame, test_type},
    node::{frame, missing_module},
    scan::{between, indent, number, text},
};
use crate::{Severity, finding::Finding, line::Line};

/// Reads Mocha: `  2 failing`, then a block `  1) title` for each failure.
pub(super) fn read_mocha(lines: &[Line], found: &mut Vec<Finding>) {
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
