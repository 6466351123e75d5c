//! Messages of the Java virtual machine and of the `java` command itself.

use super::scan::{mentions, mentions_any, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads what javac and the JVM print without a place.
pub(super) fn read_virtual_machine(lines: &Window<'_>, found: &mut Vec<Finding>) {
    const WORDS: &[&str] = &[
        "error: ",
        "Error: ",
        "Error opening zip file",
        "Error occurred during initialization of VM",
        "no main manifest attribute, in ",
        "Unrecognized VM option ",
        "Unrecognized option: -",
        "warning: ",
        "A fatal error has been detected by the Java",
        "insufficient memory for the Java",
        "Terminating due to java.lang",
    ];
    for at in lines.lines_with(WORDS) {
        let line = text(lines, at);
        let is_start = matches!(
            line.as_bytes().first(),
            Some(b'e' | b'E' | b'O' | b'J' | b'w' | b'n' | b'#' | b'T' | b'U' | b' ')
        );
        if !is_start {
            continue;
        }
        if let Some(finding) = virtual_machine_message(lines, at, line) {
            found.push(finding);
        }
    }
}

fn virtual_machine_message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let finding = |name: &'static str, severity, message: &str| {
        Finding::new(at, at, name, severity, message.trim())
    };
    if let Some(file) = line.strip_prefix("error: file not found: ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file, None));
    }
    if let Some(file) = line.strip_prefix("Error: Unable to access jarfile ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file, None));
    }
    if let Some(file) = line.strip_prefix("error: source file or directory not found: ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file, None));
    }
    if let Some(file) = line.strip_prefix("Error opening zip file or JAR manifest missing : ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file.trim(), None));
    }
    if let Some(file) = line.strip_prefix("Error: Invalid or corrupt jarfile ") {
        return Some(finding("BuildError", Severity::High, line).at(file, None));
    }
    if line == "Error occurred during initialization of VM" {
        let reason = text(lines, at + 1);
        let is_elsewhere = reason.starts_with("Could not reserve")
            || (at > 0 && text(lines, at - 1).starts_with("Error opening zip"));
        return (!is_elsewhere).then(|| finding("BuildError", Severity::High, reason));
    }
    if let Some(file) = line.strip_prefix("no main manifest attribute, in ") {
        return Some(finding("BuildError", Severity::High, line).at(file, None));
    }
    if starts_any(
        line,
        &[
            "error: invalid flag: ",
            "error: invalid source release",
            "error: invalid target release",
            "error: release version ",
            "error: no source files",
            "error: invalid path for",
            "error: module not found: ",
            "error: source file not found: ",
            "error: could not find class file",
            "Error: Main method not found in class ",
            "Error: Could not create the Java Virtual Machine",
            "Unrecognized VM option ",
            "Unrecognized option: -",
        ],
    ) {
        let is_repeat = line.starts_with("Error: Could not create") && at > 0;
        return (!is_repeat).then(|| finding("BuildError", Severity::High, line));
    }
    if line.starts_with("error: source file not found") {
        return Some(finding("FileNotFoundError", Severity::High, line));
    }
    if let Some(message) = line.strip_prefix("warning: [")
        && line.contains("] ")
    {
        let code = message.split(']').next().map(str::to_owned);
        let mut warning = finding("CompileWarning", Severity::Low, line);
        warning.code = code;
        return Some(warning);
    }
    if let Some((_, message)) = line.split_once(" VM warning: ")
        && starts_any(line, &["OpenJDK ", "Java HotSpot", "Eclipse OpenJ9"])
    {
        let name = if mentions(message, "deprecated") {
            "DeprecationWarning"
        } else {
            "BuildWarning"
        };
        return Some(finding(name, Severity::Low, message));
    }
    if line == "# A fatal error has been detected by the Java Runtime Environment:" {
        let cause = (at + 1..at + 6)
            .map(|at| text(lines, at).trim_start_matches(['#', ' ']))
            .find(|cause| !cause.is_empty())
            .unwrap_or_default();
        let name = if mentions_any(cause, &["SIGSEGV", "EXCEPTION_ACCESS_VIOLATION", "SIGBUS"]) {
            "SegFault"
        } else {
            "Abort"
        };
        return Some(finding(name, Severity::Critical, cause));
    }
    if line.contains("insufficient memory for the Java Runtime Environment")
        || line.starts_with("Terminating due to java.lang.OutOfMemoryError")
        || line.starts_with("Could not reserve enough space for ")
    {
        return Some(finding(
            "OutOfMemory",
            Severity::Critical,
            line.trim_start_matches(['#', ' ']),
        ));
    }
    None
}
