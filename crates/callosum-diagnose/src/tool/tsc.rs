//! The TypeScript compiler: `file(2,3): error TS2322: …`, its pretty form, and errors without a place.

use super::scan::{is_path, number, place, quoted, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads `tsc` and tools that print as it does.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[" TS", "error TS"]) {
        let line = text(lines, at);
        // A test runner that passes a message on indents it, and reads it itself.
        if line.starts_with(' ') {
            continue;
        }
        found.extend(message(lines, at, line));
    }
}

/// Returns the finding of one line.
pub(super) fn message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let (before, after, is_error) = if let Some(after) = line.strip_prefix("error TS") {
        ("", after, true)
    } else if let Some((before, after)) = line.split_once("error TS") {
        (before, after, true)
    } else {
        let (before, after) = line.split_once("warning TS")?;
        (before, after, false)
    };
    let (code, rest) = number(after)?;
    let text = rest.strip_prefix(':')?.trim();
    if code < 1000 || text.is_empty() {
        return None;
    }
    let before = before.trim_end_matches([' ', ':', '-']);
    let before = before.strip_prefix("Error: ").unwrap_or(before);
    let place = place_of(before.trim_start()).filter(|(file, _)| is_path(file));
    if place.is_none() && !before.is_empty() {
        return None;
    }
    let (name, severity) = kind(code);
    let severity = if is_error { severity } else { Severity::Low };
    let mut last = at;
    // Details are indented; the pretty form has the source between empty lines.
    while last + 1 < lines.len() && self::text_at(lines, last + 1).starts_with("  ") {
        last += 1;
    }
    let mut finding = Finding::new(at, last, name, severity, text);
    finding.code = Some(format!("TS{code}"));
    finding.module = match code {
        2307 | 2305 | 2304 | 2552 | 2339 | 2792 | 7016 | 2688 | 2580 | 2582 | 5023 | 5025 => {
            quoted(text).map(str::to_owned)
        }
        _ => None,
    };
    if let Some((file, line)) = place {
        return Some(finding.at(file, line));
    }
    match code {
        6053 | 5083 | 5058 | 5057 | 6231 => finding.error_type = "FileNotFoundError".into(),
        _ => {}
    }
    if matches!(code, 6053 | 5083 | 5058 | 5057 | 18003 | 6231)
        && let Some(file) = quoted(text)
    {
        finding = finding.at(file, None);
    }
    Some(finding)
}

fn text_at(lines: &[Line], at: usize) -> &str {
    text(lines, at)
}

/// Returns the place of `file(2,3)` or `file:2:3`.
fn place_of(before: &str) -> Option<(&str, u32)> {
    if let Some(inner) = before.strip_suffix(')')
        && let Some((file, numbers)) = inner.rsplit_once('(')
    {
        let (line, rest) = number(numbers)?;
        return (rest.starts_with(',') && !file.is_empty()).then_some((file, line));
    }
    place(before)
}

/// Returns the type and severity for a number of a message.
pub(super) fn kind(code: u32) -> (&'static str, Severity) {
    let name = match code {
        17002 | 17008 | 17014 | 17015 | 1000..=1999 => "SyntaxError",
        18003 | 18002 | 5000..=6999 => "BuildError",
        _ => "TypeCheckError",
    };
    (name, Severity::High)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: the plain and the pretty form, and a missing file, name the same parts.
    #[test]
    fn messages_are_read_in_their_forms() {
        for text in [
            "src/a b.ts(7,3): error TS7006: Parameter 'x' implicitly has an 'any' type.",
            "src/a b.ts:7:3 - error TS7006: Parameter 'x' implicitly has an 'any' type.",
            "Error: src/a b.ts:7:3 - error TS7006: Parameter 'x' implicitly has an 'any' type.",
        ] {
            assert_eq!(
                first(read, text),
                event("TypeCheckError", "src/a b.ts", 7),
                "{text}"
            );
        }
        let text = "error TS6053: File 'nope.ts' not found.\n  The file is in the program because:\n    Root file specified for compilation\n";
        assert_eq!(first(read, text), event("FileNotFoundError", "nope.ts", 0));
        let text = "a.ts(1,1): error TS2307: Cannot find module 'zod' or its corresponding type declarations.";
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("zod"));
        assert!(findings(read, "the docs mention error TS2322: a type").is_empty());
    }
}
