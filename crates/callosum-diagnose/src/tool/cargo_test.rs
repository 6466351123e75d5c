//! Rust programs and their tests: panics, libtest's blocks of failures, doctests and cargo-nextest.

use super::{
    rustc::is_external,
    scan::{mentions, mentions_any, on_one_line, place, text},
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of the message of a panic.
const MESSAGE: usize = 40;

/// Starts of messages of panics that no assertion or `panic!` of a test has.
const RUNTIME: &[&str] = &[
    "index out of bounds",
    "called `Option::",
    "called `Result::",
    "attempt to ",
    "already borrowed",
    "already mutably borrowed",
    "RefCell already",
    "not yet implemented",
    "not implemented",
    "internal error: entered unreachable code",
    "slice index starts",
    "range end index",
    "range start index",
    "byte index",
    "start byte index",
    "end byte index",
    "capacity overflow",
    "misaligned pointer",
    "null pointer dereference",
    "explicit panic",
    "removal index",
    "insertion index",
    "swap_remove index",
    "mid > len",
    "cannot access a Thread Local Storage",
    "unsafe precondition",
    "source slice length",
    "copy_from_slice: source",
    "Cannot start a runtime from within a runtime",
    "there is no reactor running",
    "no entry found for key",
];

/// Reads panics and failures of tests.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let has_panic = lines.has("panicked at ") || lines.has("has overflowed its stack");
    let has_test = lines.has(" stdout ----") || lines.has("test result: ") || lines.has("FAILED");
    if has_panic || has_test {
        libtest(lines, found);
    }
    if lines.has("memory allocation of ") || lines.has("fatal runtime error: ") {
        aborts(lines, found);
    }
    if lines.has("Nextest run") || lines.has("Starting ") && lines.has("Summary [") {
        nextest(lines, found);
    }
    if lines.has(" filtered out") {
        found.extend(none_ran(lines));
    }
}

/// A panic with its place.
struct Panic<'a> {
    thread: &'a str,
    file: &'a str,
    line: u32,
    message: String,
    last: usize,
}

/// Reads the panic that starts at a line.
fn panic_at(lines: &[Line], at: usize) -> Option<Panic<'_>> {
    let line = text(lines, at).trim();
    let (thread, rest) = if let Some(rest) = line.strip_prefix("thread '") {
        let (thread, rest) = rest.split_once("' ")?;
        // `thread 'main' (11304) panicked at`
        let rest = match rest.strip_prefix('(') {
            Some(id) => id.split_once(") ")?.1,
            None => rest,
        };
        (thread, rest.strip_prefix("panicked at ")?)
    } else {
        ("", line.strip_prefix("panicked at ")?)
    };
    let mut last = at;
    let (file, row, message) = if let Some(inner) = rest.strip_prefix('\'') {
        // Until 1.72: `panicked at 'text', src/main.rs:3:5`. The text may have several lines.
        let mut whole = inner.to_owned();
        while !mentions(&whole, "', ") && last - at < MESSAGE && last + 1 < lines.len() {
            last += 1;
            whole.push(' ');
            whole.push_str(text(lines, last).trim());
        }
        let message = whole.rsplit_once("', ")?.0.to_owned();
        let (_, spot) = text(lines, last).trim_end().rsplit_once("', ")?;
        let (file, row) = place(spot)?;
        (file, row, message)
    } else {
        let (file, row) = place(rest.strip_suffix(':').unwrap_or(rest))?;
        let mut parts = Vec::new();
        while last + 1 < lines.len() && last - at < MESSAGE {
            let next = text(lines, last + 1).trim();
            if next.is_empty()
                || next.starts_with("note: ")
                || next == "stack backtrace:"
                || next.starts_with("---- ")
                || next.starts_with("test ") && next.contains(" ... ")
            {
                break;
            }
            parts.push(next);
            last += 1;
        }
        (file, row, on_one_line(&parts.join(" ")))
    };
    let mut panic = Panic {
        thread,
        file,
        line: row,
        message,
        last,
    };
    let backtrace = (last + 1..lines.len().min(last + 3))
        .find(|at| text(lines, *at).trim() == "stack backtrace:");
    if let Some(start) = backtrace {
        let mut end = start;
        while end + 1 < lines.len() && text(lines, end + 1).starts_with(' ') {
            end += 1;
        }
        panic.last = end;
        if is_external(file)
            && let Some((file, line)) = (start..=end)
                .filter_map(|at| text(lines, at).trim_start().strip_prefix("at "))
                .filter_map(place)
                .find(|(file, _)| !is_external(file))
        {
            (panic.file, panic.line) = (file, line);
        }
    } else if text(lines, last + 1)
        .trim_start()
        .starts_with("note: run with `RUST_BACKTRACE")
    {
        panic.last = last + 1;
    }
    Some(panic)
}

