//! Linters and type checkers of Python: mypy, pyright, ruff, flake8, pylint, bandit, black and isort.

use super::scan::{number, on_one_line, place_before, quoted, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads their text formats; JSON and SARIF are read elsewhere.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[".py"]) {
        let line = text(lines, at);
        if !line.contains(".py") {
            continue;
        }
        let finding = ruff_full(lines, at)
            .or_else(|| placed(line, at))
            .or_else(|| pyright(line, at))
            .or_else(|| formatter(lines, at))
            .or_else(|| annotation(line, at))
            .or_else(|| bandit(lines, at));
        found.extend(finding);
    }
}

/// Whether a path is a file of Python.
fn is_python(file: &str) -> bool {
    [".py", ".pyi", ".ipynb", ".pyx"]
        .iter()
        .any(|end| file.ends_with(end))
        && !file.starts_with(['>', '|', '-', '+', '#', '"', '\''])
}

/// Reads `file:line[:column]: …` of mypy, flake8, pylint and ruff's concise form.
fn placed(line: &str, at: usize) -> Option<Finding> {
    let (file, number, rest) = place_before(line)?;
    if !is_python(file) || file.contains(' ') {
        return None;
    }
    if let Some(message) = rest.strip_prefix("error: ") {
        let (message, code) = bracketed(message);
        let (name, severity) = match code {
            Some("syntax") => ("SyntaxError", Severity::High),
            _ => ("TypeCheckError", Severity::High),
        };
        return Some(finding(at, name, severity, message, code, (file, number)));
    }
    if let Some(message) = rest.strip_prefix("warning: ") {
        let (message, code) = bracketed(message);
        return Some(finding(
            at,
            "TypeCheckError",
            Severity::Low,
            message,
            code,
            (file, number),
        ));
    }
    let (code, message) = rest.split_once(' ')?;
    let bare = code.trim_end_matches(':');
    if matches!(bare, "SyntaxError" | "invalid-syntax") {
        return Some(finding(
            at,
            "SyntaxError",
            Severity::High,
            message,
            None,
            (file, number),
        ));
    }
    if !is_code(bare) {
        return None;
    }
    let is_pylint = code.ends_with(':');
    let (name, severity) = match bare {
        "E999" | "E0001" | "E902" => ("SyntaxError", Severity::High),
        _ if is_pylint && bare.starts_with(['C', 'R', 'W', 'I']) => ("LintError", Severity::Low),
        _ => ("LintError", Severity::Medium),
    };
    Some(finding(
        at,
        name,
        severity,
        message,
        Some(bare),
        (file, number),
    ))
}

fn finding(
    at: usize,
    name: &'static str,
    severity: Severity,
    message: &str,
    code: Option<&str>,
    (file, line): (&str, u32),
) -> Finding {
    let mut finding = Finding::new(at, at, name, severity, on_one_line(message)).at(file, line);
    finding.code = code.map(str::to_owned);
    if message.contains("module named") || message.contains("stubs not installed") {
        finding.module = quoted(message).map(str::to_owned);
    }
    finding
}

