//! Node.js: uncaught errors with their causes, warnings of the process, out of memory and aborts.

use std::borrow::Cow;

use super::{
    passing::is_passing,
    scan::{
        between, class_and_message, is_exception, mentions, named, on_one_line, place, quoted,
        starts_any, text, without_scheme,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of a message between the class and the first frame.
const LONGEST_MESSAGE: usize = 40;

/// Reads what Node.js prints when a program ends by an error.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("    at ") || lines.has("Node.js v") || lines.has("[AggregateError") {
        read_errors(lines, found);
    }
    if lines.has("(node:") || lines.has("node: ") {
        read_process(lines, found);
    }
    if lines.has("heap out of memory") || lines.has("----- Native stack trace -----") {
        read_aborts(lines, found);
    }
}

/// The first line of a JavaScript error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header<'a> {
    /// Its class.
    pub(super) class: &'a str,
    /// The code in brackets, if any.
    pub(super) code: Option<&'a str>,
    /// The message on the first line.
    pub(super) message: &'a str,
}

/// Returns the parts of `Class [CODE]: message`, `Class: message`, `Class` or `[Class: message]`.
pub(super) fn header(line: &str) -> Option<Header<'_>> {
    let mut text = line.trim();
    for before in [
        "Exception during run: ",
        "error: ",
        "Uncaught ",
        "(in promise) ",
        "thrown: ",
    ] {
        text = text.strip_prefix(before).unwrap_or(text);
    }
    let text = match text.strip_prefix('[') {
        Some(inner) => inner
            .trim_end_matches([' ', '{'])
            .strip_suffix(']')
            .unwrap_or(inner),
        None => text,
    };
    if let Some((name, rest)) = text.split_once(" [")
        && let Some((code, rest)) = rest.split_once(']')
        && !name.contains([' ', ':'])
    {
        let message = rest.strip_prefix(':').unwrap_or(rest).trim();
        let (class, _) = class_and_message(name)?;
        let is_class = is_exception(class) || code == "Error";
        let code = (code != "Error" && !code.contains(' ')).then_some(code);
        return is_class.then_some(Header {
            class,
            code,
            message,
        });
    }
    let text = text.strip_suffix(" {").unwrap_or(text);
    let (class, message) = class_and_message(text)?;
    let name = text.split([':', ' ']).next()?;
    (!name.contains('.')).then_some(Header {
        class,
        code: None,
        message,
    })
}

/// A frame of a JavaScript stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    place: Option<(&'a str, u32)>,
}

impl<'a> Frame<'a> {
    /// Returns its file and line; `<anonymous>` has none.
    pub(super) fn place(self) -> Option<(&'a str, u32)> {
        self.place
    }
}

/// Returns the frame of `    at f (file:1:2)` or `    at file:1:2`.
pub(super) fn frame(line: &str) -> Option<Frame<'_>> {
    let trimmed = line.trim_start();
    if trimmed.len() == line.len() {
        return None;
    }
    let rest = trimmed
        .strip_prefix("at ")?
        .trim_end_matches([',', '{', ' ']);
    let inner = match rest.strip_suffix(')') {
        Some(inner) => {
            let open = inner.rfind(" (")?;
            &inner[open + 2..]
        }
        None => rest.strip_prefix("async ").unwrap_or(rest),
    };
    if inner == "<anonymous>" || inner == "native" || inner.starts_with("index ") {
        return Some(Frame { place: None });
    }
    let (file, _) = inner.rsplit_once(':')?;
    let column = &inner[file.len() + 1..];
    let is_place = column.bytes().all(|byte| byte.is_ascii_digit()) && !column.is_empty();
    let (file, number) = place(inner)?;
    is_place.then_some(Frame {
        place: Some((file, number)),
    })
}

/// Whether a file is the project's, not the platform's or a dependency's.
pub(super) fn is_project(file: &str) -> bool {
    !(starts_any(
        file,
        &[
            "node:",
            "internal/",
            "<anonymous",
            "[eval]-wrapper",
            "[stdin]-wrapper",
            "bun:",
            "ext:",
            "webpack/",
            "evalmachine",
            "https://",
            "native",
        ],
    ) || mentions(file, "node_modules/")
        || mentions(file, "/.yarn/"))
}

