//! Python: tracebacks, chained and grouped ones, syntax errors, unittest, warnings, and what the interpreter itself prints.

use std::borrow::Cow;

use super::scan::{bare_class, class_and_message, named, on_one_line, quoted, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Opens every traceback.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// Opens the traceback of an exception group, which goes on at the column of its `|`.
const GROUP: &str = "Exception Group Traceback (most recent call last):";

/// Between a cause and the exception that it led to.
const LINKS: [&str; 2] = [
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
];

/// Parts of paths that are not the project's.
const LIBRARIES: [&str; 8] = [
    "/lib/python",
    "\\lib\\python",
    "\\Lib\\",
    "site-packages",
    "dist-packages",
    "<frozen ",
    "<__array_function__",
    "/pyenv/versions/",
];

/// Lines between a traceback's header and its exception at most.
const LONGEST: usize = 3_000;

/// Reads tracebacks, syntax errors and warnings of Python.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has(TRACEBACK) {
        read_tracebacks(lines, found);
    }
    if lines.has("Error: ") && lines.has("File \"") {
        read_syntax_errors(lines, found);
    }
    if lines.has("Warning: ") {
        read_warnings(lines, found);
    }
    if lines.has("ython") || lines.has("(char ") {
        read_interpreter(lines, found);
    }
}

/// A `File "x", line n, in f` line.
struct Frame<'a> {
    file: &'a str,
    line: u32,
    /// Whether a function follows. The place of a syntax error has none.
    has_function: bool,
}

impl Frame<'_> {
    fn is_projects(&self) -> bool {
        is_projects(self.file)
    }
}

/// Whether a path is of the project and not of Python or an installed package.
pub(super) fn is_projects(file: &str) -> bool {
    !LIBRARIES.iter().any(|part| file.contains(part)) && !file.starts_with("<attrs")
}

/// Reads a frame from a line without its indentation.
fn frame(line: &str) -> Option<Frame<'_>> {
    let rest = line.strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let end = rest
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(rest.len());
    Some(Frame {
        file,
        line: rest[..end].parse().ok()?,
        has_function: rest[end..]
            .trim_start_matches(',')
            .trim_start()
            .starts_with("in "),
    })
}

/// The header above a traceback of unittest.
struct UnitTest {
    name: String,
    /// Whether an assertion failed, as opposed to another exception.
    has_failed: bool,
    /// Whether the module of the test cannot be imported.
    is_import: bool,
    first: usize,
}

/// Returns the header of unittest above a line: `FAIL: test_a (m.T.test_a)` over a rule of dashes.
fn unit_test(lines: &[Line], at: usize) -> Option<UnitTest> {
    let rule = (at.saturating_sub(4)..at)
        .rev()
        .find(|&above| is_rule(text(lines, above), '-'))?;
    let header = (rule.saturating_sub(3)..rule).rev().find_map(|above| {
        let line = text(lines, above);
        let name = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "))?;
        Some((above, line.starts_with("FAIL: "), name))
    });
    let (first, has_failed, name) = header?;
    Some(UnitTest {
        name: name.to_owned(),
        has_failed,
        is_import: name.contains("_FailedTest") || name.contains("ModuleImportFailure"),
        first,
    })
}

/// Whether a line is a rule of one character.
pub(super) fn is_rule(line: &str, mark: char) -> bool {
    line.len() >= 20 && line.chars().all(|letter| letter == mark)
}

fn read_tracebacks(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let mut next = 0;
    let mut is_below_link = false;
    let start = found.len();
    for at in lines.lines_with(&[TRACEBACK, LINKS[0], LINKS[1]]) {
        if at < next {
            continue;
        }
        let line = text(lines, at);
        if LINKS.iter().any(|link| line.ends_with(link)) {
            // What came before led to what comes next.
            if let Some(cause) = found[start..].last_mut() {
                cause.is_secondary = true;
            }
            is_below_link = true;
        }
        let header = line
            .find(GROUP)
            .map(|column| (column, true))
            .or_else(|| line.find(TRACEBACK).map(|column| (column, false)));
        let Some((column, is_group)) = header else {
            continue;
        };
        let own = if is_group {
            // `  + Exception Group …` goes on below with `  | `.
            line[..column].replace('+', "|")
        } else {
            line[..column].to_owned()
        };
        let block = read_block(lines, at, &own, is_group);
        next = block.as_ref().map_or(at + 1, |finding| finding.last + 1);
        if let Some(mut finding) = block {
            // Members of a group are drawn with bars.
            finding.is_secondary |= !is_group && own.trim_end().ends_with('|');
            let is_ignored = at > 0 && text(lines, at - 1).starts_with("Exception ignored in");
            if is_ignored {
                finding.severity = Severity::Low;
            }
            if is_below_link && let Some(cause) = found[start..].last() {
                finding.test.clone_from(&cause.test);
            }
            is_below_link = false;
            found.push(finding);
        }
    }
}

