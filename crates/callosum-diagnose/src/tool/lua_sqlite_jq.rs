//! Small interpreters with a message each: Lua, SQLite's shell and jq.

use super::scan::{mentions, mentions_any, number, place_before, quoted, reason, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads Lua, SQLite and jq.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("lua") {
        for at in lines.lines_with(&["lua"]) {
            found.extend(lua(lines, at));
        }
    }
    if lines.has("rror") || lines.has("jq: ") {
        for at in lines.lines_with(&["rror", "jq: "]) {
            let line = text(lines, at);
            found.extend(jq(at, line).or_else(|| sqlite(lines, at, line)));
        }
    }
}

/// Returns the finding of `lua5.4: main.lua:3: message`.
fn lua(lines: &[Line], at: usize) -> Option<Finding> {
    let line = text(lines, at);
    let (program, rest) = line.split_once(": ")?;
    let program = program.rsplit(['/', '\\']).next()?;
    let is_lua = program
        .strip_prefix("lua")
        .is_some_and(|rest| rest.len() < 8 && !rest.contains(' '));
    if !is_lua {
        return None;
    }
    if let Some(file) = rest.strip_prefix("cannot open ") {
        let file = file.split([':', '(']).next().unwrap_or(file).trim();
        let file = file.trim_matches('\'');
        return Some(
            Finding::new(at, at, "FileNotFoundError", Severity::High, rest).at(file, None),
        );
    }
    if rest.starts_with("(error object is ") {
        return Some(Finding::new(at, at, "Panic", Severity::High, rest));
    }
    if starts_any(rest, &["unrecognized option '", "'-"]) {
        return Some(Finding::new(at, at, "BuildError", Severity::High, rest));
    }
    let mut last = at;
    while last + 1 < lines.len() && last < at + 60 {
        let next = text(lines, last + 1);
        if !(next.starts_with('\t') || next.starts_with("stack traceback:")) {
            break;
        }
        last += 1;
    }
    let (file, line_number, message) = place_before(rest)?;
    if file.contains(' ') && file != "(command line)" {
        return None;
    }
    let is_syntax = mentions_any(
        message,
        &[
            " near ",
            "unfinished ",
            "malformed number",
            "unexpected symbol",
            " expected ",
            "no visible label",
        ],
    ) && !message.starts_with("attempt to")
        && !message.starts_with("bad argument");
    let name = if is_syntax {
        "SyntaxError"
    } else if message.starts_with("module '") {
        "DependencyError"
    } else {
        reason(message).unwrap_or("Panic")
    };
    let mut finding = Finding::new(at, last, name, Severity::High, message).at(file, line_number);
    if name == "DependencyError" {
        finding.module = quoted(message).map(str::to_owned);
    }
    Some(finding)
}

/// Returns the finding of a message of jq.
fn jq(at: usize, line: &str) -> Option<Finding> {
    if starts_any(
        line,
        &[
            "jq: Unknown option ",
            "jq: Unknown arguments",
            "jq: error: Unknown option",
        ],
    ) {
        return Some(Finding::new(at, at, "BuildError", Severity::High, line));
    }
    let rest = line.strip_prefix("jq: ");
    let plain = rest.unwrap_or(line);
    if let Some(message) = plain.strip_prefix("parse error: ") {
        let (text_of, place) = message.rsplit_once(" at line ")?;
        let (line_number, after) = number(place)?;
        if !after.starts_with(", column ") {
            return None;
        }
        let mut finding = Finding::new(at, at, "JSONParseError", Severity::High, text_of);
        finding.line = Some(line_number).filter(|line| *line > 0);
        return Some(finding);
    }
    let message = rest?.strip_prefix("error")?;
    if let Some(rest) = message
        .strip_prefix(": Could not open file ")
        .or_else(|| message.strip_prefix(": Could not open "))
    {
        let file = rest.split(": ").next()?;
        let name = reason(rest).unwrap_or("FileNotFoundError");
        return Some(Finding::new(at, at, name, Severity::High, &line[4..]).at(file, None));
    }
    let message = message.trim_start_matches([':', ' ']);
    // `(at shop.json:1): Cannot index number`: the line of the input.
    if let Some((location, rest)) = message
        .strip_prefix("(at ")
        .and_then(|rest| rest.split_once("): "))
        && let Some((file, line)) = super::scan::place(location)
    {
        let mut finding = Finding::new(at, at, "BuildError", Severity::High, rest);
        if file.starts_with('<') {
            finding.line = Some(line).filter(|line| *line > 0);
        } else {
            finding = finding.at(file, line);
        }
        return Some(finding);
    }
    if let Some(module) = message.strip_prefix("module not found: ") {
        let mut finding = Finding::new(at, at, "DependencyError", Severity::High, message);
        finding.module = Some(module.trim().to_owned());
        return Some(finding);
    }
    let line_number = message
        .rsplit_once(", line ")
        .and_then(|(_, rest)| number(rest))
        .map(|(line, _)| line);
    let name = if message.starts_with("syntax error") {
        "SyntaxError"
    } else if mentions(message, " is not defined") {
        "CompileError"
    } else {
        "BuildError"
    };
    let mut finding = Finding::new(at, at, name, Severity::High, message);
    finding.line = line_number.filter(|line| *line > 0);
    if name == "CompileError" {
        finding.module = message.split(" is not defined").next().map(str::to_owned);
    }
    Some(finding)
}

