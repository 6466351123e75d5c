//! Shells: bash, dash, zsh and fish, ShellCheck, and the prompts of Windows.

use super::scan::{between, mentions, mentions_any, number, quoted, reason, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Without one of these there is no error of a shell.
const WORDS: &[&str] = &[
    "not found",
    "unbound",
    "not set",
    "yntax error",
    "unexpected",
    "No such file",
    "no such file",
    "denied",
    "no matches",
    "parse error",
    "ubstitution",
    "cannot",
    "Unknown command",
    "(line ",
    "not recognized",
    "required file",
    "bad interpreter",
    "No space left",
    "redirect",
    "expected",
    "readonly",
    "allocate memory",
];

/// A line that starts an error has one of these.
const STARTS: &[&str] = &[
    "not found",
    "unbound variable",
    "not set",
    "yntax error",
    "unexpected ",
    "ubstitution",
    "operator expected",
    "expression expected",
    "condition expected",
    "missing `]'",
    "too many arguments",
    "ambiguous redirect",
    "division by 0",
    "value too great for base",
    "not a valid identifier",
    "expecting ",
    "Illegal number",
    "bad variable name",
    "bad array subscript",
    "error token is",
    "annot allocate memory",
    "cannot ",
    "an't open ",
    "can't cd to ",
    "bad interpreter",
    "readonly variable",
    "is read only",
    "o such file",
    "denied",
    "No space left",
    "not permitted",
    "Read-only file system",
    "no matches found: ",
    "parse error",
    "unmatched ",
    "bad pattern",
    "bad math expression",
    "exec format error: ",
    "fish: ",
    " (line ",
    "is not recognized as",
];

/// Reads errors of shells.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has_any(&["In ", "[SC"]) && lines.has("SC") {
        shellcheck(lines, found);
    }
    if !lines.has_any(WORDS) {
        return;
    }
    for at in lines.lines_with(STARTS) {
        let line = text(lines, at).trim_end();
        // `bash: line 1:` may follow a trace of `set -x`.
        let finding = of_bash(at, line)
            .or_else(|| of_dash(at, line))
            .or_else(|| of_zsh(at, line))
            .or_else(|| of_fish(lines, at, line))
            .or_else(|| of_windows(at, line));
        if let Some(mut finding) = finding {
            if finding.error_type == "CommandNotFound" && finding.file.is_none() {
                finding = with_recipe(lines, at, finding);
            }
            found.push(finding);
        }
    }
}

/// Whether this is a shell and not a script.
fn is_shell(program: &str) -> bool {
    let base = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(
        base.trim_start_matches('-'),
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" | "busybox" | "rbash" | "fish"
    )
}

/// Adds the recipe's place that make prints below the error of its shell.
fn with_recipe(lines: &[Line], at: usize, finding: Finding) -> Finding {
    let spot = (at + 1..lines.len().min(at + 3)).find_map(|at| {
        let rest = text(lines, at).split_once("*** [")?.1;
        let (file, line, _) = super::scan::place_before(rest)?;
        mentions(rest, "] Error 127").then_some((file, line))
    });
    match spot {
        Some((file, line)) => finding.at(file, line),
        None => finding,
    }
}

/// Makes a finding at a script's line, or without a place for a command line.
fn at_script(finding: Finding, script: &str, line: u32, is_command: bool) -> Finding {
    if is_shell(script) {
        if is_command {
            let mut finding = finding;
            finding.line = Some(line).filter(|line| *line > 0);
            return finding;
        }
        return finding;
    }
    finding.at(script, line)
}

/// Reads `./x.sh: line 3: text`, `bash: -c: line 1: text`, `bash: x: command not found`.
fn of_bash(at: usize, line: &str) -> Option<Finding> {
    if let Some((script, rest)) = line.split_once(": line ")
        && let Some((row, rest)) = number(rest)
        && let Some(body) = rest.strip_prefix(": ")
    {
        let (script, is_command) = match script.strip_suffix(": -c") {
            Some(shell) => (shell, true),
            None => (script, false),
        };
        if script.contains(['"', '`', '(']) || script.contains(": ") || script.len() > 200 {
            return None;
        }
        let finding = tail(at, body)?;
        // For a command line, the missing file is the place; for a script, its line is.
        if is_shell(script) && !is_command {
            return Some(finding);
        }
        return Some(at_script(finding, script, row, is_command));
    }
    let (shell, body) = line.split_once(": ")?;
    // `sh: 0: cannot open x` and `/bin/sh: 1: x: not found` are dash's.
    if !is_shell(shell)
        || number(body).is_some_and(|(_, rest)| rest.starts_with(':'))
        || shell == "fish"
        || shell == "zsh"
    {
        // `./run.sh: /bin/nope: bad interpreter: No such file or directory`
        let is_bad = mentions(body, ": bad interpreter: ") && !shell.contains(' ');
        return is_bad.then(|| {
            Finding::new(at, at, "FileNotFoundError", Severity::High, body).at(shell, None)
        });
    }
    if let Some(rest) = body.strip_prefix("-c: ") {
        return tail(at, rest);
    }
    tail(at, body)
}

