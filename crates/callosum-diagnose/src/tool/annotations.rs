//! Annotations for CI services: `::error file=…::message` of GitHub and `##vso[task.logissue …]` of Azure.

use super::scan::{between, mentions, on_one_line, text, without_scheme};
use crate::{Severity, finding::Finding, window::Window};

/// Reads annotations that name a file.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !(lines.has("::error ") || lines.has("::warning ") || lines.has("##vso[task.logissue")) {
        return;
    }
    for at in 0..lines.len() {
        let line = text(lines, at);
        let parts = if let Some(rest) = line.strip_prefix("::error ") {
            rest.split_once("::")
                .map(|(fields, message)| (true, fields, message, ','))
        } else if let Some(rest) = line.strip_prefix("::warning ") {
            rest.split_once("::")
                .map(|(fields, message)| (false, fields, message, ','))
        } else if let Some(rest) = line.strip_prefix("##vso[task.logissue ") {
            rest.split_once(']')
                .map(|(fields, message)| (mentions(fields, "type=error"), fields, message, ';'))
        } else {
            None
        };
        if let Some((is_error, fields, message, mark)) = parts {
            found.extend(annotation(at, is_error, fields, message, mark));
        }
    }
}

fn annotation(
    at: usize,
    is_error: bool,
    fields: &str,
    message: &str,
    mark: char,
) -> Option<Finding> {
    let field = |names: [&str; 2]| {
        fields.split(mark).find_map(|field| {
            let (name, value) = field.split_once('=')?;
            names.contains(&name.trim()).then_some(value)
        })
    };
    let file = field(["file", "sourcepath"])?;
    let line: Option<u32> = field(["line", "linenumber"]).and_then(|line| line.parse().ok());
    let title = field(["title", "code"]).unwrap_or_default();
    let code = between(title, "(", ")").unwrap_or(title);
    let is_syntax = matches!(code, "invalid-syntax" | "E999" | "syntax-error")
        || mentions(message, "SyntaxError:");
    let is_test = mentions(message, "%0A")
        && (mentions(message, "AssertionError")
            || mentions(message, "FAIL")
            || mentions(message, "assert "));
    let (name, severity) = match (is_syntax, is_test, is_error) {
        (true, _, _) => ("SyntaxError", Severity::High),
        (_, true, true) => ("TestFailure", Severity::Medium),
        (_, _, true) if title.starts_with("TS") || mentions(message, "error TS") => {
            ("TypeCheckError", Severity::High)
        }
        (_, _, true) => ("LintError", Severity::Medium),
        (_, _, false) => ("LintError", Severity::Low),
    };
    let message = message
        .replace("%0A", " ")
        .replace("%25", "%")
        .replace("%0D", "");
    let mut finding =
        Finding::new(at, at, name, severity, on_one_line(&message)).at(without_scheme(file), line);
    finding.code = (!code.is_empty() && !code.contains(' ')).then(|| code.to_owned());
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: both services name the file, and a message without a file is only a line of a log.
    #[test]
    fn annotations_name_the_file() {
        let text = "##vso[task.logissue type=error;sourcepath=/w/a.py;linenumber=3;columnnumber=1;code=F401;]`os` imported but unused\n";
        assert_eq!(first(read, text), event("LintError", "/w/a.py", 3));
        let text = "::warning file=a.js,line=2,col=1::Unexpected console\n";
        assert_eq!(findings(read, text)[0].severity, Severity::Low);
        assert!(findings(read, "::error::Process completed with exit code 1.\n").is_empty());
    }
}
