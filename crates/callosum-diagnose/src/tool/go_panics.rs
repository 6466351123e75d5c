//! Panics, data races and crashes of Go programs, with the place of the project in their traces.

use super::scan::{ends_any, mentions, mentions_any, place, starts_any, text};
use crate::{Severity, finding::Finding, line::Line};

/// Lines of a panic's goroutines that are read.
const LONGEST_TRACE: usize = 400;

/// Whether a file of a frame is the project's.
fn is_project(function: &str, file: &str) -> bool {
    let is_library = starts_any(
        function,
        &[
            "runtime.",
            "testing.",
            "panic(",
            "created by testing.",
            "created by runtime.",
            "created by time.",
        ],
    ) || mentions_any(
        file,
        &["/pkg/mod/", "/src/runtime/", "/src/testing/", "/vendor/"],
    ) || file.ends_with("_testmain.go")
        || (mentions(file, "/go")
            && mentions(file, "/src/")
            && starts_any(
                file,
                &[
                    "/usr/",
                    "/opt/",
                    "/snap/",
                    "C:/Program Files/Go",
                    "/root/sdk/",
                    "/nix/",
                ],
            ))
        || mentions(file, "/hostedtoolcache/")
        || mentions(file, "/sdk/go");
    !is_library
}

/// Returns the first place of the project in the goroutines from a line on, and the last line of the first goroutine.
fn trace(lines: &[Line], from: usize) -> (Option<(&str, u32)>, usize, bool) {
    let mut found = None;
    let mut last = from;
    let mut is_test = false;
    let mut is_first = true;
    let mut has_goroutine = false;
    for at in from..lines.len().min(from + LONGEST_TRACE) {
        let line = text(lines, at);
        if line.starts_with("goroutine ") {
            is_first &= !has_goroutine;
            has_goroutine = true;
        }
        if line.is_empty() && !is_first && found.is_some() {
            break;
        }
        is_test |= mentions(line, "testing.tRunner(") || line.starts_with("testing.");
        if let Some(rest) = line.strip_prefix('\t')
            && let Some((file, number)) = rest.split(" +0x").next().and_then(place)
            && at > 0
        {
            let function = text(lines, at - 1);
            if found.is_none() && ends_any(file, &[".go"]) && is_project(function, file) {
                found = Some((file, number));
            }
        } else if starts_any(line, &["exit status ", "FAIL"]) {
            break;
        }
        last = at;
        if found.is_some() && line.is_empty() {
            break;
        }
    }
    (found, last, is_test)
}

/// Reads panics, fatal errors of the runtime and data races.
pub(super) fn read_panics(lines: &[Line], found: &mut Vec<Finding>) {
    // A test may recover from a panic and print it.
    if super::passing::is_passing(lines) {
        return;
    }
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        let message = line
            .strip_prefix("panic: ")
            .or_else(|| line.strip_prefix("fatal error: "))
            .or_else(|| line.starts_with("SIGSEGV: ").then_some(line));
        if line == "WARNING: DATA RACE" {
            let place = (at..lines.len().min(at + 40)).find_map(|at| {
                let (file, number) = text(lines, at)
                    .trim()
                    .split(" +0x")
                    .next()
                    .and_then(place)?;
                is_project(text(lines, at - 1).trim(), file).then_some((file, number))
            });
            let finding = Finding::new(at, at + 1, "Panic", Severity::High, "data race");
            found.push(match place {
                Some((file, number)) => finding.at(file, number),
                None => finding,
            });
            at += 1;
            continue;
        }
        let Some(message) = message else {
            at += 1;
            continue;
        };
        let has_goroutine = (at + 1..lines.len().min(at + 30))
            .any(|at| starts_any(text(lines, at), &["goroutine ", "runtime stack:"]));
        if !has_goroutine {
            at += 1;
            continue;
        }
        let (place, last, is_in_test) = trace(lines, at + 1);
        let is_test = is_in_test
            || (at.saturating_sub(3)..at)
                .any(|at| text(lines, at).trim_start().starts_with("--- FAIL: "));
        let message = message.split(" [recovered]").next().unwrap_or(message);
        let (name, severity) = if message.starts_with("test timed out after ") {
            ("TestTimeout", Severity::Medium)
        } else if message.starts_with("runtime: out of memory")
            || message.starts_with("runtime: cannot allocate memory")
        {
            ("OutOfMemory", Severity::Critical)
        } else if message.starts_with("SIGSEGV: ") {
            ("SegFault", Severity::Critical)
        } else if is_test {
            ("Panic", Severity::Medium)
        } else {
            ("Panic", Severity::High)
        };
        let mut finding = Finding::new(at, last.max(at), name, severity, message);
        if let Some((file, number)) = place {
            finding = finding.at(file, number);
        }
        finding.test = (at.saturating_sub(3)..at).rev().find_map(|at| {
            let rest = text(lines, at).trim_start().strip_prefix("--- FAIL: ")?;
            rest.split(' ').next().map(str::to_owned)
        });
        found.push(finding);
        at = last.max(at) + 1;
    }
}