/// Returns the type of a panic in a test: an assertion's or that of the code.
fn kind_in_test(message: &str) -> &'static str {
    if message.starts_with("assertion ") {
        return "TestFailure";
    }
    if RUNTIME.iter().any(|start| message.starts_with(start)) {
        return "Panic";
    }
    // `expect` prints its text and then the error: `no number: ParseIntError { kind: Empty }`.
    let is_expect = message.match_indices(": ").any(|(at, _)| {
        let error = &message[at + 2..];
        let end = error
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(error.len());
        let (word, rest) = error.split_at(end);
        word.starts_with(|letter: char| letter.is_ascii_uppercase())
            && (rest.starts_with(" { ") && rest.ends_with('}')
                || rest.starts_with('(') && rest.ends_with(')'))
    });
    if is_expect { "Panic" } else { "TestFailure" }
}

/// Whether a test with this name passed, as one that should panic does.
fn has_passed(lines: &[Line], test: &str) -> bool {
    !test.is_empty()
        && lines.iter().any(|line| {
            line.text()
                .strip_prefix("test ")
                .and_then(|rest| rest.strip_prefix(test))
                .is_some_and(|rest| {
                    let rest = rest.trim_end();
                    rest.ends_with("... ok")
                        && (rest.starts_with(" ...") || rest.starts_with(" - should panic"))
                })
        })
}

fn libtest(lines: &[Line], found: &mut Vec<Finding>) {
    let mut block: Option<(usize, &str)> = None;
    let mut is_running = false;
    let mut is_reported = false;
    let mut failed: Vec<(usize, &str)> = Vec::new();
    let start = found.len();
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim();
        if line.starts_with("running ") && (line.ends_with(" test") || line.ends_with(" tests")) {
            is_running = true;
            failed.clear();
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|rest| {
            rest.strip_suffix(" stdout ----")
                .or(rest.strip_suffix(" stderr ----"))
        }) {
            end_block(lines, block, is_reported, found);
            block = Some((at, name));
            is_reported = false;
        } else if line.starts_with("test result: ") {
            is_running = false;
            if line.starts_with("test result: FAILED")
                && found.len() == start
                && !text(lines, at).starts_with(' ')
            {
                // With `--nocapture` and an exit without a panic there are no blocks.
                for (at, name) in &failed {
                    let mut finding = Finding::new(
                        *at,
                        *at,
                        "TestFailure",
                        Severity::Medium,
                        format!("test {name} failed"),
                    );
                    finding.test = Some((*name).to_owned());
                    found.push(finding);
                }
            }
        } else if line == "failures:" {
            end_block(lines, block.take(), is_reported, found);
        } else if let Some(name) = failed_test(line) {
            failed.push((at, name));
        } else if let Some(panic) = panic_at(lines, at) {
            let last = panic.last;
            found.extend(panic_finding(
                lines,
                at,
                &panic,
                block,
                is_running,
                is_reported,
            ));
            is_reported |= block.is_some();
            at = last + 1;
            continue;
        } else if let Some(finding) = overflow(lines, at, line) {
            found.push(finding);
        } else if let Some((_, name)) = block
            && !is_reported
            && let Some(finding) = failure_in_block(at, line, name)
        {
            found.push(finding);
            is_reported = true;
        }
        at += 1;
    }
    end_block(lines, block, is_reported, found);
}