/// Returns the type for an error: its class, or the reason that the class `Error` hides.
pub(super) fn error_type(class: &str, code: Option<&str>, message: &str) -> Cow<'static, str> {
    if class != "Error" && class != "SystemError" {
        return named(class);
    }
    let code = code.or_else(|| {
        message.split([' ', ':', ',']).find(|word| {
            word.len() > 4
                && word.starts_with('E')
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
    });
    let is_missing = missing_module(message).is_some();
    match code {
        Some("MODULE_NOT_FOUND" | "ERR_MODULE_NOT_FOUND" | "ERR_PACKAGE_PATH_NOT_EXPORTED") => {
            "DependencyError".into()
        }
        Some(code) => super::scan::reason(code).map_or_else(|| named(class), Into::into),
        None if is_missing => "DependencyError".into(),
        None => named(class),
    }
}

/// Returns the module that an error cannot find.
pub(super) fn missing_module(message: &str) -> Option<&str> {
    // Vitest 1: `Failed to load url zod (resolved id: zod) in /w/a.test.ts. Does the file exist?`.
    if let Some(rest) = message.split("Failed to load url ").nth(1)
        && mentions(rest, "Does the file exist?")
    {
        return rest.split(' ').next();
    }
    for before in [
        "Cannot find module ",
        "Cannot find package ",
        "Failed to resolve import ",
        "Could not resolve ",
        "Can't resolve ",
    ] {
        if let Some(at) = message.find(before) {
            return quoted(&message[at + before.len()..]);
        }
    }
    None
}

/// An error of a chain, as it is printed.
struct Thrown<'a> {
    first: usize,
    header: Header<'a>,
    message: String,
    code: Option<&'a str>,
    place: Option<(&'a str, u32)>,
    is_member: bool,
}

/// Reads errors that start a line, with the source above them and their causes below.
fn read_errors(lines: &[Line], found: &mut Vec<Finding>) {
    let is_quiet = is_passing(lines);
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        if line.starts_with("(Use `node --trace-uncaught") {
            thrown_value(lines, at, found);
            at += 1;
            continue;
        }
        if line.starts_with("Node.js v") {
            let is_known = found.iter().any(|finding| {
                finding.severity != Severity::Low && finding.last + 14 > at && finding.first < at
            });
            if !is_known {
                thrown_value(lines, at, found);
            }
            at += 1;
            continue;
        }
        let is_start = line.starts_with(|letter: char| letter.is_ascii_uppercase())
            || starts_any(
                line,
                &[
                    "[AggregateError",
                    "error: Uncaught",
                    " Exception during run: ",
                    "[Error",
                    "[TypeError",
                ],
            );
        let Some(header) = is_start.then(|| header(line)).flatten() else {
            at += 1;
            continue;
        };
        let is_group = line.starts_with('[') && line.ends_with('{');
        let frames = if is_group {
            Some(at + 1)
        } else {
            first_frame(lines, at, header.class)
        };
        let Some(frames) = frames else {
            at += 1;
            continue;
        };
        let source = source_above(lines, at);
        let (chain, last) = chain(lines, at, header, frames);
        let is_uncaught = source.is_some()
            || (last + 1..last + 4).any(|at| text(lines, at).starts_with("Node.js v"));
        if (!is_quiet || is_uncaught) && !is_captured(lines, at) {
            report(chain, last, source, found);
        }
        at = last + 1;
    }
}

/// Returns the first frame after a header, if only a message is between.
fn first_frame(lines: &[Line], at: usize, class: &str) -> Option<usize> {
    for (below, line) in lines.iter().enumerate().skip(at + 1).take(LONGEST_MESSAGE) {
        if frame(line.text()).is_some() {
            // A class without a telling name needs its frames right below.
            let is_telling = is_exception(class) || class.ends_with("Rejection");
            return (is_telling || below - at <= 3).then_some(below);
        }
        let is_other = starts_any(line.text(), &["FAIL", "PASS", "Node.js v", "npm "])
            || (line
                .text()
                .starts_with(|letter: char| letter.is_ascii_uppercase())
                && header(line.text()).is_some_and(|header| is_exception(header.class)));
        if is_other {
            return None;
        }
    }
    None
}

