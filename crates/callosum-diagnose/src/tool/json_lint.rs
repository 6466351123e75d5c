//! Shapes of JSON that compilers, type checkers and linters print.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    json::{Document, line_number, list, string},
    scan::{mentions, on_one_line, place, without_scheme},
};
use crate::{Severity, finding::Finding};

/// Reads the reports in the documents.
pub(super) fn read(documents: &[Document], found: &mut Vec<Finding>) {
    for document in documents {
        let lines = (document.first, document.last);
        match &document.value {
            Value::Object(_) => object(&document.value, lines, found),
            Value::Array(entries) => {
                for entry in entries {
                    item(entry, lines, found);
                }
            }
            _ => {}
        }
    }
}

/// JSON pointers (RFC 6901) to the file, line and code of a problem. An empty pointer means that the entry has none.
#[derive(Clone, Copy)]
struct Keys {
    file: &'static str,
    line: &'static str,
    code: &'static str,
}

const fn keys(file: &'static str, line: &'static str, code: &'static str) -> Keys {
    Keys { file, line, code }
}

const BANDIT: Keys = keys("/filename", "/line_number", "/test_id");
const BIOME: Keys = keys("/location/path", "/location/start/line", "/category");
const ESLINT: Keys = keys("", "/line", "/ruleId");
const GCC: Keys = keys(
    "/locations/0/caret/file",
    "/locations/0/caret/line",
    "/option",
);
const GITLAB: Keys = keys("/location/path", "/location/lines/begin", "/check_name");
const GOLANGCI: Keys = keys("/Pos/Filename", "/Pos/Line", "/FromLinter");
const MYPY: Keys = keys("/file", "/line", "/code");
const PHP: Keys = keys("", "/line", "");
const PYLINT: Keys = keys("/path", "/line", "");
const PYRIGHT: Keys = keys("/file", "/range/start/line", "/rule");
const RDJSON: Keys = keys(
    "/location/path",
    "/location/range/start/line",
    "/code/value",
);
const RUBOCOP: Keys = keys("", "/location/line", "/cop_name");
const RUFF: Keys = keys("/filename", "/location/row", "/code");
const SARIF: Keys = keys(
    "/locations/0/physicalLocation/artifactLocation/uri",
    "/locations/0/physicalLocation/region/startLine",
    "/ruleId",
);
const SHELLCHECK: Keys = keys("/file", "/line", "");
const STYLELINT: Keys = keys("", "/line", "/rule");
const TERRAFORM: Keys = keys("/range/filename", "/range/start/line", "");

/// One problem of a report.
struct Problem<'a> {
    name: Cow<'static, str>,
    severity: Severity,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    code: Option<String>,
}

