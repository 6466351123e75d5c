//! Test runs that passed: the output of their tests, stack traces included, has no error.

use super::scan::{mentions, number, text};
use crate::line::Line;

/// Lines at the end of a window in which a summary is looked for.
const TAIL: usize = 120;

/// Whether the lines end a run of tests or a build that passed.
///
/// Cost: a look at the start of the last lines. A later command in the same output may fail: then its own error is read,
/// but not a bare stack trace.
pub(super) fn is_passing(lines: &[Line]) -> bool {
    let start = lines.len().saturating_sub(TAIL);
    let mut is_passed = false;
    for at in start..lines.len() {
        let line = text(lines, at).trim();
        match verdict(line) {
            Some(true) => is_passed = true,
            Some(false) => return false,
            None => {}
        }
    }
    is_passed
}

/// Returns the verdict of a summary line, if it is one.
fn verdict(line: &str) -> Option<bool> {
    if line.starts_with("Tests:") || line.starts_with("Tests  ") || line.starts_with("Test Suites:")
    {
        return Some(mentions(line, "passed") && !mentions(line, "failed"));
    }
    if let Some(rest) = line
        .strip_prefix("ℹ fail ")
        .or(line.strip_prefix("# fail "))
    {
        return Some(rest == "0");
    }
    if line.starts_with("OK (")
        || line.ends_with("BUILD SUCCESS")
        || line.starts_with("BUILD SUCCESSFUL")
    {
        return Some(true);
    }
    if line.starts_with("FAILURES!!!")
        || line.ends_with("BUILD FAILURE")
        || line.starts_with("BUILD FAILED")
    {
        return Some(false);
    }
    if line.starts_with("Result: PASS") || line == "All tests successful." {
        return Some(true);
    }
    if line.starts_with("ok  \t") {
        return Some(true);
    }
    if line.starts_with("FAIL\t") || line == "FAIL" {
        return Some(false);
    }
    let (_, rest) = number(line)?;
    if rest.starts_with(" passing") {
        return Some(true);
    }
    if rest.starts_with(" failing") {
        return Some(false);
    }
    if rest.starts_with(" examples, ") || rest.starts_with(" example, ") {
        return Some(mentions(line, ", 0 failures") && !mentions(line, "outside of examples"));
    }
    if rest.starts_with(" runs, ") || rest.starts_with(" tests, ") {
        return Some(mentions(line, " 0 failures, 0 errors"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::lines;

    /// CAKE-WATCH-1: a run passes only by its own summary.
    #[test]
    fn summaries_of_runs_are_read() {
        for passed in [
            "Tests:       1 passed, 1 total",
            "      Tests  3 passed (3)",
            "  5 passing (5ms)",
            "ℹ fail 0",
            "[INFO] BUILD SUCCESS",
            "2 examples, 0 failures",
            "2 runs, 3 assertions, 0 failures, 0 errors, 0 skips",
        ] {
            assert!(is_passing(&lines(passed)), "{passed}");
        }
        for failed in [
            "Tests:       1 failed, 1 passed, 2 total",
            "  5 passing (5ms)\n  1 failing",
            "0 examples, 0 failures, 1 error occurred outside of examples",
            "Error: x",
        ] {
            assert!(!is_passing(&lines(failed)), "{failed}");
        }
    }
}