/// Reads `x.sh: 2: text` of dash.
fn of_dash(at: usize, line: &str) -> Option<Finding> {
    let (script, rest) = line.split_once(": ")?;
    let (row, rest) = number(rest)?;
    let body = rest.strip_prefix(": ")?;
    if script.contains(' ') || script.contains(['"', '`', '(']) {
        return None;
    }
    // A number and a colon are not rare: only exact words of dash count.
    let is_dash = mentions_any(
        body,
        &[
            ": not found",
            ": parameter not set",
            ": parameter null or not set",
            "Syntax error: ",
            "cannot open ",
            "cannot create ",
            "Can't open ",
            "can't cd to ",
            ": Permission denied",
            "Bad substitution",
            ": No such file or directory",
            "unexpected operator",
            "expecting ",
            "is read only",
            ": Illegal number",
            "bad variable name",
        ],
    );
    if !is_dash {
        return None;
    }
    let finding = tail(at, body)?;
    if row == 0 || is_shell(script) {
        return Some(finding);
    }
    Some(finding.at(script, row))
}

/// Reads `zsh:1: text`, `x.zsh:2: text` and `zsh: text`.
fn of_zsh(at: usize, line: &str) -> Option<Finding> {
    let (script, row, body) = if let Some(body) = line.strip_prefix("zsh: ") {
        ("zsh", 0, body)
    } else {
        let (script, rest) = line.split_once(':')?;
        let (row, rest) = number(rest)?;
        (script, row, rest.strip_prefix(": ")?)
    };
    if script.contains([' ', '"', '`', '(']) {
        return None;
    }
    let finding = |name| Finding::new(at, at, name, Severity::High, body.to_owned());
    let with = |name, word: &str| {
        let mut finding = finding(name);
        finding.module = Some(word.to_owned());
        finding
    };
    let result = if let Some(name) = body.strip_prefix("command not found: ") {
        with("CommandNotFound", name)
    } else if let Some(name) = body.strip_suffix(": parameter not set") {
        with("UnboundVariable", name)
    } else if body.starts_with("no matches found: ") {
        finding("FileNotFoundError")
    } else if let Some(file) = body
        .strip_prefix("no such file or directory: ")
        .or(body.strip_prefix("can't open input file: "))
    {
        finding("FileNotFoundError").at(file, None)
    } else if let Some(file) = body.strip_prefix("permission denied: ") {
        finding("PermissionError").at(file, None)
    } else if starts_any(
        body,
        &[
            "parse error",
            "unmatched ",
            "bad substitution",
            "bad pattern",
            "condition expected",
            "bad math expression",
        ],
    ) {
        finding("SyntaxError")
    } else if body.starts_with("exec format error: ") {
        finding("BuildError")
    } else {
        return None;
    };
    if is_shell(script) || script == "(eval)" || row == 0 {
        return Some(result);
    }
    Some(result.at(script, row))
}

/// Reads errors of fish.
fn of_fish(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    if let Some(rest) = line
        .strip_prefix("fish: Unknown command: ")
        .or(line.strip_prefix("fish: Unknown command "))
    {
        let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, line);
        finding.module = Some(rest.trim_matches('\'').to_owned());
        // `x.fish (line 2): ` below it.
        return Some(match fish_place(text(lines, at + 1)) {
            Some((file, row, _)) => finding.at(file, row),
            None => finding,
        });
    }
    if let Some(body) = line.strip_prefix("fish: ") {
        return fish_body(at, body);
    }
    let (file, row, body) = fish_place(line)?;
    let finding = fish_body(at, body)?;
    Some(if file.ends_with("fish") && !file.contains('.') {
        finding
    } else {
        finding.at(file, row)
    })
}

fn fish_place(line: &str) -> Option<(&str, u32, &str)> {
    let (file, rest) = line.split_once(" (line ")?;
    let (row, rest) = number(rest)?;
    let body = rest.strip_prefix("):")?.trim();
    (!file.contains(' ')).then_some((file, row, body))
}