/// Returns the finding of a message of `sqlite3`.
fn sqlite(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    if line.starts_with("sqlite3: Error: unknown option: ") {
        return Some(Finding::new(at, at, "BuildError", Severity::High, line));
    }
    if !starts_any(line, &["Parse error", "Runtime error", "Error: "]) {
        return None;
    }
    let (message, line_number) = if let Some(rest) = line
        .strip_prefix("Parse error")
        .or_else(|| line.strip_prefix("Runtime error"))
    {
        let rest = rest.trim_start();
        let near = rest.strip_prefix("near line ").and_then(number);
        let in_place = rest.starts_with(':') || rest.starts_with("in ") || near.is_some();
        if !in_place {
            return None;
        }
        let message = near
            .map_or(rest, |(_, rest)| rest)
            .trim_start_matches([':', ' ']);
        (message, near.map(|(line, _)| line))
    } else {
        let rest = line.strip_prefix("Error: ")?;
        let near = rest.strip_prefix("near line ").and_then(number);
        let message = rest
            .strip_prefix("in prepare, ")
            .or_else(|| rest.strip_prefix("stepping, "));
        match (near, message) {
            (Some((line, rest)), _) => (rest.trim_start_matches([':', ' ']), Some(line)),
            (_, Some(message)) => (message, None),
            _ if starts_any(
                rest,
                &[
                    "unable to open database",
                    "no such table: ",
                    "no such column: ",
                    "database is locked",
                    "database disk image is malformed",
                    "file is not a database",
                    "cannot open \"",
                    "unknown command or invalid arguments:",
                ],
            ) || (rest.starts_with("near \"") && rest.ends_with("syntax error")) =>
            {
                (rest, None)
            }
            _ => return None,
        }
    };
    let (name, severity) = if mentions(message, "syntax error")
        || mentions(message, "incomplete input")
        || mentions(message, "unrecognized token")
    {
        ("SyntaxError", Severity::High)
    } else if mentions_any(message, &["malformed", "is not a database"]) {
        ("BuildError", Severity::Critical)
    } else if mentions_any(message, &["unable to open database", "cannot open"]) {
        ("FileNotFoundError", Severity::High)
    } else if mentions(message, "database or disk is full") {
        ("DiskFull", Severity::Critical)
    } else if starts_any(message, &["no such "]) {
        ("CompileError", Severity::High)
    } else {
        ("BuildError", Severity::High)
    };
    let has_marker = (at + 1..at + 4).any(|at| {
        mentions(text(lines, at), "error here ---^") || mentions(text(lines, at), "^--- error here")
    });
    let last = if has_marker {
        (at + 2).min(lines.len() - 1)
    } else {
        at
    };
    let mut finding = Finding::new(at, last, name, severity, message);
    if name == "FileNotFoundError"
        && let Some(file) = quoted(message)
    {
        finding = finding.at(file, None);
    } else {
        finding.line = line_number.filter(|line| *line > 0);
    }
    if let Some(rest) = message.strip_prefix("no such ") {
        finding.module = rest.split_once(": ").map(|(_, name)| name.to_owned());
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: run-time errors, missing modules and newer forms are read.
    #[test]
    fn other_forms_are_read() {
        let text = "lua: shop.lua:7: attempt to index a nil value (global 'cart')\nstack traceback:\n\t[C]: in ?\n";
        assert_eq!(first(read, text), event("Panic", "shop.lua", 7));
        let text = "luajit: shop.lua:1: module 'socket' not found:\n\tno field package.preload['socket']\n";
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("socket"));
        assert_eq!(
            first(
                read,
                "jq: parse error: Invalid numeric literal at line 3, column 4\n"
            ),
            event("JSONParseError", "", 3)
        );
        assert_eq!(
            first(read, "Parse error near line 2: no such table: orders\n").0,
            "CompileError"
        );
        assert!(findings(read, "Error: something else\nluau: a note\n").is_empty());
    }
}