impl<'a> Problem<'a> {
    fn new(
        entry: &'a Value,
        keys: Keys,
        (name, severity): (&'static str, Severity),
        message: &'a str,
    ) -> Self {
        let at = |pointer: &str| entry.pointer(pointer);
        Self {
            name: name.into(),
            severity,
            message,
            file: at(keys.file).and_then(Value::as_str),
            line: at(keys.line)
                .and_then(Value::as_u64)
                .and_then(|line| u32::try_from(line).ok()),
            code: at(keys.code).and_then(Value::as_str).map(str::to_owned),
        }
    }

    fn report(self, (first, last): (usize, usize), found: &mut Vec<Finding>) {
        let mut finding = Finding::new(
            first,
            last,
            self.name,
            self.severity,
            on_one_line(self.message),
        );
        if let Some(file) = self.file {
            finding = finding.at(without_scheme(file), self.line);
        }
        finding.code = self.code;
        found.push(finding);
    }
}

/// Returns type and severity of a lint for the level that a linter gives it.
fn lint_level(level: &str) -> (&'static str, Severity) {
    match level.to_ascii_lowercase().as_str() {
        "error" | "fatal" | "blocker" | "critical" | "major" | "high" | "medium" | "failure" => {
            ("LintError", Severity::Medium)
        }
        _ => ("LintError", Severity::Low),
    }
}

/// Reads a report that is one object.
fn object(value: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    if string(value, &["reason"]) == Some("compiler-message")
        && let Some(message) = value.get("message")
    {
        rustc(message, lines, found);
    } else if string(value, &["$message_type"]) == Some("diagnostic") {
        rustc(value, lines, found);
    } else if value.get("generalDiagnostics").is_some() {
        for entry in list(value, "generalDiagnostics") {
            pyright(entry, lines, found);
        }
    } else if value.get("diagnostics").is_some() {
        for entry in list(value, "diagnostics") {
            diagnostic(entry, lines, found);
        }
    } else if let Some(entry) = value
        .get("diagnostic")
        .filter(|_| value.get("@level").is_some())
    {
        diagnostic(entry, lines, found);
    } else if value.get("runs").is_some() {
        sarif(value, lines, found);
    } else if value.get("Issues").is_some() {
        for entry in list(value, "Issues") {
            golangci(entry, lines, found);
        }
    } else if value.get("files").is_some() {
        files(value, lines, found);
    } else if string(value, &["message"]).is_some() {
        item(value, lines, found);
    } else {
        for key in ["messages", "comments", "results"] {
            for entry in list(value, key) {
                item(entry, lines, found);
            }
        }
        go_vet(value, lines, found);
    }
}

/// Reads a diagnostic of rustc, which Cargo passes on.
fn rustc(message: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    let Some(level) = string(message, &["level"]) else {
        return;
    };
    let Some(text) = string(message, &["message"]) else {
        return;
    };
    let is_error = level.starts_with("error");
    if !(is_error || level == "warning") {
        return;
    }
    let spans = list(message, "spans");
    let is_summary = spans.is_empty()
        && (text.starts_with("aborting due to")
            || mentions(text, " warning emitted")
            || mentions(text, " warnings emitted")
            || text.starts_with("could not compile"));
    if is_summary {
        return;
    }
    let span = spans
        .iter()
        .find(|span| span.get("is_primary").and_then(Value::as_bool) == Some(true))
        .or_else(|| spans.first());
    let code = string(message, &["code", "code"]);
    let is_lint = code.is_some_and(|code| code.starts_with("clippy::"));
    let (name, severity) = match (is_lint, is_error) {
        (true, true) => ("LintError", Severity::Medium),
        (true, false) => ("LintError", Severity::Low),
        (false, true) if text.starts_with("linking with ") => ("LinkError", Severity::High),
        (false, true) => ("CompileError", Severity::High),
        (false, false) => ("CompileWarning", Severity::Low),
    };
    Problem {
        name: name.into(),
        severity,
        message: text,
        file: span.and_then(|span| string(span, &["file_name"])),
        line: span.and_then(|span| line_number(span, &["line_start"])),
        code: code.map(str::to_owned),
    }
    .report(lines, found);
}

fn pyright(entry: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    let (Some(level), Some(message)) = (string(entry, &["severity"]), string(entry, &["message"]))
    else {
        return;
    };
    if level == "information" {
        return;
    }
    let is_error = level == "error";
    // Errors of the parser have no rule.
    let is_syntax = is_error && string(entry, &["rule"]).is_none() && !mentions(message, "is not ");
    let kind = match (is_syntax, is_error) {
        (true, _) => ("SyntaxError", Severity::High),
        (false, true) => ("TypeCheckError", Severity::High),
        (false, false) => ("TypeCheckError", Severity::Low),
    };
    let mut problem = Problem::new(entry, PYRIGHT, kind, message);
    problem.file = problem.file.or_else(|| string(entry, &["uri"]));
    // The only lines here that count from 0.
    problem.line = problem.line.map(|line| line + 1);
    problem.report(lines, found);
}

/// Reads a diagnostic of Terraform, of Biome or of the `rdjson` form.
fn diagnostic(entry: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    if let Some(summary) = string(entry, &["summary"]) {
        let detail = string(entry, &["detail"]).unwrap_or_default();
        let is_error = string(entry, &["severity"]) == Some("error");
        let kind = if is_error {
            let whole = format!("{summary} {detail}");
            (super::terraform::kind(summary, &whole), Severity::High)
        } else if mentions(summary, "eprecated") {
            ("DeprecationWarning", Severity::Low)
        } else {
            ("BuildWarning", Severity::Low)
        };
        let message = format!("{summary}: {detail}");
        Problem::new(entry, TERRAFORM, kind, &message).report(lines, found);
        return;
    }
    if let Some(category) = string(entry, &["category"]) {
        let kind = match (category, string(entry, &["severity"])) {
            ("parse", _) => ("SyntaxError", Severity::High),
            (_, Some("error" | "fatal")) => ("LintError", Severity::Medium),
            _ => ("LintError", Severity::Low),
        };
        let message = string(entry, &["description"])
            .or_else(|| string(entry, &["message"]))
            .unwrap_or(category);
        let mut problem = Problem::new(entry, BIOME, kind, message);
        problem.file = problem
            .file
            .or_else(|| string(entry, &["location", "path", "file"]));
        problem.report(lines, found);
        return;
    }
    // rdjson.
    let Some(message) = string(entry, &["message"]) else {
        return;
    };
    let code = string(entry, &["code", "value"]);
    let kind = coded(code, string(entry, &["severity"]).unwrap_or("ERROR"));
    let problem = Problem::new(entry, RDJSON, kind, message);
    if problem.file.is_some() {
        problem.report(lines, found);
    }
}

/// Returns type and severity for the code of a lint; a file that does not parse has a code of its own.
fn coded(code: Option<&str>, level: &str) -> (&'static str, Severity) {
    match code {
        Some(
            "invalid-syntax" | "E999" | "syntax-error" | "E0001" | "syntax" | "CssSyntaxError"
            | "Lint/Syntax",
        ) => ("SyntaxError", Severity::High),
        _ => lint_level(level),
    }
}

/// Reads SARIF: ESLint, Ruff, Clippy, GCC and many more.
fn sarif(value: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    for run in list(value, "runs") {
        let tool = string(run, &["tool", "driver", "name"]).unwrap_or_default();
        for result in list(run, "results") {
            let Some(message) = string(result, &["message", "text"]) else {
                continue;
            };
            let level = string(result, &["level"]).unwrap_or("warning");
            let code = string(result, &["ruleId"]);
            let is_error = level == "error";
            let is_compiler = mentions(tool, "GNU")
                || tool.starts_with("clang")
                || tool == "rustc"
                || tool == "MSVC";
            let is_types = matches!(tool, "mypy" | "pyright" | "Pyright" | "basedpyright");
            let kind = match (is_compiler, is_types, is_error) {
                (true, _, true) => ("CompileError", Severity::High),
                (true, _, false) => ("CompileWarning", Severity::Low),
                (_, true, true) => ("TypeCheckError", Severity::High),
                (_, true, false) => ("TypeCheckError", Severity::Low),
                _ if code.is_none() && is_error && mentions(message, "yntax") => {
                    ("SyntaxError", Severity::High)
                }
                _ => coded(code, level),
            };
            if level != "none" {
                Problem::new(result, SARIF, kind, message).report(lines, found);
            }
        }
    }
}

fn golangci(entry: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    let (Some(linter), Some(message)) = (string(entry, &["FromLinter"]), string(entry, &["Text"]))
    else {
        return;
    };
    let kind = if linter == "typecheck" {
        ("CompileError", Severity::High)
    } else {
        ("LintError", Severity::Medium)
    };
    Problem::new(entry, GOLANGCI, kind, message).report(lines, found);
}

/// Reads RuboCop (`files` is a list) and PHPStan or PHP_CodeSniffer (`files` is an object).
fn files(value: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    for file in list(value, "files") {
        for offense in list(file, "offenses") {
            let Some(message) = string(offense, &["message"]) else {
                continue;
            };
            let code = string(offense, &["cop_name"]);
            let kind = match string(offense, &["severity"]) {
                Some("fatal") => ("SyntaxError", Severity::High),
                level => coded(code, level.unwrap_or("error")),
            };
            let mut problem = Problem::new(offense, RUBOCOP, kind, message);
            problem.file = string(file, &["path"]);
            problem.line = problem
                .line
                .or_else(|| line_number(offense, &["location", "start_line"]));
            problem.report(lines, found);
        }
    }
    let Some(files) = value.get("files").and_then(Value::as_object) else {
        return;
    };
    for (path, file) in files {
        for entry in list(file, "messages") {
            let Some(message) = string(entry, &["message"]) else {
                continue;
            };
            let code = string(entry, &["source"]).or_else(|| string(entry, &["identifier"]));
            let kind = coded(code, string(entry, &["type"]).unwrap_or("error"));
            Problem {
                file: Some(path),
                code: code.map(str::to_owned),
                ..Problem::new(entry, PHP, kind, message)
            }
            .report(lines, found);
        }
    }
}

/// Reads `go vet -json`: packages, analyzers and their findings.
fn go_vet(value: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    let packages = value
        .as_object()
        .into_iter()
        .flat_map(|packages| packages.values());
    for (analyzer, findings) in packages.filter_map(Value::as_object).flatten() {
        for entry in findings.as_array().map_or(&[][..], Vec::as_slice) {
            let (Some(location), Some(message)) =
                (string(entry, &["posn"]), string(entry, &["message"]))
            else {
                continue;
            };
            let place = place(location);
            Problem {
                name: "LintError".into(),
                severity: Severity::Medium,
                message,
                file: place.map(|(file, _)| file),
                line: place.map(|(_, line)| line),
                code: Some(analyzer.clone()),
            }
            .report(lines, found);
        }
    }
}

/// Reads an entry of a list, or a line of its own: ESLint, Stylelint, Ruff, mypy, Pylint, ShellCheck, GCC and others.
fn item(entry: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    if let Some(path) = string(entry, &["filePath"]) {
        for message in list(entry, "messages") {
            eslint(path, message, lines, found);
        }
        return;
    }
    if entry.get("warnings").is_some()
        && let Some(path) = string(entry, &["source"])
    {
        for warning in list(entry, "warnings") {
            let code = string(warning, &["rule"]);
            let kind = coded(code, string(warning, &["severity"]).unwrap_or("error"));
            let message = string(warning, &["text"]).unwrap_or_default();
            Problem {
                file: Some(path),
                ..Problem::new(warning, STYLELINT, kind, message)
            }
            .report(lines, found);
        }
        return;
    }
    if let Some(problem) = problem(entry) {
        problem.report(lines, found);
    }
}

fn eslint(path: &str, message: &Value, lines: (usize, usize), found: &mut Vec<Finding>) {
    let is_error = line_number(message, &["severity"]) == Some(2);
    let is_fatal = message.get("fatal").and_then(Value::as_bool) == Some(true);
    let kind = match (is_fatal, is_error) {
        (true, _) => ("SyntaxError", Severity::High),
        (false, true) => ("LintError", Severity::Medium),
        (false, false) => ("LintError", Severity::Low),
    };
    let text = string(message, &["message"]).unwrap_or_default();
    Problem {
        file: Some(path),
        ..Problem::new(message, ESLINT, kind, text)
    }
    .report(lines, found);
}

/// Returns the problem of an entry that has its own file and line.
fn problem(entry: &Value) -> Option<Problem<'_>> {
    // Ruff.
    if let (Some(_), Some(message)) = (string(entry, &["filename"]), string(entry, &["message"]))
        && line_number(entry, &["location", "row"]).is_some()
    {
        let kind = match string(entry, &["code"]) {
            None => ("SyntaxError", Severity::High),
            code => coded(code, string(entry, &["severity"]).unwrap_or("error")),
        };
        return Some(Problem::new(entry, RUFF, kind, message));
    }
    // Pylint, in its two forms.
    let symbol = string(entry, &["message-id"]).or_else(|| string(entry, &["messageId"]));
    if let (Some(code), Some(kind), Some(_)) =
        (symbol, string(entry, &["type"]), string(entry, &["path"]))
    {
        let kind = coded(Some(code), kind);
        return Some(Problem {
            code: Some(code.to_owned()),
            ..Problem::new(entry, PYLINT, kind, string(entry, &["message"])?)
        });
    }
    // Bandit.
    if let (Some(message), Some(_)) = (string(entry, &["issue_text"]), string(entry, &["filename"]))
    {
        let kind = lint_level(string(entry, &["issue_severity"])?);
        return Some(Problem::new(entry, BANDIT, kind, message));
    }
    // GitLab's code quality.
    if let (Some(code), Some(message)) = (
        string(entry, &["check_name"]),
        string(entry, &["description"]),
    ) {
        let kind = coded(Some(code), string(entry, &["severity"]).unwrap_or("major"));
        let mut problem = Problem::new(entry, GITLAB, kind, message);
        problem.line = problem
            .line
            .or_else(|| line_number(entry, &["location", "positions", "begin", "line"]));
        return Some(problem);
    }
    // GCC.
    if let (Some(kind), Some(message)) = (string(entry, &["kind"]), string(entry, &["message"]))
        && !list(entry, "locations").is_empty()
    {
        let kind = match kind {
            "error" | "fatal error" => ("CompileError", Severity::High),
            "warning" => ("CompileWarning", Severity::Low),
            _ => return None,
        };
        return Some(Problem::new(entry, GCC, kind, message));
    }
    // ShellCheck numbers its codes; mypy names them and has hints.
    let message = string(entry, &["message"])?;
    string(entry, &["file"])?;
    line_number(entry, &["line"])?;
    if let Some(number) = line_number(entry, &["code"])
        && entry.get("endLine").is_some()
    {
        let kind = lint_level(string(entry, &["level"])?);
        return Some(Problem {
            code: Some(format!("SC{number}")),
            ..Problem::new(entry, SHELLCHECK, kind, message)
        });
    }
    let level = string(entry, &["severity"])?;
    entry.get("hint")?;
    let kind = match (string(entry, &["code"]), level) {
        (Some("syntax"), _) => ("SyntaxError", Severity::High),
        (_, "error") => ("TypeCheckError", Severity::High),
        (_, "warning") => ("TypeCheckError", Severity::Low),
        _ => return None,
    };
    Some(Problem::new(entry, MYPY, kind, message))
}

