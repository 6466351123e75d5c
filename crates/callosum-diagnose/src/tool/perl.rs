//! Perl: `message at main.pl line 3.`, at compile time and at run time. Tests in Perl are read by `tap`.

use super::scan::{
    between, ends_any, has_below, mentions, mentions_any, number, reason, starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads messages of `perl`.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[" line "]) {
        found.extend(message(lines, at));
    }
    for at in lines.lines_with(&[
        "Out of memory",
        "Unrecognized switch: -",
        "Can't open perl script ",
    ]) {
        let line = text(lines, at);
        if line.starts_with("Out of memory in perl:") || line == "Out of memory!" {
            found.push(Finding::new(
                at,
                at,
                "OutOfMemory",
                Severity::Critical,
                line,
            ));
        }
        if line.starts_with("Unrecognized switch: -") {
            found.push(Finding::new(at, at, "BuildError", Severity::High, line));
        }
        if let Some(rest) = line.strip_prefix("Can't open perl script ")
            && let Some(file) = between(rest, "\"", "\"")
        {
            found.push(
                Finding::new(at, at, "FileNotFoundError", Severity::High, line).at(file, None),
            );
        }
    }
}

/// Returns the text and place of `text at main.pl line 3.`, with what may follow it.
fn located(line: &str) -> Option<(&str, &str, u32)> {
    let (before, rest) = line.rsplit_once(" line ").and_then(|(before, rest)| {
        // `…, <STDIN> line 5.` counts the lines that were read.
        match before.rsplit_once(", <") {
            Some((inner, handle)) if handle.ends_with('>') => inner.rsplit_once(" line "),
            _ => Some((before, rest)),
        }
    })?;
    let (line, rest) = number(rest)?;
    let is_end = matches!(rest.trim_end(), "." | "")
        || starts_any(
            rest,
            &[", near ", ", at EOF", ", at end of line", ", within "],
        );
    let (message, file) = before.rsplit_once(" at ")?;
    let is_file = file == "-e"
        || file == "-"
        || (!file.contains(' ') && mentions_any(file, &[".pl", ".pm", ".t", ".cgi", ".psgi", "/"]));
    (is_end && is_file && !message.is_empty() && line > 0).then_some((message, file, line))
}

fn message(lines: &Window<'_>, at: usize) -> Option<Finding> {
    let line = text(lines, at);
    if line.starts_with(['#', ' ', '\t', '|']) {
        return None;
    }
    // `near "` may hold the end of the line.
    let (message, file, number) = located(line)?;
    let is_script = mentions_any(file, &[".pl", ".pm", ".cgi", ".psgi"])
        || file == "-e"
        || ends_any(file, &[".t"]);
    if mentions_any(
        message,
        &[
            "BEGIN failed--compilation aborted",
            "compilation errors",
            "Compilation failed in require",
            "Looks like",
        ],
    ) {
        return None;
    }
    let is_warning = is_warning(message);
    let name = kind(message, is_warning);
    // A file without a suffix is a script's only if the message is one of Perl's own.
    if !is_script && !is_warning && name == "Panic" {
        return None;
    }
    // A message before a program died: only with a reason, or as its last words.
    let is_last = (at + 1..lines.len()).all(|at| {
        let line = text(lines, at);
        line.trim().is_empty()
            || starts_any(
                line,
                &["\t", "BEGIN failed", "Compilation failed", "#", " at "],
            )
    });
    // `warn` prints as `die` does, but the program goes on.
    // Perl itself fails after it could not get memory.
    if line.starts_with("panic: ") && lines.has("Out of memory") {
        return None;
    }
    if name == "Panic" && !is_last && !has_below(lines, at, "Dubious, test returned ") {
        return None;
    }
    let is_passed =
        has_below(lines, at, "All tests successful.") || has_below(lines, at, "Result: PASS");
    if !is_warning && is_passed {
        return None;
    }
    let severity = if is_warning {
        Severity::Low
    } else {
        Severity::High
    };
    let text_of = line.split(" (@INC ").next().unwrap_or(message);
    let text_of = if text_of.len() < line.len() {
        text_of
    } else {
        message
    };
    let mut finding = Finding::new(at, at, name, severity, text_of).at(file, number);
    if let Some(file) = between(message, "Cannot detect source of '", "'") {
        return Some(finding.at(file, None));
    }
    if is_library(file)
        && let Some((file, number)) = caller(lines, at)
    {
        finding = finding.at(file, number);
    }
    if let Some(module) = between(message, "Can't locate ", " in @INC") {
        finding.module = Some(module.trim_end_matches(".pm").replace('/', "::"));
    } else if let Some(symbol) = between(message, "Global symbol \"", "\"") {
        finding.module = Some(symbol.to_owned());
    } else if let Some(name) = message.strip_prefix("Undefined subroutine ") {
        finding.module = name
            .split(' ')
            .next()
            .map(|name| name.trim_start_matches('&').to_owned());
    }
    Some(finding)
}

