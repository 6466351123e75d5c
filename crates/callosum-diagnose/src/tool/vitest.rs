//! Vitest: ` FAIL  file > test`, the error at the start of a line, and frames with `❯`.

use super::{
    js_test::{Failure, LONGEST_FAILURE, test_type},
    node::{header, is_project, missing_module},
    scan::{is_exception, mentions, mentions_any, text},
};
use crate::{Severity, finding::Finding, line::Line};

/// Reads Vitest: ` FAIL  file > test`, the error at the start of a line, and frames with `❯`.
pub(super) fn read_vitest(lines: &[Line], found: &mut Vec<Finding>) {
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