/// Splits `message  [code]`.
fn bracketed(message: &str) -> (&str, Option<&str>) {
    let trimmed = message.trim_end();
    match trimmed
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['))
    {
        Some((text, code)) if !code.contains(' ') && text.ends_with(' ') => {
            (text.trim_end(), Some(code))
        }
        _ => (trimmed, None),
    }
}

/// Whether a word is the code of a rule: one to five letters and two to five digits.
fn is_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = &word[letters..];
    (1..=5).contains(&letters)
        && (2..=5).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads ruff's full form: the code and message, and the place below behind an arrow.
fn ruff_full(lines: &[Line], at: usize) -> Option<Finding> {
    let place = text(lines, at).trim_start().strip_prefix("--> ")?;
    let above = text(lines, at.checked_sub(1)?);
    let (file, number, ()) = place_before(&format!("{place}: "))
        .map(|(file, number, _)| (file.to_owned(), number, ()))?;
    if !is_python(&file) {
        return None;
    }
    let (code, message) = above.split_once(' ')?;
    let bare = code.trim_end_matches(':');
    let (name, severity) = match bare {
        "invalid-syntax" | "SyntaxError" => ("SyntaxError", Severity::High),
        "unformatted" => ("LintError", Severity::Medium),
        bare if is_code(bare) => ("LintError", Severity::Medium),
        // ty and later names of ruff's rules: `error[rule-name]: …`.
        _ if bare.starts_with("error[") => ("TypeCheckError", Severity::High),
        _ if bare.starts_with("warning[") => ("TypeCheckError", Severity::Low),
        _ => return None,
    };
    let message = message.strip_prefix("[*] ").unwrap_or(message);
    let end = (at + 1..lines.len().min(at + 20))
        .find(|&below| text(lines, below).trim().is_empty())
        .unwrap_or(at + 1);
    let mut found =
        Finding::new(at - 1, end - 1, name, severity, on_one_line(message)).at(file, number);
    found.code = Some(bare.to_owned()).filter(|code| is_code(code));
    Some(found)
}

/// Reads pyright: `  /x/a.py:2:12 - error: …`.
fn pyright(line: &str, at: usize) -> Option<Finding> {
    let (place, rest) = line.trim_start().split_once(" - ")?;
    let (file, number) = super::scan::place(place)?;
    if !is_python(file) {
        return None;
    }
    let (severity, message) = match rest.strip_prefix("error: ") {
        Some(message) => (Severity::High, message),
        None => (Severity::Low, rest.strip_prefix("warning: ")?),
    };
    let (message, code) = match message
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
    {
        Some((text, code)) if code.starts_with("report") => (text, Some(code)),
        _ => (message, None),
    };
    let mut found = finding(
        at,
        "TypeCheckError",
        severity,
        message,
        code,
        (file, number),
    );
    if message.starts_with("Import ") {
        found.module = quoted(message).map(str::to_owned);
    }
    Some(found)
}

/// Reads black, ruff format and isort.
fn formatter(lines: &[Line], at: usize) -> Option<Finding> {
    let line = text(lines, at);
    let unformatted = line
        .strip_prefix("would reformat ")
        .or_else(|| line.strip_prefix("Would reformat: "));
    if let Some(file) = unformatted {
        return is_python(file).then(|| {
            Finding::new(at, at, "LintError", Severity::Medium, "not formatted").at(file, None)
        });
    }
    if let Some(rest) = line.strip_prefix("ERROR: ")
        && let Some(file) = rest.strip_suffix(" Imports are incorrectly sorted and/or formatted.")
    {
        return Some(
            Finding::new(
                at,
                at,
                "LintError",
                Severity::Medium,
                "imports are not sorted",
            )
            .at(file, None),
        );
    }
    let rest = line
        .strip_prefix("error: cannot parse: ")
        .or_else(|| line.strip_prefix("error: cannot format "))
        .or_else(|| line.strip_prefix("error: Failed to parse "))?;
    // Black names the place before 24 as `file: Cannot parse: 1:4`, then as `file:1:4`.
    let (file, number) = match rest.split_once(": Cannot parse") {
        Some((file, rest)) => {
            let digits = rest.find(|letter: char| letter.is_ascii_digit())?;
            (file, number(&rest[digits..]).map(|(line, _)| line))
        }
        None => match super::scan::place(rest.trim_end_matches(':')) {
            Some((file, line)) => (file, Some(line)),
            None => (rest.split(':').next()?, None),
        },
    };
    let last = if text(lines, at + 3).starts_with("ParseError") {
        at + 3
    } else {
        at
    };
    Some(Finding::new(at, last, "SyntaxError", Severity::High, on_one_line(line)).at(file, number))
}

/// Reads ruff's annotation for GitHub.
fn annotation(line: &str, at: usize) -> Option<Finding> {
    let rest = line
        .strip_prefix("::error title=ruff (")
        .or_else(|| line.strip_prefix("::error title=Ruff ("))?;
    let (code, rest) = rest.split_once("),")?;
    let (keys, message) = rest.split_once("::")?;
    let value = |name: &str| {
        keys.split(',')
            .find_map(|key| key.strip_prefix(name)?.strip_prefix('='))
    };
    let (name, severity) = match code {
        "invalid-syntax" => ("SyntaxError", Severity::High),
        _ => ("LintError", Severity::Medium),
    };
    let place = (value("file")?, value("line")?.parse().ok()?);
    Some(finding(at, name, severity, message, Some(code), place))
}

/// Reads bandit: an issue, its severity, and its location.
fn bandit(lines: &[Line], at: usize) -> Option<Finding> {
    let place = text(lines, at).trim_start().strip_prefix("Location: ")?;
    let (file, number) = super::scan::place(place)?;
    let first = (at.saturating_sub(6)..at)
        .rev()
        .find(|&above| text(lines, above).trim_start().starts_with(">> Issue: ["))?;
    let issue = text(lines, first)
        .trim_start()
        .strip_prefix(">> Issue: [")?;
    let (code, message) = issue.split_once("] ")?;
    let is_low = (first..at).any(|line| text(lines, line).contains("Severity: Low"));
    let severity = if is_low {
        Severity::Low
    } else {
        Severity::Medium
    };
    let code = code.split(':').next();
    let mut found = finding(at, "LintError", severity, message, code, (file, number));
    found.first = first;
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: forms that the recorded set lacks.
    #[test]
    fn other_forms_are_read() {
        for (text, expected) in [
            ("a.py:1: note: see\n", event("", "", 0)),
            ("a.py:3:1: W503 line break\n", event("LintError", "a.py", 3)),
            (
                "src/a.pyi:3: error: bad  [misc]\n",
                event("TypeCheckError", "src/a.pyi", 3),
            ),
            (
                "error: cannot format a.py: Cannot parse: 4:7: x = = 1\n",
                event("SyntaxError", "a.py", 4),
            ),
            ("would reformat /s/a.py\n", event("LintError", "/s/a.py", 0)),
            ("the file a.py:3 is fine\n", event("", "", 0)),
            (
                "error[unresolved-import]: Cannot resolve\n --> a.py:1:8\n",
                event("TypeCheckError", "a.py", 1),
            ),
        ] {
            assert_eq!(first(read, text), expected, "{text}");
        }
    }

    /// CAKE-WATCH-1: pylint's conventions and warnings come after its errors.
    #[test]
    fn warnings_come_after_errors() {
        let text = "a.py:1:0: W0611: Unused import os (unused-import)\na.py:7:1: E0602: Undefined variable 'x' (undefined-variable)\n";
        let found = findings(read, text);
        assert_eq!(found[0].code.as_deref(), Some("E0602"));
        assert_eq!(found[1].severity, Severity::Low);
    }
}