/// Whether a file is one of Perl's own or of an installed module.
fn is_library(file: &str) -> bool {
    mentions_any(
        file,
        &[
            "/usr/share/perl",
            "/usr/lib/x86_64-linux-gnu/perl",
            "/perl5/",
            "/site_perl/",
        ],
    )
}

/// Returns the first place of the project in the lines of a trace (`\tmain::f() called at main.pl line 3`).
fn caller(lines: &[Line], at: usize) -> Option<(&str, u32)> {
    (at + 1..lines.len().min(at + 40))
        .map_while(|at| text(lines, at).strip_prefix('\t'))
        .filter_map(|line| line.rsplit_once(" called at "))
        .filter_map(|(_, place)| place.rsplit_once(" line "))
        .filter(|(file, _)| !is_library(file))
        .find_map(|(file, line)| Some((file, number(line)?.0)))
}

fn is_warning(message: &str) -> bool {
    mentions_any(
        message,
        &[
            "Use of uninitialized value",
            "isn't numeric in",
            "masks earlier declaration",
            "used only once: possible typo",
            "Odd number of elements in",
            "better written as",
            "Useless use of ",
            " redefined",
            "Deep recursion on",
            "Wide character in",
            "Unquoted string ",
            "Statement unlikely to be reached",
            "Found = in conditional",
            "interpreted as function",
            "outside of string",
            "on closed filehandle",
            "on unopened filehandle",
            "is experimental",
            "is deprecated",
            "Possible ",
            "Exiting subroutine via",
            "Negative repeat count",
        ],
    )
}

fn kind(message: &str, is_warning: bool) -> &'static str {
    if is_warning {
        return if mentions(message, "deprecated") {
            "DeprecationWarning"
        } else {
            "CompileWarning"
        };
    }
    if starts_any(
        message,
        &[
            "syntax error",
            "Can't find string terminator",
            "Missing right curly",
            "Unmatched right",
            "Unrecognized character",
            "Number found where",
            "String found where",
            "Bareword found where",
            "Scalar found where",
            "Missing braces",
            "Search pattern not terminated",
            "Substitution ",
            "Operator expected",
        ],
    ) {
        return "SyntaxError";
    }
    if mentions(message, "requires explicit package name")
        || starts_any(
            message,
            &[
                "Bareword \"",
                "Can't modify ",
                "Not enough arguments for",
                "Too many arguments for",
                "Type of arg",
                "Can't redeclare",
                "No such class",
                "Experimental ",
            ],
        )
        || mentions(message, "is not exported by")
    {
        return "CompileError";
    }
    if message.starts_with("Can't continue after import errors") {
        return "CompileError";
    }
    if message.starts_with("Perl v") && mentions(message, " required--this is only ") {
        return "DependencyError";
    }
    if message.starts_with("Cannot detect source of '") {
        return "FileNotFoundError";
    }
    if mentions_any(message, &["Can't locate "]) && mentions(message, "in @INC") {
        return "DependencyError";
    }
    reason(message).unwrap_or("Panic")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: what follows the place, such as a handle, does not hide it.
    #[test]
    fn places_are_read_with_what_follows_them() {
        let text =
            "Use of uninitialized value $x in addition (+) at lib/A.pm line 7, <STDIN> line 3.\n";
        assert_eq!(first(read, text), event("CompileWarning", "lib/A.pm", 7));
        let text = "Can't locate JSON/XS.pm in @INC (you may need to install the JSON::XS module) (@INC contains: /etc/perl) at a.pl line 2.\n";
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("JSON::XS"));
        assert!(
            findings(
                read,
                "The bug is in report.py line 4.\nlook at page two line 3.\n"
            )
            .is_empty()
        );
    }
}
