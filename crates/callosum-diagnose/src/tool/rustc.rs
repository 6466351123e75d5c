//! rustc, Clippy, rustdoc and rustfmt: a message, then the place behind an arrow (`--> src/main.rs:2:18`).
//!
//! Cargo's own errors are in [`cargo`](super::cargo), panics and tests in [`cargo_test`](super::cargo_test).

use super::scan::{indent, mentions, mentions_any, number, on_one_line, place, quoted, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of a message before its place.
const MESSAGE: usize = 12;

/// Most lines of one message with its source and notes.
const BLOCK: usize = 120;

/// Reads messages of the compiler and its tools.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("--> ") {
        for at in lines.lines_with(&["error", "warning"]) {
            found.extend(message(lines, at));
        }
    }
    if lines.has(".rs:") {
        short(lines, found);
    }
    if lines.has("Diff in ") {
        differences(lines, found);
    }
}

/// Level, code and message of the first line of a message.
struct Head<'a> {
    is_error: bool,
    code: Option<&'a str>,
    message: &'a str,
}

/// Reads `error[E0308]: text`, `error: text` or `warning: text`.
fn head(line: &str) -> Option<Head<'_>> {
    let (is_error, rest) = match line.strip_prefix("error") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix("warning")?),
    };
    let (code, rest) = match rest.strip_prefix('[') {
        Some(rest) => {
            let (code, rest) = rest.split_once(']')?;
            (Some(code), rest)
        }
        None => (None, rest),
    };
    let message = rest.strip_prefix(": ")?;
    Some(Head {
        is_error,
        code,
        message: message.trim(),
    })
}

/// Whether a file belongs to the toolchain or to a dependency.
pub(super) fn is_external(file: &str) -> bool {
    file.starts_with("/rustc/")
        || mentions_any(
            file,
            &[
                "/.cargo/registry/",
                "\\.cargo\\registry\\",
                "/.cargo/git/",
                "/registry/src/",
                "/lib/rustlib/",
                "/library/std/",
                "/library/core/",
                "/library/alloc/",
                "/library/test/",
            ],
        )
        || file.starts_with("library/")
}

/// Returns the place behind an arrow.
fn arrow(line: &str) -> Option<(&str, u32)> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("--> ").or(rest.strip_prefix("::: "))?;
    place(rest.trim_end())
}

fn message(lines: &[Line], at: usize) -> Option<Finding> {
    let first = text(lines, at);
    let depth = indent(first);
    let head = head(first[depth..].trim_end())?;
    // The place follows at once or after more lines of the message.
    let mut arrow_at = at + 1;
    while text(lines, arrow_at).trim_start().get(..4) != Some("--> ") {
        let line = text(lines, arrow_at);
        if arrow_at - at >= MESSAGE || line.trim().is_empty() || self::head(line).is_some() {
            return None;
        }
        arrow_at += 1;
    }
    let (mut file, mut line) = arrow(text(lines, arrow_at))?;
    let mut last = arrow_at;
    while last + 1 < lines.len()
        && last - at < BLOCK
        && !text(lines, last + 1).trim().is_empty()
        && self::head(&text(lines, last + 1)[indent(text(lines, last + 1))..])
            .is_none_or(|_| indent(text(lines, last + 1)) > depth)
    {
        last += 1;
    }
    let block = || (arrow_at..=last).map(|at| text(lines, at));
    if is_external(file)
        && let Some((project, number)) = block()
            .filter_map(arrow)
            .find(|(file, _)| !is_external(file))
    {
        (file, line) = (project, number);
    }
    let is_clippy = head.code.is_some_and(|code| code.starts_with("clippy::"))
        || block().any(|line| mentions_any(line, &["clippy::", "/rust-clippy/"]));
    let is_manifest = file.ends_with(".toml") || file.ends_with("Cargo.lock");
    let is_format = head.code == Some("internal");
    let (name, severity) = match (is_manifest, is_clippy || is_format, head.is_error) {
        (true, _, true) => ("BuildError", Severity::High),
        (true, _, false) => ("BuildWarning", Severity::Low),
        (_, true, true) => ("LintError", Severity::Medium),
        (_, true, false) => ("LintError", Severity::Low),
        (_, _, true) => ("CompileError", Severity::High),
        (_, _, false) => ("CompileWarning", Severity::Low),
    };
    let whole = if arrow_at > at + 1 {
        let parts: Vec<&str> = std::iter::once(head.message)
            .chain((at + 1..arrow_at).map(|at| text(lines, at)))
            .collect();
        on_one_line(&parts.join(" "))
    } else {
        head.message.to_owned()
    };
    let mut finding = Finding::new(at, last, name, severity, whole).at(file, line);
    finding.code = head
        .code
        .map(str::to_owned)
        .or_else(|| block().find_map(lint).map(str::to_owned));
    finding.module = module(head.message, head.code);
    Some(finding)
}

