//! `node --test`: `✖ test (1.2ms)` and the error below it.

use super::{
    jest::jest_message,
    js_test::{Failure, LONGEST_FAILURE, project_frame, test_type},
    node::missing_module,
    scan::{indent, mentions_any, place, quoted, starts_any, text},
};
use crate::{Severity, finding::Finding, line::Line};

/// Reads `node --test`: `✖ test (1.2ms)` and the error below it, in the run or in the list of failures.
pub(super) fn read_node_test(lines: &[Line], found: &mut Vec<Finding>) {
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