/// Reads one traceback from its header on. `own` is the prefix of each of its lines.
fn read_block(lines: &[Line], header: usize, own: &str, is_group: bool) -> Option<Finding> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut end = None;
    let last = lines.len().min(header + LONGEST);
    for at in header + 1..last {
        let line = text(lines, at);
        let bare = own.trim_end();
        let Some(rest) = line
            .strip_prefix(own)
            .or_else(|| line.strip_prefix(bare).filter(|_| !is_group))
        else {
            // A logger may prefix only the header.
            if own.trim().is_empty() || line.is_empty() {
                return None;
            }
            let rest = line;
            if let Some(frame) = frame(rest.trim_start()) {
                frames.push(frame);
                continue;
            }
            if !rest.starts_with(' ') {
                end = exception(rest).map(|exception| (at, exception));
                break;
            }
            continue;
        };
        if let Some(frame) = frame(rest.trim_start()) {
            frames.push(frame);
        } else if rest.starts_with([' ', '\t']) || rest.is_empty() {
            if rest.is_empty() && frames.is_empty() {
                return None;
            }
        } else {
            end = exception(rest).map(|exception| (at, exception));
            break;
        }
    }
    let (at, (class, message)) = end?;
    let unit = unit_test(lines, header);
    let place = place_of(&frames, class);
    let mut severity = severity_of(class, message);
    let mut error_type: Cow<'static, str> = named(class);
    let mut first = header;
    if let Some(unit) = &unit {
        first = unit.first;
        if !unit.is_import {
            severity = severity.min(Severity::Medium);
        }
        if unit.has_failed {
            error_type = Cow::Borrowed("TestFailure");
        }
    }
    let mut finding = Finding::new(first, at, error_type, severity, on_one_line(message));
    if let Some((file, line)) = place {
        finding = finding.at(file, line);
    }
    finding.module = missing_name(class, message);
    finding.test = unit.map(|unit| {
        let name = unit.name.split(" (").next().unwrap_or_default();
        name.to_owned()
    });
    Some(finding)
}

/// Returns the place to look at: the deepest frame of the project, and for a syntax error the one without a function.
fn place_of<'a>(frames: &[Frame<'a>], class: &str) -> Option<(&'a str, u32)> {
    let is_syntax = matches!(class, "SyntaxError" | "IndentationError" | "TabError");
    let last = frames.last();
    let frame = last
        .filter(|frame| is_syntax && !frame.has_function)
        .or_else(|| frames.iter().rev().find(|frame| frame.is_projects()))?;
    Some((frame.file, frame.line))
}

/// Returns class and message of an exception's line: `pkg.Class: message`, or the class alone.
fn exception(line: &str) -> Option<(&str, &str)> {
    let (class, message) = class_and_message(line)?;
    (!class.is_empty()).then_some((class, message))
}

/// Returns the severity of an exception.
fn severity_of(class: &str, message: &str) -> Severity {
    let is_critical = class == "MemoryError"
        || message.contains("[Errno 28]")
        || message.contains("No space left on device");
    if is_critical {
        Severity::Critical
    } else {
        Severity::High
    }
}

/// Returns what is missing according to a message.
pub(super) fn missing_name(class: &str, message: &str) -> Option<String> {
    match class {
        "ModuleNotFoundError" | "ImportError" => {
            if message.contains("No module named") || message.starts_with("cannot import name") {
                return quoted(message).map(str::to_owned);
            }
            None
        }
        "NameError" | "KeyError" | "FileNotFoundError" => quoted(message).map(str::to_owned),
        "AttributeError" => message
            .split_once("has no attribute ")
            .and_then(|(_, rest)| quoted(rest))
            .map(str::to_owned),
        _ => None,
    }
}

/// Reads syntax errors without a traceback: a place, the code, and the exception.
fn read_syntax_errors(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["File \""]) {
        let line = text(lines, at);
        let indented = line.trim_start();
        let Some(frame) = frame(indented).filter(|frame| !frame.has_function) else {
            continue;
        };
        let own = &line[..line.len() - indented.len()];
        let own = &own[..own.len().saturating_sub(2)];
        let end = (at + 1..lines.len().min(at + 6)).find_map(|below| {
            let rest = text(lines, below).strip_prefix(own)?;
            let (class, message) = exception(rest)?;
            matches!(class, "SyntaxError" | "IndentationError" | "TabError")
                .then_some((below, class, message))
        });
        let Some((last, class, message)) = end else {
            continue;
        };
        let above = at.checked_sub(1).map(|above| text(lines, above));
        let first = if above.is_some_and(|above| above.starts_with("*** Error compiling")) {
            at - 1
        } else {
            at
        };
        // A frame above belongs to the traceback that ends here.
        let is_read = found
            .iter()
            .any(|known| (known.first..=known.last).contains(&at));
        if !is_read {
            let message = on_one_line(message);
            found.push(
                Finding::new(first, last, named(class), Severity::High, message)
                    .at(frame.file, frame.line),
            );
        }
    }
}

