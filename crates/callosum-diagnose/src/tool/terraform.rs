//! Terraform and OpenTofu: `Error: title`, its place and its text, plain or in a box.

use super::scan::{
    ends_any, mentions, mentions_any, number, on_one_line, quoted, reason, starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of one diagnostic that are read.
const LONGEST: usize = 60;

/// Reads Terraform and OpenTofu.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("Error: ") || lines.has("Warning: ") {
        read_diagnostics(lines, found);
    }
    if lines.has(" has no command named ") {
        for at in lines.lines_with(&[" has no command named "]) {
            let line = text(lines, at);
            if starts_any(
                line,
                &[
                    "Terraform has no command named ",
                    "OpenTofu has no command named ",
                ],
            ) {
                let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, line);
                finding.module = quoted(line).map(str::to_owned);
                found.push(finding);
            }
        }
    }
    for (start, name) in [
        ("Error handling -chdir option: chdir ", "FileNotFoundError"),
        ("No state file was found!", "BuildError"),
        ("Workspace \"", "BuildError"),
    ] {
        for at in lines.lines_with(&[start]) {
            let line = text(lines, at);
            let is_workspace = name != "BuildError"
                || start.ends_with('!')
                || line.trim_end().ends_with("\" doesn't exist.");
            if let Some(rest) = line.strip_prefix(start).filter(|_| is_workspace) {
                let finding = Finding::new(at, at, name, Severity::High, line);
                found.push(
                    match rest
                        .split(": ")
                        .next()
                        .filter(|_| name == "FileNotFoundError")
                    {
                        Some(file) => finding.at(file, None),
                        None => finding,
                    },
                );
            }
        }
    }
}

/// Returns a line without the border of its box.
fn inner(line: &str) -> &str {
    let rest = line
        .strip_prefix('│')
        .or_else(|| line.strip_prefix('|'))
        .unwrap_or(line);
    if rest.len() == line.len() {
        return line;
    }
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// Returns the title of a diagnostic, and whether it is an error.
fn title(line: &str) -> Option<(&str, bool)> {
    let line = inner(line);
    match line.strip_prefix("Error: ") {
        Some(title) => Some((title, true)),
        None => line.strip_prefix("Warning: ").map(|title| (title, false)),
    }
}

/// One diagnostic.
struct Diagnostic {
    first: usize,
    last: usize,
    is_error: bool,
    title: String,
    detail: String,
    place: Option<(String, u32)>,
}

fn read_diagnostics(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let is_named = lines.has("erraform") || lines.has("OpenTofu") || lines.has("tofu ");
    let mut all: Vec<Diagnostic> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((_, is_error)) = title(text(lines, at)) else {
            at += 1;
            continue;
        };
        let is_box = text(lines, at).starts_with('│');
        let diagnostic = diagnostic(lines, at, is_error, is_box);
        let next = diagnostic.last + 1;
        let is_terraform = is_box
            || diagnostic.place.is_some()
            || is_named
            || is_plan(&diagnostic.title)
            || all
                .last()
                .is_some_and(|last| is_plan(&last.title) && last.detail.is_empty());
        if is_terraform {
            add(&mut all, diagnostic);
        }
        at = next;
    }
    for diagnostic in all {
        found.push(finding(lines, diagnostic));
    }
}

fn is_plan(title: &str) -> bool {
    starts_any(
        title,
        &[
            "Failed to load \"",
            "Failed to read variables",
            "Unsupported state file",
            "Saved plan is stale",
        ],
    )
}

/// Adds a diagnostic, or joins it with the one before that it explains.
fn add(all: &mut Vec<Diagnostic>, next: Diagnostic) {
    if let Some(last) = all.last_mut()
        && next.is_error == last.is_error
    {
        // `Error: A`, an empty line, `Error: B`: B is the text of A. Two with the same title are the parts of one.
        let is_text = last.detail.is_empty() && last.place.is_none() && is_plan(&last.title);
        let is_part = last.title == next.title && last.place.is_none();
        if is_text || is_part {
            last.detail.push(' ');
            if is_text {
                last.detail.push_str(&next.title);
            }
            last.detail.push_str(&next.detail);
            last.place = next.place;
            last.last = next.last;
            return;
        }
    }
    if !next
        .title
        .starts_with("Terraform encountered problems during initiali")
    {
        all.push(next);
    }
}

