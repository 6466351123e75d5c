//! Go: the compiler, vet and linters.
//!
//! Panics are in `go_panics`, tests in `go_test`, and messages about modules and packages in `go_command`.

use super::{
    go_command::read_messages,
    go_panics::read_panics,
    go_test,
    scan::{ends_any, mentions_any, number, place_before, starts_any, text},
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads the tools of Go and the programs that they run.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has(".go:") {
        read_places(lines, found);
    }
    if lines.has("goroutine ") || lines.has("DATA RACE") || lines.has("SIGSEGV: ") {
        read_panics(lines, found);
    }
    if lines.has("--- FAIL: ") {
        go_test::read_tests(lines, found);
    }
    if lines.has("\t[no test files]") || lines.has("[no tests to run]") {
        go_test::read_no_tests(lines, found);
    }
    read_messages(lines, found);
}

/// Reads `./main.go:4:14: message` of the compiler, of vet and of linters.
fn read_places(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        let line = line.strip_prefix("vet: ").unwrap_or(line);
        if line.starts_with([' ', '\t']) {
            continue;
        }
        let Some((file, number, message)) = place_before(line) else {
            continue;
        };
        if !ends_any(file, &[".go"])
            || message.is_empty()
            || file.contains(": ")
            || !has_column(line, file)
        {
            continue;
        }
        let mut last = at;
        while text(lines, last + 1).starts_with('\t') {
            last += 1;
        }
        let (name, severity, code) = place_type(message);
        let mut finding = Finding::new(at, last, name, severity, message).at(file, number);
        finding.code = code.map(str::to_owned);
        finding.module = if name == "DependencyError" {
            go_package(message).map(str::to_owned)
        } else {
            message
                .strip_prefix("undefined: ")
                .map(|name| name.split(' ').next().unwrap_or(name).to_owned())
        };
        found.push(finding);
    }
}

/// Whether the place has a column, or the line is one of a tool without columns (`a.go:3: message`).
fn has_column(line: &str, file: &str) -> bool {
    let rest = &line[line.find(file).unwrap_or(0) + file.len()..];
    rest.strip_prefix(':')
        .and_then(number)
        .is_some_and(|(_, rest)| {
            rest.starts_with(": ") || rest.strip_prefix(':').and_then(number).is_some()
        })
}

/// Returns the type, severity and code for a message with a place.
fn place_type(message: &str) -> (&'static str, Severity, Option<&str>) {
    const MODULES: [&str; 12] = [
        "cannot find module providing package",
        "no required module provides package",
        "cannot find package",
        "is not in GOROOT",
        "is not in std",
        "missing go.sum entry",
        "module lookup disabled",
        "is not in your go.mod",
        "ambiguous import",
        "package provided by ",
        "no matching versions",
        "but does not contain package",
    ];
    const VET: [&str; 38] = [
        " format %",
        "fmt.Print",
        "fmt.Sprint",
        "fmt.Fprint",
        "fmt.Errorf",
        "possible formatting directive",
        "possible misuse of",
        "self-assignment of",
        "unreachable code",
        "uses unkeyed fields",
        "struct field tag",
        "struct field ",
        "passes lock by value",
        "copies lock",
        "captured by func literal",
        "result of ",
        "before checking for errors",
        "cancel function",
        "lostcancel",
        "redundant or:",
        "redundant and:",
        "suspect or:",
        "suspect and:",
        "should have signature",
        "impossible type assertion",
        "nil dereference",
        "passes non-pointer",
        "non-test goroutine",
        "has malformed name",
        "wrong signature",
        "unknown identifier",
        "too small for shift",
        "second argument to errors.As",
        "non-constant format string",
        "+build",
        "//go:build",
        "missing a final value",
        "with comparison of function",
    ];
    if mentions_any(message, &MODULES) {
        return ("DependencyError", Severity::High, None);
    }
    // golangci-lint and staticcheck: `message (rule)`.
    if let Some((_, rule)) = message.rsplit_once(" (")
        && let Some(rule) = rule.strip_suffix(')')
        && rule.len() > 2
        && rule.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        if rule == "typecheck" {
            return ("CompileError", Severity::High, Some(rule));
        }
        return ("LintError", Severity::Medium, Some(rule));
    }
    let is_typed = starts_any(
        message,
        &[
            "undefined: ",
            "cannot use ",
            "syntax error",
            "expected ",
            "missing return",
        ],
    );
    if !is_typed && mentions_any(message, &VET) {
        return ("LintError", Severity::Medium, None);
    }
    ("CompileError", Severity::High, None)
}

/// Returns the package that a message of modules names.
pub(super) fn go_package(message: &str) -> Option<&str> {
    for before in [
        "providing package ",
        "provides package ",
        "cannot find package ",
        "package ",
        "module ",
    ] {
        if let Some(at) = message.find(before) {
            let rest = &message[at + before.len()..];
            let word = rest.split([' ', ';', ':', ',']).next()?.trim_matches('"');
            if !word.is_empty() {
                return Some(word);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: messages of the compiler, of vet and of linters differ by their text.
    #[test]
    fn compiler_vet_and_linters_differ() {
        assert_eq!(
            first(read, "a/b.go:3:5: undefined: x\n"),
            event("CompileError", "a/b.go", 3)
        );
        assert_eq!(
            first(read, "vet: ./b.go:3:5: undefined: x\n"),
            event("CompileError", "./b.go", 3)
        );
        for text in [
            "b.go:3:5: Error return value of `f` is not checked (errcheck)\n",
            "b.go:3:5: this value of err is never used (SA4006)\n",
            "# shop\nb.go:3:5: unreachable code\n",
        ] {
            assert_eq!(first(read, text), event("LintError", "b.go", 3), "{text}");
        }
        let text = "main.go:3:8: no required module provides package github.com/x/y; to add it:\n\tgo get github.com/x/y\n";
        assert_eq!(
            findings(read, text)[0].module.as_deref(),
            Some("github.com/x/y")
        );
    }

    /// CAKE-WATCH-1: packages without tests beside tested ones, and logs of a server, are no errors.
    #[test]
    fn passing_runs_and_logs_are_quiet() {
        let text = "ok  \texample.com/a\t0.003s\n?   \texample.com/b\t[no test files]\n";
        assert!(findings(read, text).is_empty());
        let text = "2026/03/02 10:00:00 listening\n2026/03/02 10:00:01 dial tcp: connection refused\n2026/03/02 10:00:02 retrying\n";
        assert!(findings(read, text).is_empty());
        assert!(findings(read, "go: downloading github.com/x/y v1.2.3\n").is_empty());
    }
}