/// Reads `x.py:7: DeprecationWarning: message`.
fn read_warnings(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["Warning: "]) {
        let line = text(lines, at).trim_start();
        let Some(middle) = line.find("Warning: ") else {
            continue;
        };
        let head = &line[..middle + "Warning".len()];
        let Some((place, class)) = head.rsplit_once(": ") else {
            continue;
        };
        let Some((file, number)) = place.rsplit_once(':') else {
            continue;
        };
        let Ok(number) = number.parse::<u32>() else {
            continue;
        };
        let is_python = file.ends_with(".py") || file.starts_with('<');
        let Some(class) = bare_class(class).filter(|_| is_python && !file.contains(' ')) else {
            continue;
        };
        let message = on_one_line(&line[middle + "Warning: ".len()..]);
        let has_code = text(lines, at + 1).starts_with("  ");
        let last = if has_code { at + 1 } else { at };
        found.push(Finding::new(at, last, named(class), Severity::Low, message).at(file, number));
    }
}

/// Reads errors of the interpreter and of `json.tool` that have no traceback.
fn read_interpreter(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[
        ": can't open file ",
        ": No module named ",
        "Fatal Python error: ",
        "(char ",
    ]) {
        let line = text(lines, at);
        if let Some((program, rest)) = line.split_once(": can't open file ") {
            if is_interpreter(program)
                && let Some(file) = quoted(rest)
            {
                found.push(
                    Finding::new(
                        at,
                        at,
                        "FileNotFoundError",
                        Severity::High,
                        on_one_line(rest),
                    )
                    .at(file, None),
                );
            }
        } else if let Some((program, module)) = line.split_once(": No module named ") {
            if is_interpreter(program) {
                let message = format!("No module named {}", module.trim());
                let mut finding = Finding::new(at, at, "DependencyError", Severity::High, message);
                let name = module.split(['.', ' ', ';']).next().unwrap_or_default();
                finding.module = Some(name.trim_matches('\'').to_owned());
                found.push(finding);
            }
        } else if let Some(reason) = line.strip_prefix("Fatal Python error: ") {
            found.push(fatal(lines, at, reason));
        } else if let Some((message, rest)) = line.split_once(": line ")
            && line.ends_with(')')
            && rest.contains(" column ")
            && rest.contains("(char ")
            && ["Expecting ", "Extra data", "Invalid ", "Unterminated "]
                .iter()
                .any(|start| message.starts_with(start))
        {
            let number = rest
                .split(' ')
                .next()
                .and_then(|number| number.parse().ok());
            let mut finding =
                Finding::new(at, at, "JSONParseError", Severity::High, on_one_line(line));
            finding.line = number;
            found.push(finding);
        }
    }
}

/// Whether a program's name is one of Python's.
fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.starts_with("python") || name.starts_with("pypy")
}

/// Reads a crash of the interpreter, whose frames come with the deepest first.
fn fatal(lines: &[Line], at: usize, reason: &str) -> Finding {
    let (name, severity) = if reason.contains("Segmentation fault") {
        ("SegFault", Severity::Critical)
    } else if reason.contains("MemoryError") {
        ("OutOfMemory", Severity::Critical)
    } else {
        ("Abort", Severity::Critical)
    };
    let mut last = at;
    let mut place = None;
    for below in at + 1..lines.len().min(at + 200) {
        let line = text(lines, below);
        if let Some(frame) = frame(line.trim_start()) {
            last = below;
            if place.is_none() && frame.is_projects() {
                place = Some((frame.file, frame.line));
            }
        } else if !(line.is_empty() || line.contains("hread 0x") || line.starts_with("  ")) {
            break;
        }
    }
    let finding = Finding::new(at, last, name, severity, on_one_line(reason));
    match place {
        Some((file, line)) => finding.at(file, line),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: the deepest frame of the project is the place, and a message may follow on several lines.
    #[test]
    fn the_deepest_frame_of_the_project_is_the_place() {
        let text = "Traceback (most recent call last):\n  File \"/a/app.py\", line 3, in f\n    x()\n  File \
                    \"/usr/lib/python3.11/json/x.py\", line 9, in x\n    y()\nsqlalchemy.exc.OperationalError: (x) no\n";
        assert_eq!(first(read, text), event("OperationalError", "/a/app.py", 3));
    }

    /// CAKE-WATCH-1: a traceback behind a logger's prefix is read, also if only its header has the prefix.
    #[test]
    fn a_prefixed_traceback_is_read() {
        let text = "worker | Traceback (most recent call last):\nworker |   File \"a.py\", line 3, in f\nworker | \
                    KeyError: 'x'\n";
        let found = findings(read, text);
        assert_eq!(found.len(), 1);
        assert_eq!(&*found[0].error_type, "KeyError");
        let text = "2026 ERROR Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nKeyError: 'x'\n";
        assert_eq!(first(read, text), event("KeyError", "a.py", 3));
    }

    /// CAKE-WATCH-1: text that only names a traceback is none.
    #[test]
    fn a_header_alone_is_no_error() {
        for text in [
            "It prints `Traceback (most recent call last):` and goes on.\n",
            "Traceback (most recent call last):\n\nthe end\n",
        ] {
            assert!(findings(read, text).is_empty(), "{text}");
        }
    }
}