fn diagnostic(lines: &[Line], at: usize, is_error: bool, is_box: bool) -> Diagnostic {
    let (first_title, _) = title(text(lines, at)).unwrap_or_default();
    let mut place = None;
    let mut detail = String::new();
    let mut last = at;
    let mut empty = 0;
    for below in at + 1..lines.len().min(at + LONGEST) {
        let line = text(lines, below);
        if is_box {
            if !line.starts_with('│') {
                break;
            }
        } else if title(line).is_some() {
            break;
        }
        let line = inner(line);
        let trimmed = line.trim();
        if trimmed.is_empty() {
            empty += 1;
            if !is_box && empty > 4 {
                break;
            }
            continue;
        }
        // Without a box a prompt or another tool may follow.
        if !is_box
            && starts_any(
                trimmed,
                &["$ ", "make:", "make[", "##[", "Releasing state lock"],
            )
        {
            break;
        }
        last = below;
        if let Some(rest) = trimmed.strip_prefix("on ")
            && let Some((file, rest)) = rest.split_once(" line ")
            && let Some((line, _)) = number(rest)
            && line > 0
            && !file.starts_with('<')
        {
            place = place.or_else(|| Some((file.to_owned(), line)));
            continue;
        }
        let is_source =
            number(trimmed).is_some_and(|(_, rest)| rest.starts_with(": ") || rest == ":");
        if is_source || trimmed.starts_with("with ") {
            continue;
        }
        // What a function was called with is in a box of its own.
        let trimmed = trimmed.trim_start_matches(['│', '├', '─', ' ']);
        detail.push_str(trimmed);
        detail.push(' ');
    }
    // `… for module "pay" at main.tf:1.`
    if place.is_none()
        && let Some((_, rest)) = detail.rsplit_once(" at ")
        && let Some((file, rest)) = rest.split_once(':')
        && (ends_any(file, &[".tf", ".tofu", ".tf.json"]))
        && let Some((line, _)) = number(rest)
    {
        place = Some((file.to_owned(), line));
    }
    Diagnostic {
        first: at,
        last,
        is_error,
        title: first_title.trim().to_owned(),
        detail,
        place,
    }
}

fn finding(lines: &[Line], diagnostic: Diagnostic) -> Finding {
    let whole = format!("{} {}", diagnostic.title, diagnostic.detail);
    let (name, severity) = if diagnostic.is_error {
        (kind(&diagnostic.title, &whole), Severity::High)
    } else if mentions(&diagnostic.title, "eprecated") {
        ("DeprecationWarning", Severity::Low)
    } else {
        ("BuildWarning", Severity::Low)
    };
    let severity = if name == "DiskFull" {
        Severity::Critical
    } else {
        severity
    };
    // What a local command printed is part of the error.
    let first = if diagnostic.title.starts_with("local-exec") {
        (0..diagnostic.first)
            .find(|at| mentions(text(lines, *at), " (local-exec): "))
            .unwrap_or(diagnostic.first)
    } else {
        diagnostic.first
    };
    let mut finding = Finding::new(
        first,
        diagnostic.last,
        name,
        severity,
        on_one_line(&format!("{}: {}", diagnostic.title, diagnostic.detail)),
    );
    if let Some((file, line)) = diagnostic.place {
        finding = finding.at(file, line);
    } else if name == "FileNotFoundError" {
        let file = whole
            .split(": no such file or directory")
            .next()
            .and_then(|before| before.rsplit(' ').next())
            .filter(|_| mentions(&whole, ": no such file or directory"))
            .or_else(|| super::scan::between(&whole, "variables file ", " does not exist"))
            .or_else(|| quoted(&diagnostic.title))
            .or_else(|| quoted(&diagnostic.detail));
        if let Some(file) = file {
            finding = finding.at(file, None);
        }
    }
    finding.module = module(&whole, name).map(str::to_owned);
    finding
}

