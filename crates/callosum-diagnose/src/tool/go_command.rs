//! Messages of the `go` command about modules and packages, and the last words of a program that it ran.

use super::{
    go::go_package,
    scan::{
        ends_any, mentions, mentions_any, number, place_before, quoted, reason, starts_any, text,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads messages of the `go` command, and the last words of programs.
pub(super) fn read_messages(lines: &Window<'_>, found: &mut Vec<Finding>) {
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