/// Whether a test runner captured the lines as the output of a test (`stderr | file > test`).
fn is_captured(lines: &[Line], at: usize) -> bool {
    for above in (at.saturating_sub(40)..at).rev() {
        let line = text(lines, above);
        if starts_any(line, &["stderr | ", "stdout | "]) {
            return true;
        }
        if line.trim().is_empty() {
            return false;
        }
    }
    false
}

/// Returns the place of the source that Node prints above an uncaught error, and its line in the output.
fn source_above(lines: &[Line], at: usize) -> Option<(&str, u32, usize)> {
    let start = at.saturating_sub(16);
    for above in (start..at).rev() {
        let line = text(lines, above);
        let line = line.strip_prefix(" Exception during run: ").unwrap_or(line);
        if line.starts_with([' ', '\t']) || line.is_empty() || line.contains(' ') {
            continue;
        }
        if let Some((file, number)) = place(line) {
            let has_marker =
                (above + 1..at).any(|at| text(lines, at).trim_start().starts_with('^'));
            return has_marker.then_some((file, number, above));
        }
    }
    None
}

/// Returns an error and its causes, the outermost first, and their last line.
fn chain<'a>(
    lines: &'a [Line],
    at: usize,
    header: Header<'a>,
    frames: usize,
) -> (Vec<Thrown<'a>>, usize) {
    let mut message = header.message.to_owned();
    for line in &lines[at + 1..frames.min(lines.len())] {
        let part = line.text().trim();
        if !part.is_empty() && !part.starts_with("- ") && part != "Require stack:" {
            message.push(' ');
            message.push_str(part);
        }
    }
    let stack = (at + 1..frames).find_map(|at| text(lines, at).strip_prefix("- "));
    let mut chain = vec![Thrown {
        first: at,
        code: header.code,
        header,
        message,
        place: None,
        is_member: false,
    }];
    let mut last = at;
    let mut depth = usize::from(text(lines, at).ends_with('{'));
    for below in frames..lines.len() {
        let line = text(lines, below);
        let trimmed = line.trim();
        if let Some(frame) = frame(line) {
            let current = chain.len() - 1;
            if let Some(place) = frame.place.filter(|(file, _)| is_project(file))
                && chain[current].place.is_none()
            {
                chain[current].place = Some(place);
            }
        } else if let Some(cause) = trimmed.strip_prefix("[cause]: ") {
            if let Some(header) = self::header(cause) {
                chain.push(thrown(below, header, false));
            }
        } else if depth > 0 && line.starts_with("    ") && chain[0].header.class == "AggregateError"
        {
            if let Some(header) = self::header(line).filter(|header| is_exception(header.class)) {
                chain.push(thrown(below, header, true));
            }
        } else if let Some(code) = trimmed.strip_prefix("code: ") {
            let current = chain.len() - 1;
            chain[current].code = chain[current].code.or(quoted(code));
        } else if depth == 0 && !starts_any(trimmed, &["...", "Emitted '", "}"]) {
            break;
        }
        if trimmed.ends_with('{') || trimmed.ends_with('[') {
            depth += 1;
        }
        if starts_any(trimmed, &["}", "]"]) {
            depth = depth.saturating_sub(1);
        }
        last = below;
        if depth == 0 && line.starts_with('}') {
            break;
        }
    }
    if chain[0].place.is_none()
        && let Some(file) = stack
    {
        chain[0].place = Some((file, 0));
    }
    (chain, last)
}