fn fish_body(at: usize, body: &str) -> Option<Finding> {
    let finding = |name| Finding::new(at, at, name, Severity::High, body.to_owned());
    if let Some(rest) = body.strip_prefix("Unknown command: ") {
        let mut finding = finding("CommandNotFound");
        finding.module = Some(rest.trim_matches('\'').to_owned());
        return Some(finding);
    }
    if starts_any(body, &["No matches for wildcard", "Unmatched wildcard"]) {
        return Some(finding("FileNotFoundError"));
    }
    if mentions(body, "is not executable by this user") || mentions(body, "Permission denied") {
        let finding = finding("PermissionError");
        return Some(match quoted(body) {
            Some(file) => finding.at(file, None),
            None => finding,
        });
    }
    if mentions_any(body, &["does not exist", "The file does not exist"]) {
        let finding = finding("FileNotFoundError");
        return Some(match quoted(body) {
            Some(file) => finding.at(file, None),
            None => finding,
        });
    }
    let is_syntax = starts_any(
        body,
        &[
            "Missing end",
            "Unexpected ",
            "Expected ",
            "Unsupported use of",
            "Variables cannot be bracketed",
            "Invalid ",
            "Unable to expand",
            "Mismatched",
            "Too many",
            "'",
            "$",
            "Unknown builtin",
            "Command substitutions",
            "The function name",
            "Illegal ",
        ],
    );
    is_syntax.then(|| finding("SyntaxError"))
}

/// Reads errors of cmd.exe and PowerShell.
fn of_windows(at: usize, line: &str) -> Option<Finding> {
    let missing = |name: &str| {
        let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, line);
        finding.module = Some(name.to_owned());
        finding
    };
    if let Some(rest) = line.strip_prefix('\'')
        && let Some((name, rest)) = rest.split_once('\'')
        && rest.starts_with(" is not recognized as an internal or external command")
    {
        return Some(missing(name));
    }
    if let Some((_, rest)) = line.split_once("The term '")
        && mentions(rest, "is not recognized as")
        && mentions(line, " : The term '")
    {
        return Some(missing(rest.split('\'').next()?));
    }
    starts_any(
        line,
        &[
            "The system cannot find the path specified.",
            "The system cannot find the file specified.",
        ],
    )
    .then(|| Finding::new(at, at, "FileNotFoundError", Severity::High, line))
}

/// Returns the finding for the text behind a shell's or a script's name.
fn tail(at: usize, body: &str) -> Option<Finding> {
    let finding = |name| Finding::new(at, at, name, Severity::High, body.to_owned());
    let with = |name, word: &str| {
        let mut finding = finding(name);
        finding.module = Some(word.rsplit(": ").next().unwrap_or(word).to_owned());
        finding
    };
    if let Some(name) = body
        .strip_suffix(": command not found")
        .or(body.strip_suffix(": not found"))
    {
        return Some(with("CommandNotFound", name));
    }
    if let Some(name) = body.strip_prefix("command not found: ") {
        return Some(with("CommandNotFound", name));
    }
    for ending in [
        ": unbound variable",
        ": parameter not set",
        ": parameter null or not set",
    ] {
        if let Some(name) = body.strip_suffix(ending) {
            return Some(with("UnboundVariable", name));
        }
    }
    if body.starts_with('`') && body.ends_with('\'') {
        // The source that bash quotes below a syntax error.
        return None;
    }
    let is_syntax = mentions_any(
        body,
        &[
            "yntax error",
            "unexpected EOF while looking",
            "ad substitution",
            "unexpected argument",
            "conditional binary operator expected",
            "unexpected token",
            "operator expected",
            "integer expression expected",
            "missing `]'",
            "too many arguments",
            "ambiguous redirect",
            "division by 0",
            "value too great for base",
            "not a valid identifier",
            "unexpected operator",
            "expecting ",
            "Illegal number",
            "bad variable name",
            "bad array subscript",
            "error token is",
        ],
    );
    if is_syntax {
        return Some(finding("SyntaxError"));
    }
    if mentions(body, "annot allocate memory") {
        let mut finding = finding("OutOfMemory");
        finding.severity = Severity::Critical;
        return Some(finding);
    }
    let missing_file = |file: &str| finding("FileNotFoundError").at(file, None);
    if let Some(file) = body.strip_suffix(": cannot execute: required file not found") {
        return Some(missing_file(file));
    }
    if let Some((file, _)) = body.split_once(": cannot execute binary file") {
        return Some(finding("BuildError").at(file.rsplit(": ").next().unwrap_or(file), None));
    }
    if let Some((file, _)) = body.split_once(": bad interpreter: ") {
        return Some(missing_file(file.split(": ").next().unwrap_or(file)));
    }
    for start in ["cannot open ", "Can't open ", "cd: can't cd to "] {
        if let Some(rest) = body.strip_prefix(start) {
            let (file, why) = rest.split_once(": ").unwrap_or((rest, ""));
            let name = if mentions(why, "denied") {
                "PermissionError"
            } else {
                "FileNotFoundError"
            };
            return Some(finding(name).at(file, None));
        }
    }
    if let Some(rest) = body.strip_prefix("cannot create ") {
        let (file, why) = rest.split_once(": ")?;
        let name = if mentions(why, "denied") {
            "PermissionError"
        } else {
            "FileNotFoundError"
        };
        return Some(finding(name).at(file, None));
    }
    if body.ends_with(": readonly variable") || body.ends_with(": is read only") {
        return Some(finding("SyntaxError"));
    }
    let ends_with_reason = [
        "No such file or directory",
        "Permission denied",
        "No space left on device",
        "Operation not permitted",
        "Read-only file system",
    ]
    .iter()
    .find(|reason| body.ends_with(*reason))?;
    let name = if *ends_with_reason == "Read-only file system" {
        "PermissionError"
    } else {
        reason(body)?
    };
    let mut result = finding(name);
    if name == "DiskFull" {
        result.severity = Severity::Critical;
    }
    // `cd: /x: No such file or directory`
    let file = body[..body.len() - ends_with_reason.len()]
        .trim_end_matches(": ")
        .rsplit(": ")
        .next()?;
    let is_write = file == "write error" || file == "echo" || file.is_empty();
    Some(if is_write {
        result
    } else {
        result.at(file, None)
    })
}