/// Returns the type for a title and the whole text.
pub(super) fn kind(title: &str, whole: &str) -> &'static str {
    const SYNTAX: [&str; 27] = [
        "Invalid expression",
        "Argument or block definition required",
        "Unclosed configuration block",
        "Invalid character",
        "Missing newline after",
        "Unbalanced parentheses",
        "Unterminated template string",
        "Invalid block definition",
        "Missing item separator",
        "Missing attribute separator",
        "Missing attribute value",
        "Invalid argument name",
        "Missing key/value separator",
        "Extra characters after",
        "Missing expression",
        "Invalid multi-line string",
        "Unclosed template interpolation",
        "Invalid single-argument block",
        "Unexpected ",
        "Missing close ",
        "Unclosed ",
        "Invalid template interpolation",
        "Invalid attribute name",
        "Missing argument separator",
        "Invalid legacy index syntax",
        "Extra comma",
        "Attribute redefined",
    ];
    const DEPENDENCY: [&str; 20] = [
        "Failed to query available provider packages",
        "Inconsistent dependency lock file",
        "Missing required provider",
        "Required plugins are not installed",
        "Failed to install provider",
        "Module not installed",
        "Could not download module",
        "Failed to download module",
        "Incompatible provider version",
        "Unsupported Terraform Core version",
        "Module not found",
        "Could not load plugin",
        "Failed to resolve provider packages",
        "Invalid provider registry host",
        "Module version requirements",
        "Error accessing remote module registry",
        "Unresolvable module version",
        "Failed to load plugin schemas",
        "Failed to instantiate provider",
        "Error installing provider",
    ];
    if starts_any(title, &SYNTAX) {
        return "SyntaxError";
    }
    if starts_any(title, &DEPENDENCY) {
        return "DependencyError";
    }
    if starts_any(title, &["local-exec provisioner error"]) {
        return if mentions_any(whole, &["exit status 127", "not found"]) {
            "CommandNotFound"
        } else {
            "BuildError"
        };
    }
    if mentions_any(
        whole,
        &[
            "AccessDenied",
            "is not authorized to perform",
            "UnauthorizedOperation",
            "StatusCode: 403",
            "Error 403",
        ],
    ) {
        return "PermissionError";
    }
    if mentions_any(
        title,
        &[
            "Unreadable module directory",
            "Failed to read variables file",
        ],
    ) || mentions_any(
        whole,
        &[
            "no file exists at",
            "no such file or directory",
            "Given variables file",
        ],
    ) {
        return "FileNotFoundError";
    }
    match reason(whole) {
        Some(name @ ("ConnectionError" | "DiskFull" | "PermissionError" | "AddressInUse")) => name,
        _ => "BuildError",
    }
}

/// Returns what is missing: a provider, a variable or a program.
fn module<'a>(whole: &'a str, name: &str) -> Option<&'a str> {
    if name == "DependencyError"
        && let Some(word) = whole
            .split("provider ")
            .filter_map(|rest| rest.split([' ', ':', ',']).next())
            .find(|word| word.contains('/'))
    {
        return Some(word.trim_matches('"'));
    }
    if name == "CommandNotFound" {
        let before = whole.split(": not found").next()?;
        return before.rsplit(' ').next();
    }
    let is_named = starts_any(
        whole,
        &[
            "Reference to undeclared",
            "Unsupported ",
            "No value for",
            "Invalid type specification",
            "Missing required argument",
        ],
    );
    is_named.then(|| quoted(whole)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: a box and plain text are the same error; errors of other tools are not Terraform's.
    #[test]
    fn boxes_and_plain_text_are_read() {
        let plain = "\nError: Reference to undeclared resource\n\n  on net.tf line 9, in resource \"x\" \"y\":\n   9:   a = b.c\n\nA managed resource has not been declared.\n";
        assert_eq!(first(read, plain), event("BuildError", "net.tf", 9));
        let boxed = "╷\n│ Error: Missing item separator\n│ \n│   on net.tf line 9, in locals:\n│    9:   a = [1 2]\n│ \n│ Expected a comma.\n╵\n";
        assert_eq!(first(read, boxed), event("SyntaxError", "net.tf", 9));
        assert!(
            findings(
                read,
                "Error: listen EADDRINUSE\n    at Server (node:net:1:2)\n"
            )
            .is_empty()
        );
    }

    /// CAKE-WATCH-1: a deprecated attribute is a warning.
    #[test]
    fn warnings_are_low() {
        let text = "╷\n│ Warning: Deprecated attribute\n│ \n│   on a.tf line 2, in output \"x\":\n│    2:   v = 1\n╵\n";
        let finding = &findings(read, text)[0];
        assert_eq!(
            (finding.error_type.as_ref(), finding.severity),
            ("DeprecationWarning", Severity::Low)
        );
    }
}