/// Returns the name in `test NAME ... FAILED` and `NAME --- FAILED`.
fn failed_test(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_suffix(" --- FAILED") {
        return Some(name);
    }
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// Reports the block of a test that ended without a reason of its own.
fn end_block(
    lines: &[Line],
    block: Option<(usize, &str)>,
    is_reported: bool,
    found: &mut Vec<Finding>,
) {
    let Some((at, name)) = block else { return };
    // A doctest that does not compile has a message of the compiler.
    let is_compiler =
        (at + 1..lines.len().min(at + 6)).any(|at| text(lines, at).starts_with("error"));
    if is_reported || is_compiler {
        return;
    }
    let reason = (at + 1..lines.len().min(at + 8))
        .map(|at| text(lines, at).trim())
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let mut finding = Finding::new(at, at, "TestFailure", Severity::Medium, on_one_line(reason));
    finding.test = Some(name.to_owned());
    if let Some((file, line)) = doctest_place(name) {
        finding = finding.at(file, line);
    }
    found.push(finding);
}

/// Returns the place in `src/lib.rs - add (line 3)`.
fn doctest_place(name: &str) -> Option<(&str, u32)> {
    let (file, rest) = name.split_once(" - ")?;
    let line = super::scan::between(rest, "(line ", ")")?.parse().ok()?;
    Some((file, line))
}

fn failure_in_block(at: usize, line: &str, name: &str) -> Option<Finding> {
    let (message, spot) =
        if let Some(rest) = line.strip_prefix("note: test did not panic as expected") {
            (
                "test did not panic as expected",
                rest.strip_prefix(" at ").and_then(place),
            )
        } else {
            (line.strip_prefix("Error: ")?, None)
        };
    let mut finding = Finding::new(at, at, "TestFailure", Severity::Medium, message);
    finding.test = Some(name.to_owned());
    Some(match spot {
        Some((file, line)) => finding.at(file, line),
        None => finding,
    })
}

fn panic_finding(
    lines: &[Line],
    at: usize,
    panic: &Panic<'_>,
    block: Option<(usize, &str)>,
    is_running: bool,
    is_reported: bool,
) -> Option<Finding> {
    let nextest = nextest_test(lines, at);
    let is_named_test = panic.thread != "main" && !panic.thread.is_empty() && is_running;
    let test = block
        .map(|(_, name)| name)
        .or(nextest)
        .or_else(|| is_named_test.then_some(panic.thread));
    if block.is_none() && has_passed(lines, panic.thread) {
        return None;
    }
    let is_test = test.is_some() || is_running;
    let (name, severity) = if is_test {
        (kind_in_test(&panic.message), Severity::Medium)
    } else {
        ("Panic", Severity::High)
    };
    let mut finding = Finding::new(at, panic.last, name, severity, panic.message.as_str())
        .at(panic.file, panic.line);
    finding.test = test.map(str::to_owned);
    finding.is_secondary = is_reported && block.is_some();
    Some(finding)
}

/// Reads `thread 'main' has overflowed its stack`.
fn overflow(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let rest = line.strip_prefix("thread '")?;
    let is_overflow = rest.ends_with(" has overflowed its stack");
    let last = if text(lines, at + 1).starts_with("fatal runtime error: ") {
        at + 1
    } else {
        at
    };
    is_overflow.then(|| Finding::new(at, last, "Abort", Severity::High, line))
}

fn aborts(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at).trim();
        if line.starts_with("memory allocation of ") && mentions(line, " bytes failed") {
            found.push(Finding::new(
                at,
                at,
                "OutOfMemory",
                Severity::Critical,
                line,
            ));
        } else if let Some(message) = line.strip_prefix("fatal runtime error: ")
            && !mentions(message, "stack overflow")
        {
            let mut finding = Finding::new(at, at, "Abort", Severity::High, message);
            finding.is_consequence = true;
            found.push(finding);
        }
    }
}

/// Returns the status and test of a line of nextest: `FAIL [   0.010s] (1/2) shop tests::adds`.
fn nextest_status(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (status, rest) = line.split_once(" [")?;
    let status = match status.trim().rsplit_once(' ') {
        // `TRY 2 FAIL`
        Some((_, status)) if line.starts_with("TRY ") => status,
        _ => status.trim(),
    };
    let (time, rest) = rest.split_once(']')?;
    let is_time = time
        .trim_start()
        .starts_with(|letter: char| letter.is_ascii_digit())
        && time.ends_with('s');
    let is_status = matches!(
        status,
        "FAIL" | "FAILED" | "TIMEOUT" | "PASS" | "LEAK-FAIL" | "TMT" | "ABORT" | "XFAIL" | "LEAK"
    ) || status.starts_with("SIG");
    let rest = rest.trim();
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(") ")?.1.trim(),
        None => rest,
    };
    (is_time && is_status).then_some((status, rest))
}

/// Returns the test that nextest shows the output of, from the lines above.
fn nextest_test(lines: &[Line], at: usize) -> Option<&str> {
    for before in (at.saturating_sub(80)..at).rev() {
        let line = text(lines, before);
        if !line.starts_with(' ') && !line.starts_with("---") {
            continue;
        }
        if let Some((status, test)) = nextest_status(line) {
            return (status != "PASS").then_some(test);
        }
        if let Some(rest) = line
            .strip_prefix("--- STDERR:")
            .or(line.strip_prefix("--- STDOUT:"))
        {
            return Some(rest.trim_end_matches('-').trim());
        }
    }
    None
}