fn thrown(first: usize, header: Header<'_>, is_member: bool) -> Thrown<'_> {
    Thrown {
        first,
        code: header.code,
        message: header.message.to_owned(),
        header,
        place: None,
        is_member,
    }
}

/// Appends the errors of a chain: the innermost cause is the one to act on, or the group.
fn report(
    chain: Vec<Thrown<'_>>,
    last: usize,
    source: Option<(&str, u32, usize)>,
    found: &mut Vec<Finding>,
) {
    let count = chain.len();
    let is_group = chain.iter().any(|thrown| thrown.is_member);
    let start = source.map_or(chain[0].first, |(_, _, line)| line);
    for (index, thrown) in chain.into_iter().enumerate() {
        let is_primary = if is_group {
            index == 0
        } else {
            index + 1 == count
        };
        let class = thrown.header.class;
        let mut name = error_type(class, thrown.code, &thrown.message);
        let mut place = thrown.place.map(|(file, line)| (file.to_owned(), line));
        if let Some((file, line, _)) = source.filter(|(file, _, _)| is_project(file) && index == 0)
            && (place.is_none() || class == "SyntaxError")
        {
            place = Some((file.to_owned(), line));
        }
        if mentions(file_of(source), "<anonymous_script>") && class == "SyntaxError" {
            place = thrown.place.map(|(file, line)| (file.to_owned(), line));
        }
        let module = missing_module(&thrown.message);
        if place.is_none()
            && let Some((_, file)) = thrown.message.rsplit_once(" imported from ")
        {
            let file = file.split_whitespace().next().unwrap_or(file);
            place = Some((without_scheme(file).to_owned(), 0));
        }
        if place.is_none()
            && let Some(module) =
                module.filter(|module| module.starts_with('/') || module.contains(":\\"))
        {
            // The program itself does not exist.
            place = Some((module.to_owned(), 0));
            name = "FileNotFoundError".into();
        }
        let severity = if name == "DiskFull" {
            Severity::Critical
        } else {
            Severity::High
        };
        let first = if is_primary { start } else { thrown.first };
        let mut finding = Finding::new(first, last, name, severity, on_one_line(&thrown.message));
        if let Some((file, line)) = place {
            finding = finding.at(file, line);
        }
        finding.code = thrown.code.map(str::to_owned);
        finding.module = module.map(str::to_owned);
        finding.is_secondary = !is_primary;
        if finding.message.is_empty() {
            class.clone_into(&mut finding.message);
        }
        found.push(finding);
    }
}

fn file_of(source: Option<(&str, u32, usize)>) -> &str {
    source.map_or("", |(file, _, _)| file)
}

/// Reads `throw 'text'`: an uncaught value that is no error.
fn thrown_value(lines: &[Line], at: usize, found: &mut Vec<Finding>) {
    if let Some((file, line, first)) = source_above(lines, at) {
        let message = (first + 1..at)
            .rev()
            .map(|at| text(lines, at).trim())
            .find(|line| {
                !line.is_empty() && !starts_any(line, &["(Use `node", "Thrown at:", "at "])
            })
            .unwrap_or_default();
        let name = header(message).map_or("Error".into(), |header| {
            error_type(header.class, header.code, header.message)
        });
        let finding = Finding::new(first, at, name, Severity::High, message);
        found.push(if is_project(file) {
            finding.at(file, line)
        } else {
            finding
        });
    }
}

/// Reads warnings of the process and refused options.
fn read_process(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        if let Some(rest) = line.strip_prefix("(node:")
            && let Some((_, rest)) = rest.split_once(") ")
        {
            let (code, rest) = match rest
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("] "))
            {
                Some((code, rest)) => (Some(code), rest),
                None => (None, rest),
            };
            let Some((class, message)) = class_and_message(rest) else {
                continue;
            };
            if class == "UnhandledPromiseRejectionWarning" {
                let header = header(message);
                let class = header
                    .as_ref()
                    .map_or("UnhandledPromiseRejection", |header| header.class);
                let mut finding = Finding::new(at, at, named(class), Severity::High, message);
                let place = (at + 1..lines.len())
                    .map_while(|at| frame(text(lines, at)))
                    .filter_map(Frame::place)
                    .find(|(file, _)| is_project(file));
                if let Some((file, line)) = place {
                    finding = finding.at(file, line);
                }
                if !message.starts_with("Unhandled promise rejection") {
                    found.push(finding);
                }
                continue;
            }
            if class.ends_with("Warning") {
                let mut finding = Finding::new(at, at, named(class), Severity::Low, message);
                finding.code = code.map(str::to_owned);
                found.push(finding);
            }
        } else if starts_any(line, &["node: bad option: ", "node: bad value", "node: --"])
            || (line.starts_with("node: ") && mentions(line, " requires an argument"))
        {
            found.push(Finding::new(at, at, "BuildError", Severity::High, line));
        }
    }
}