/// Reads ShellCheck's `tty` and `gcc` formats.
fn shellcheck(lines: &[Line], found: &mut Vec<Finding>) {
    let mut place: Option<(&str, u32)> = None;
    let make = |at: usize, level: &str, code: &str, message: &str, file: &str, row: u32| {
        let severity = if level == "error" {
            Severity::Medium
        } else {
            Severity::Low
        };
        let mut finding = Finding::new(at, at, "LintError", severity, message.trim()).at(file, row);
        finding.code = Some(code.to_owned());
        finding
    };
    for at in 0..lines.len() {
        let line = text(lines, at).trim_end();
        if let Some(rest) = line.strip_prefix("In ") {
            place = rest
                .strip_suffix(':')
                .and_then(|rest| rest.rsplit_once(" line "))
                .and_then(|(file, row)| Some((file, row.parse().ok()?)));
        } else if let (Some((file, row)), Some(mark)) =
            (place, line.find("-- SC").or_else(|| line.find("^ SC")))
        {
            // `^--^ SC2086 (info): text`, before 0.8 `^-- SC2086: text`
            let rest = line[mark..].trim_start_matches(['^', '-', ' ']);
            let Some((head, message)) = rest.split_once(": ") else {
                continue;
            };
            let (code, level) = head
                .split_once(" (")
                .map_or((head, "warning"), |(code, level)| {
                    (code, level.trim_end_matches(')'))
                });
            found.push(make(at, level, code, message, file, row));
        } else if line.ends_with(']')
            && let Some((rest, code)) = line.rsplit_once(" [SC")
            && let Some((file, row, body)) = super::scan::place_before(rest)
            && let Some((level, message)) = body.split_once(": ")
        {
            let code = format!("SC{}", code.trim_end_matches(']'));
            found.push(make(at, level, &code, message, file, row));
        }
    }
    let _ = between;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: a command that is missing is named in the forms of all shells.
    #[test]
    fn missing_commands_are_named() {
        for (text, file, line) in [
            ("bash: shopctl: command not found", "", 0),
            ("-bash: shopctl: command not found", "", 0),
            ("bash: line 1: shopctl: command not found", "", 0),
            ("/bin/sh: 1: shopctl: not found", "", 0),
            ("/bin/sh: line 1: shopctl: command not found", "", 0),
            ("deploy.sh: 4: shopctl: not found", "deploy.sh", 4),
            (
                "./deploy.sh: line 4: shopctl: command not found",
                "./deploy.sh",
                4,
            ),
            ("zsh: command not found: shopctl", "", 0),
            ("deploy.zsh:4: command not found: shopctl", "deploy.zsh", 4),
            ("fish: Unknown command: shopctl", "", 0),
            (
                "fish: Unknown command: shopctl\ndeploy.fish (line 4): \nshopctl\n",
                "deploy.fish",
                4,
            ),
            (
                "'shopctl' is not recognized as an internal or external command,",
                "",
                0,
            ),
            (
                "/bin/sh: 1: shopctl: not found\nmake: *** [Makefile:4: all] Error 127\n",
                "Makefile",
                4,
            ),
        ] {
            assert_eq!(
                first(read, text),
                event("CommandNotFound", file, line),
                "{text}"
            );
            assert_eq!(
                findings(read, text)[0].module.as_deref(),
                Some("shopctl"),
                "{text}"
            );
        }
    }

    /// CAKE-WATCH-1: prose and logs with the same words are not errors of a shell.
    #[test]
    fn prose_is_not_an_error_of_a_shell() {
        for text in [
            "user 12: not found in the list",
            "I ran bash: it was not found",
            "see line 3: command not found",
            "orders: 2: skipped",
            "page: not found",
        ] {
            assert_eq!(findings(read, text), [], "{text}");
        }
    }
}