fn nextest(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        // The summary repeats them.
        if line.trim_start().starts_with("Summary [") {
            return;
        }
        let Some((status, test)) = nextest_status(line) else {
            continue;
        };
        let (name, severity, word) = match status {
            "PASS" | "XFAIL" | "LEAK" => continue,
            "TIMEOUT" | "TMT" => ("TestTimeout", Severity::Medium, "timed out"),
            "SIGSEGV" | "SIGBUS" => (
                "SegFault",
                Severity::Critical,
                "ended with a segmentation fault",
            ),
            "SIGKILL" => ("OutOfMemory", Severity::Critical, "was killed"),
            _ if status.starts_with("SIG") || status == "ABORT" => {
                ("Abort", Severity::High, "was aborted")
            }
            _ => ("TestFailure", Severity::Medium, "failed"),
        };
        // The panic in the output of this test has the place.
        let has_panic = (at + 1..lines.len())
            .take_while(|next| {
                nextest_status(text(lines, *next)).is_none()
                    && !mentions(text(lines, *next), "Summary [")
            })
            .any(|next| mentions_any(text(lines, next), &["panicked at ", "overflowed its stack"]));
        if has_panic {
            continue;
        }
        let error = (at + 1..lines.len().min(at + 30))
            .map(|at| text(lines, at).trim_start())
            .find_map(|line| line.strip_prefix("Error: "));
        let message = error.map_or_else(|| format!("{test} {word}"), str::to_owned);
        let mut finding = Finding::new(at, at, name, severity, message);
        finding.test = Some(test.to_owned());
        found.push(finding);
    }
}

/// Reports a run in which a filter left no test.
fn none_ran(lines: &[Line]) -> Option<Finding> {
    let mut at_last = None;
    for at in 0..lines.len() {
        let Some(rest) = text(lines, at).strip_prefix("test result: ") else {
            continue;
        };
        if !rest.starts_with("ok. 0 passed; 0 failed; 0 ignored; 0 measured; ") {
            return None;
        }
        if !mentions(rest, "measured; 0 filtered out") {
            at_last.get_or_insert(at);
        }
    }
    at_last.map(|at| {
        Finding::new(
            at,
            at,
            "NoTestsRan",
            Severity::Low,
            "the filter matches no test",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: a panic is read in the forms of all versions, and the project's frame is its place.
    #[test]
    fn panics_are_read_in_all_forms() {
        for text in [
            "thread 'main' panicked at 'no: x', src/main.rs:3:5\n",
            "thread 'main' panicked at src/main.rs:3:5:\nno: x\n",
            "thread 'main' (7) panicked at src/main.rs:3:5:\nno: x\nnote: run with `RUST_BACKTRACE=1`\n",
            "panicked at src/main.rs:3:5:\nno: x\n",
            "thread 'main' panicked at /rustc/abc/library/core/src/option.rs:9:1:\nno: x\nstack backtrace:\n   0: f\n             at /rustc/abc/library/std/src/p.rs:1:1\n   1: g\n             at src/main.rs:3:5\n",
        ] {
            assert_eq!(
                first(read, text),
                event("Panic", "src/main.rs", 3),
                "{text}"
            );
            assert_eq!(findings(read, text)[0].message, "no: x", "{text}");
        }
    }

    /// CAKE-WATCH-1: in a test an assertion is a failure and a panic of the code is one; a test that should panic passes.
    #[test]
    fn panics_of_tests_are_distinguished() {
        let run = |message: &str| {
            format!(
                "running 1 test\n\nfailures:\n\n---- t stdout ----\n\nthread 't' panicked at src/lib.rs:3:5:\n{message}\n\nfailures:\n    t\n\ntest result: FAILED. 0 passed; 1 failed\n"
            )
        };
        for (message, name) in [
            ("assertion failed: x", "TestFailure"),
            ("the sum is wrong", "TestFailure"),
            ("index out of bounds: the len is 0", "Panic"),
            ("no number: ParseIntError { kind: Empty }", "Panic"),
        ] {
            let found = findings(read, &run(message));
            assert_eq!(found.len(), 1, "{message}");
            assert_eq!(found[0].error_type, name, "{message}");
            assert_eq!(found[0].test.as_deref(), Some("t"));
        }
        let passing = "running 2 tests\nthread 'a' panicked at src/lib.rs:2:1:\nx\ntest a - should panic ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n";
        let found = findings(read, passing);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].test.as_deref(), Some("b"));
    }
}