/// Reads an exhausted heap and `process.abort`.
fn read_aborts(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        if line.starts_with("FATAL ERROR: ") && mentions(line, "heap out of memory") {
            let message = line.split("FATAL ERROR: ").nth(1).unwrap_or(line);
            found.push(Finding::new(
                at,
                at,
                "OutOfMemory",
                Severity::Critical,
                message,
            ));
            return;
        }
        if line.starts_with("----- Native stack trace -----") {
            let is_after_message = at > 0 && mentions(text(lines, at - 1), "FATAL ERROR");
            if is_after_message {
                continue;
            }
            let stack = (at..lines.len().min(at + 60))
                .find(|at| text(lines, *at).starts_with("----- JavaScript stack trace -----"));
            let place = stack.and_then(|stack| {
                (stack + 1..lines.len().min(stack + 30)).find_map(|at| {
                    let (_, frame) = text(lines, at).split_once(": ")?;
                    let inner = between(frame, "(", ")").unwrap_or(frame);
                    place(inner).filter(|(file, _)| is_project(file))
                })
            });
            let last = stack.unwrap_or(at);
            let finding = Finding::new(at, last, "Abort", Severity::High, "the process aborted");
            found.push(match place {
                Some((file, line)) => finding.at(file, line),
                None => finding,
            });
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: classes, codes and bracketed errors are read from the first line.
    #[test]
    fn headers_are_read_in_their_forms() {
        let read = |line| header(line).map(|header| (header.class, header.code, header.message));
        assert_eq!(
            read("TypeError [ERR_X]: no"),
            Some(("TypeError", Some("ERR_X"), "no"))
        );
        assert_eq!(read("Bad [Error]: no"), Some(("Bad", None, "no")));
        assert_eq!(
            read("[AggregateError: all] {"),
            Some(("AggregateError", None, "all"))
        );
        assert_eq!(
            read("error: Uncaught (in promise) Error: x"),
            Some(("Error", None, "x"))
        );
        assert_eq!(read("a line of text"), None);
    }

    /// CAKE-WATCH-1: a refused connection and a missing package name their reason.
    #[test]
    fn reasons_of_plain_errors_are_named() {
        let text = "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1595:16) {\n  errno: -111,\n  code: 'ECONNREFUSED',\n  syscall: 'connect'\n}\n\nNode.js v22.1.0\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.error_type, "ConnectionError");
        assert_eq!(finding.code.as_deref(), Some("ECONNREFUSED"));
        let text = "node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module 'left-pad'\nRequire stack:\n- /w/lib/a.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)\n    at require (node:internal/modules/helpers:177:18)\n    at Object.<anonymous> (/w/lib/a.js:9:11) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/w/lib/a.js' ]\n}\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.module.as_deref(), Some("left-pad"));
        assert_eq!(
            first(read, text),
            event("DependencyError", "/w/lib/a.js", 9)
        );
    }

    /// CAKE-WATCH-1: errors that passing tests print, and errors in prose, are quiet.
    #[test]
    fn captured_errors_are_quiet() {
        let text = "stderr | a.test.js > x\nError: no\n    at f (/w/a.js:1:2)\n\n";
        assert!(findings(read, text).is_empty());
        let text = "Error: no\n    at f (/w/a.js:1:2)\n\n  3 passing (5ms)\n";
        assert!(findings(read, text).is_empty());
        assert!(findings(read, "TypeError: see below\n\nSome text.\n").is_empty());
    }
}
