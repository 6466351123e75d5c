//! Go: the compiler, vet and linters, modules, panics and `go test`.

use super::{
    go_test,
    scan::{
        ends_any, mentions, mentions_any, number, place, place_before, quoted, reason, starts_any,
        text,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of a panic's goroutines that are read.
const LONGEST_TRACE: usize = 400;

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
fn go_package(message: &str) -> Option<&str> {
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
fn read_panics(lines: &[Line], found: &mut Vec<Finding>) {
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

/// Reads messages of the `go` command, and the last words of programs.
fn read_messages(lines: &Window<'_>, found: &mut Vec<Finding>) {
    const WORDS: &[&str] = &[
        "go: ",
        ": unknown command",
        "stat ",
        "package ",
        "flag provided but not defined: ",
        "no required module provides ",
        "no Go files in ",
        "named files must be .go files",
        "no go files listed",
        "runtime.main_main",
        "missing go.sum entry",
        "malformed module path",
        "module declares its path",
        "cannot find module providing ",
        "found packages ",
    ];
    let mut starts = lines.lines_with(WORDS);
    // The last words of a program are above `exit status 1`, or at the end of the output.
    let exits = lines.lines_with(&["exit status "]);
    starts.extend(exits.iter().filter_map(|at| at.checked_sub(1)));
    starts.extend(lines.len().saturating_sub(2)..lines.len());
    starts.sort_unstable();
    starts.dedup();
    for at in starts {
        let line = text(lines, at);
        let Some(first) = line.as_bytes().first() else {
            continue;
        };
        let finding = match first {
            b'g' if line.starts_with("go: ") => go_message(lines, at, &line[4..]),
            b'g' if line.starts_with("go ") && line.ends_with(": unknown command") => {
                let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, line);
                finding.module = line[3..].split(':').next().map(str::to_owned);
                Some(finding)
            }
            b's' if line.starts_with("stat ") => line
                .strip_prefix("stat ")
                .and_then(|rest| {
                    rest.strip_suffix(": no such file or directory")
                        .or_else(|| rest.strip_suffix(": directory not found"))
                })
                .filter(|file| ends_any(file, &[".go"]) || !file.contains(' '))
                .map(|file| {
                    Finding::new(at, at, "FileNotFoundError", Severity::High, line).at(file, None)
                }),
            b'p' if line.starts_with("package ") => package_message(lines, at, line),
            b'f' if line.starts_with("flag provided but not defined: ") => {
                let usage = text(lines, at + 1);
                let name = if mentions(usage, ".test") {
                    "TestUsageError"
                } else {
                    "BuildError"
                };
                let is_go = usage.to_ascii_lowercase().starts_with("usage");
                is_go.then(|| Finding::new(at, at, name, Severity::High, line))
            }
            b'n' if starts_any(
                line,
                &[
                    "no required module provides package ",
                    "no Go files in ",
                    "named files must be .go files",
                    "no go files listed",
                ],
            ) =>
            {
                let name = if line.starts_with("no required") {
                    "DependencyError"
                } else {
                    "BuildError"
                };
                let mut finding = Finding::new(at, at, name, Severity::High, line);
                finding.module = line
                    .strip_prefix("no required module provides package ")
                    .and_then(|rest| rest.split([';', ' ']).next())
                    .map(str::to_owned);
                Some(finding)
            }
            b'r' if line.starts_with("runtime.main_main") => {
                Some(Finding::new(at, at, "LinkError", Severity::High, line))
            }
            b'm' if starts_any(
                line,
                &[
                    "missing go.sum entry",
                    "malformed module path",
                    "module declares its path",
                ],
            ) =>
            {
                Some(Finding::new(
                    at,
                    at,
                    "DependencyError",
                    Severity::High,
                    line,
                ))
            }
            b'\t' if mentions(line, ": cannot find module providing package ") => {
                let mut finding =
                    Finding::new(at, at, "DependencyError", Severity::High, line.trim());
                finding.module = line.trim().split(": ").next().map(str::to_owned);
                Some(finding)
            }
            b'f' if line.starts_with("found packages ") && mentions(line, ".go) ") => {
                Some(Finding::new(at, at, "BuildError", Severity::High, line))
            }
            _ => last_words(lines, at, line),
        };
        found.extend(finding);
    }
}

/// Returns the finding of `go: message`.
fn go_message(lines: &[Line], at: usize, message: &str) -> Option<Finding> {
    let new = |name: &'static str| Finding::new(at, at, name, Severity::High, message);
    if message.starts_with("errors parsing ") {
        let below = text(lines, at + 1);
        let (file, number, text) = place_before(below)?;
        let mut finding =
            Finding::new(at, at + 1, "BuildError", Severity::High, text).at(file, number);
        finding.last = at + 1;
        return Some(finding);
    }
    if message.starts_with("go.mod file not found") {
        return Some(new("FileNotFoundError").at("go.mod", None));
    }
    if message.starts_with("cannot find main module") {
        return Some(new("BuildError"));
    }
    if let Some(warning) = message.strip_prefix("warning: ") {
        return Some(Finding::new(at, at, "BuildWarning", Severity::Low, warning));
    }
    if message.starts_with("no such tool") || mentions(message, ": unknown command") {
        let mut finding = new("CommandNotFound");
        finding.module = quoted(message).map(str::to_owned);
        return Some(finding);
    }
    let is_dependency = mentions_any(
        message,
        &[
            "module lookup disabled",
            "unknown revision",
            "invalid version",
            "no matching versions",
            "404 Not Found",
            "410 Gone",
            "missing go.sum entry",
            "updates to go.mod needed",
            "inconsistent vendoring",
            "checksum mismatch",
            "requires go >= ",
            "cannot find module providing",
            "no required module provides",
            "not found in ",
            "does not contain package",
            "unrecognized import path",
            "module requires Go",
            "verifying module",
            "reading https://",
            "could not read Username",
            "is not a known dependency",
            "module declares its path as",
            "malformed module path",
        ],
    );
    if is_dependency {
        let mut finding = new("DependencyError");
        let word = message
            .split([' ', ';'])
            .next()
            .unwrap_or_default()
            .trim_end_matches(':');
        let named = if word.contains(['/', '@', '.']) {
            Some(word)
        } else {
            go_package(message)
        };
        finding.module = named.map(str::to_owned);
        return Some(finding);
    }
    if let Some(name @ ("DiskFull" | "ConnectionError")) = reason(message) {
        let mut finding = new(name);
        if name == "DiskFull" {
            finding.severity = Severity::Critical;
        }
        return Some(finding);
    }
    let is_failure = starts_any(
        message,
        &[
            "error ",
            "cannot ",
            "unsupported ",
            "no packages",
            "go.mod ",
            "invalid ",
            "unknown ",
            "-",
        ],
    );
    is_failure.then(|| new("BuildError"))
}

/// Returns the finding of `package x: message`, or of an import cycle.
fn package_message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    if text(lines, at + 1).starts_with("\timports ") {
        let mut last = at + 1;
        while text(lines, last + 1).starts_with("\timports ") {
            last += 1;
        }
        let end = text(lines, last);
        let message = end.rsplit_once(": ").map_or(end, |(_, message)| message);
        let name = if mentions(end, "import cycle") || mentions(end, "internal package") {
            "CompileError"
        } else {
            "DependencyError"
        };
        let mut finding = Finding::new(at, last, name, Severity::High, message);
        finding.module = end
            .trim()
            .strip_prefix("imports ")
            .and_then(|rest| rest.split(':').next())
            .map(str::to_owned);
        return Some(finding);
    }
    let (package, message) = line["package ".len()..].split_once(": ")?;
    if package.contains(' ') {
        return line
            .contains("is not in GOROOT")
            .then(|| Finding::new(at, at, "DependencyError", Severity::High, line));
    }
    let name = if mentions_any(message, &["no Go files", "build constraints exclude"]) {
        "BuildError"
    } else if mentions_any(
        message,
        &["cannot find package", "is not in", "no required module"],
    ) {
        "DependencyError"
    } else {
        return None;
    };
    let mut finding = Finding::new(at, at, name, Severity::High, message);
    finding.module = Some(package.to_owned());
    Some(finding)
}

/// Returns the finding of the line with which a program of Go ends: a message of `log`, or the line before `exit status 1`.
fn last_words(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let is_end = text(lines, at + 1).starts_with("exit status ");
    let logged = log_message(line);
    if !is_end {
        let is_json = starts_any(
            line,
            &["json: cannot unmarshal ", "unexpected end of JSON input"],
        );
        let rest = logged.or(is_json.then_some(line))?;
        let is_alone =
            lines.len() <= at + 2 && (0..at).all(|at| log_message(text(lines, at)).is_none());
        let is_last = (at + 1..lines.len()).all(|at| text(lines, at).trim().is_empty());
        return (is_alone && is_last)
            .then(|| program_error(at, rest))
            .flatten();
    }
    program_error(at, logged.unwrap_or(line))
}

/// Returns the message behind `2026/11/28 19:24:11 `.
fn log_message(line: &str) -> Option<&str> {
    let (year, rest) = number(line)?;
    let (_, rest) = number(rest.strip_prefix('/')?)?;
    let (_, rest) = number(rest.strip_prefix('/')?)?;
    let (_, rest) = number(rest.strip_prefix(' ')?)?;
    let (_, rest) = number(rest.strip_prefix(':')?)?;
    let (_, rest) = number(rest.strip_prefix(':')?)?;
    let rest = match rest.strip_prefix('.') {
        Some(rest) => number(rest)?.1,
        None => rest,
    };
    (year > 1000).then_some(rest.strip_prefix(' ')?)
}

/// Returns the finding of a message whose reason is known.
fn program_error(at: usize, message: &str) -> Option<Finding> {
    let is_json = starts_any(
        message,
        &[
            "invalid character '",
            "unexpected end of JSON input",
            "json: ",
        ],
    ) || mentions_any(
        message,
        &[
            ": invalid character '",
            "unexpected end of JSON input",
            "json: cannot unmarshal",
        ],
    );
    if is_json {
        return Some(Finding::new(
            at,
            at,
            "JSONParseError",
            Severity::High,
            message,
        ));
    }
    if mentions(message, "executable file not found in $PATH") {
        let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, message);
        finding.module = quoted(message).map(str::to_owned);
        return Some(finding);
    }
    let name = reason(message)?;
    let severity = if name == "DiskFull" {
        Severity::Critical
    } else {
        Severity::High
    };
    let finding = Finding::new(at, at, name, severity, message);
    if !matches!(name, "FileNotFoundError" | "PermissionError" | "DiskFull") {
        return Some(finding);
    }
    // `open shop.toml: no such file or directory`.
    let before = message
        .rsplit_once(": ")
        .map_or(message, |(before, _)| before);
    let call = before.rsplit(": ").next().unwrap_or(before);
    let file = call.split_once(' ').map(|(_, file)| file.trim_matches('"'));
    Some(match file.filter(|file| !file.contains(' ')) {
        Some(file) => finding.at(file, None),
        None => finding,
    })
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