/// Returns the lint that a note names: `#[warn(unused)]` or `-D clippy::len-zero`.
fn lint(line: &str) -> Option<&str> {
    let note = line.trim_start().strip_prefix("= note: `")?;
    for open in ["#[warn(", "#[deny(", "#[forbid("] {
        if let Some(rest) = note.strip_prefix(open) {
            return rest.split(')').next();
        }
    }
    note.strip_prefix("-D ")
        .or(note.strip_prefix("-W "))?
        .split('`')
        .next()
}

/// Returns what is missing.
fn module(message: &str, code: Option<&str>) -> Option<String> {
    let is_missing = mentions_any(
        message,
        &[
            "unresolved",
            "cannot find",
            "can't find",
            "not found",
            "undeclared",
            "unlinked",
            "no ",
        ],
    );
    if !is_missing && !matches!(code, Some("E0432" | "E0433" | "E0463" | "E0583")) {
        return None;
    }
    // `failed to resolve: use of unresolved module or unlinked crate `serde``
    let name = quoted(message)?;
    let name = match code {
        Some("E0432") => name.split("::").next()?,
        _ => name,
    };
    Some(name.to_owned())
}

/// Reads `src/main.rs:2:22: error[E0425]: text` of `--message-format=short`.
fn short(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[".rs:"]) {
        let line = text(lines, at);
        let Some((before, after)) = line.split_once(".rs:") else {
            continue;
        };
        if before.contains(": ") {
            continue;
        }
        let Some((row, rest)) = number(after) else {
            continue;
        };
        let Some((_, rest)) = rest.strip_prefix(':').and_then(number) else {
            continue;
        };
        let Some(head) = rest.strip_prefix(": ").and_then(head) else {
            continue;
        };
        let (name, severity) = match (head.is_error, mentions(head.message, "clippy::")) {
            (true, true) => ("LintError", Severity::Medium),
            (false, true) => ("LintError", Severity::Low),
            (true, _) => ("CompileError", Severity::High),
            (false, _) => ("CompileWarning", Severity::Low),
        };
        let mut finding =
            Finding::new(at, at, name, severity, head.message).at(&line[..before.len() + 3], row);
        finding.code = head.code.map(str::to_owned);
        finding.module = module(head.message, head.code);
        found.push(finding);
    }
}

/// Reads `Diff in src/main.rs:1:` and `Diff in src/main.rs at line 1:` of rustfmt.
fn differences(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["Diff in "]) {
        let Some(rest) = text(lines, at).strip_prefix("Diff in ") else {
            continue;
        };
        let Some(rest) = rest.trim_end().strip_suffix(':') else {
            continue;
        };
        let place = match rest.rsplit_once(" at line ") {
            Some((file, line)) => line.parse().ok().map(|line| (file, line)),
            None => place(rest),
        };
        let Some((file, line)) = place else { continue };
        let mut last = at;
        while last + 1 < lines.len()
            && matches!(
                text(lines, last + 1).as_bytes().first(),
                Some(b' ' | b'+' | b'-')
            )
        {
            last += 1;
        }
        found.push(
            Finding::new(
                at,
                last,
                "LintError",
                Severity::Medium,
                "the file is not formatted; run cargo fmt",
            )
            .at(file, line),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: the place is the one in the project, and a message of several lines is whole.
    #[test]
    fn messages_name_the_place_in_the_project() {
        let text = "error[E0277]: the trait bound is not met\n   --> /home/a/.cargo/registry/src/x/lib.rs:3:1\n    |\n    ::: src/main.rs:9:2\n";
        assert_eq!(first(read, text), event("CompileError", "src/main.rs", 9));
        let text = "error: one\ntwo\n --> a.rs:1:1\n";
        assert_eq!(findings(read, text)[0].message, "one two");
        let text = "warning: unused manifest key\n --> Cargo.toml:3:1\n";
        assert_eq!(first(read, text), event("BuildWarning", "Cargo.toml", 3));
    }

    /// CAKE-WATCH-1: the missing crate, the lint and the short form are read.
    #[test]
    fn details_of_a_message_are_read() {
        let text = "error[E0433]: failed to resolve: use of unresolved module or unlinked crate `serde_json`\n --> src/main.rs:2:5\n";
        assert_eq!(
            findings(read, text)[0].module.as_deref(),
            Some("serde_json")
        );
        let text = "warning: x\n --> a.rs:1:1\n  |\n  = note: `#[warn(dead_code)]` on by default\n";
        assert_eq!(findings(read, text)[0].code.as_deref(), Some("dead_code"));
        let text = "C:\\x\\src\\main.rs:2:22: error[E0425]: cannot find function `f` in this scope";
        assert_eq!(
            first(read, text),
            event("CompileError", "C:\\x\\src\\main.rs", 2)
        );
        let text = "Diff in /x/src/lib.rs at line 7:\n-a\n+b\n";
        assert_eq!(first(read, text), event("LintError", "/x/src/lib.rs", 7));
    }
}