#[cfg(test)]
mod tests {
    use crate::tool::{
        json,
        scan::tests::{event, first},
    };

    /// CAKE-WATCH-1: each report names its file and line.
    #[test]
    fn reports_of_many_tools_are_read() {
        let reports = [
            (
                r#"{"Issues":[{"FromLinter":"errcheck","Text":"not checked","Pos":{"Filename":"a.go","Line":3}}]}"#,
                "LintError",
                "a.go",
            ),
            (
                r#"[{"source":"/w/a.css","warnings":[{"line":3,"rule":"x","severity":"error","text":"y"}]}]"#,
                "LintError",
                "/w/a.css",
            ),
            (
                r#"{"messages":[{"type":"error","line":3,"path":"a.py","message":"m","messageId":"E0602"}],"statistics":{}}"#,
                "LintError",
                "a.py",
            ),
            (
                r#"{"files":[{"path":"a.rb","offenses":[{"severity":"convention","message":"m","cop_name":"Style/X","location":{"line":3}}]}]}"#,
                "LintError",
                "a.rb",
            ),
            (
                r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"ESLint"}},"results":[{"level":"error","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///w/a.js"},"region":{"startLine":3}}}],"ruleId":"no-undef"}]}]}"#,
                "LintError",
                "/w/a.js",
            ),
            (
                r#"{"@level":"error","@message":"Error: x","type":"diagnostic","diagnostic":{"severity":"error","summary":"Invalid expression","detail":"","range":{"filename":"a.tf","start":{"line":3}}}}"#,
                "SyntaxError",
                "a.tf",
            ),
            (
                r#"{"cell":null,"code":null,"filename":"/w/a.py","location":{"column":1,"row":3},"message":"SyntaxError: x"}"#,
                "SyntaxError",
                "/w/a.py",
            ),
        ];
        for (report, name, file) in reports {
            assert_eq!(first(json::read, report), event(name, file, 3), "{report}");
        }
    }
}
