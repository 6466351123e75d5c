//! Bundlers of JavaScript: esbuild, webpack, Vite with Rollup or Rolldown, and Next.js.

use super::{
    node::missing_module,
    scan::{
        mentions, mentions_any, number, on_one_line, place, quoted, starts_any, text,
        without_scheme,
    },
    tsc,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines below a message in which its place is looked for.
const REACH: usize = 12;

/// Reads esbuild, webpack, Vite, Rollup, Rolldown and Next.js.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("[ERROR] ") || lines.has("▲ [WARNING] ") {
        read_esbuild(lines, found);
    }
    if lines.has("ERROR in") || lines.has("WARNING in") || lines.has("[webpack-cli] ") {
        read_webpack(lines, found);
    }
    if lines.has("error during build:")
        || lines.has("Build failed")
        || lines.has("[vite]")
        || lines.has("[!] ")
        || lines.has("failed to load config from")
    {
        read_vite(lines, found);
    }
    if lines.has("Failed to compile") || lines.has("Type error: ") {
        read_next(lines, found);
    }
}

/// Whether the message of a bundler is one of its parser.
fn is_syntax(message: &str) -> bool {
    mentions_any(
        message,
        &[
            "Expected ",
            "Unexpected ",
            "Unterminated ",
            "Syntax error",
            "SyntaxError",
            "PARSE_ERROR",
            "has already been declared",
            "Parse error",
            "Module parse failed",
        ],
    )
}

/// Reads `✘ [ERROR] message` and its indented place.
fn read_esbuild(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at).trim_start();
        let (message, is_error) = if let Some(message) = line
            .strip_prefix("✘ [ERROR] ")
            .or_else(|| line.strip_prefix("X [ERROR] "))
        {
            (message, true)
        } else if let Some(message) = line.strip_prefix("▲ [WARNING] ") {
            (message, false)
        } else {
            continue;
        };
        let mut last = at;
        let mut location = None;
        for below in at + 1..lines.len().min(at + REACH) {
            let next = text(lines, below);
            if starts_any(next.trim_start(), &["✘ [", "▲ [", "X ["]) {
                break;
            }
            if location.is_none()
                && next.starts_with("    ")
                && let Some(inner) = next.trim().strip_suffix(':')
            {
                location = place(inner);
            }
            if !next.trim().is_empty() && next.starts_with(' ') {
                last = below;
            }
        }
        let number = message
            .strip_prefix("TS")
            .and_then(number)
            .filter(|(_, rest)| rest.starts_with(':'));
        let module = message
            .starts_with("Could not resolve ")
            .then(|| quoted(message))
            .flatten();
        let name = match (number, module) {
            (Some((code, _)), _) => tsc::kind(code).0,
            (_, Some(_)) if location.is_none() => "FileNotFoundError",
            (_, Some(_)) => "DependencyError",
            _ if is_syntax(message) && location.is_some() => "SyntaxError",
            _ => "BuildError",
        };
        let (name, severity) = if is_error {
            (name, Severity::High)
        } else {
            ("BuildWarning", Severity::Low)
        };
        let mut finding = Finding::new(at, last, name, severity, message.trim());
        if let Some((file, line)) = location {
            finding = finding.at(file, line);
        } else if name == "FileNotFoundError"
            && let Some(file) = module
        {
            finding = finding.at(file, None);
        }
        finding.code = number.map(|(code, _)| format!("TS{code}"));
        finding.module = module.map(str::to_owned);
        found.push(finding);
    }
}

/// Reads `ERROR in ./main.js 1:0-27` and the message below it.
fn read_webpack(lines: &[Line], found: &mut Vec<Finding>) {
    let start = found.len();
    for at in 0..lines.len() {
        let line = text(lines, at).trim_start();
        if let Some(message) = line.strip_prefix("[webpack-cli] ") {
            if let Some(file) = message.strip_prefix("Failed to load ").and_then(quoted) {
                found.push(webpack_config(lines, at, file));
                continue;
            }
            if at > 0 && mentions(text(lines, at - 1), "[webpack-cli] Failed to load ") {
                continue;
            }
            let is_failure = starts_any(
                message,
                &[
                    "Error: ",
                    "Invalid ",
                    "Failed ",
                    "TypeError: ",
                    "Unknown ",
                    "SyntaxError: ",
                ],
            );
            if is_failure {
                let module = missing_module(message).map(str::to_owned);
                let name = if module.is_some() {
                    "DependencyError"
                } else {
                    "BuildError"
                };
                let mut finding = Finding::new(at, at, name, Severity::High, message);
                finding.module = module;
                found.push(finding);
            }
            continue;
        }
        let line = line.strip_prefix("[tsl] ").unwrap_or(line);
        let (target, is_error) = if let Some(target) = line.strip_prefix("ERROR in") {
            (target, true)
        } else if let Some(target) = line.strip_prefix("WARNING in") {
            (target, false)
        } else {
            continue;
        };
        if !(target.is_empty() || target.starts_with(' ')) {
            continue;
        }
        let target = target.trim();
        let mut below = at + 1;
        while below < lines.len() && text(lines, below).trim().is_empty() {
            below += 1;
        }
        let message = text(lines, below).trim();
        let mut last = below;
        while last + 1 < lines.len() && last - at < 40 && !text(lines, last + 1).trim().is_empty() {
            last += 1;
        }
        if !is_error {
            let message = if message.is_empty() { target } else { message };
            found.push(Finding::new(
                at,
                last,
                "BuildWarning",
                Severity::Low,
                message,
            ));
            continue;
        }
        let finding = webpack(lines, at, last, target, message);
        let is_known = found[start..].iter().any(|other| {
            other.file == finding.file
                && other.line == finding.line
                && other.message == finding.message
        });
        if !is_known {
            found.push(finding);
        }
    }
}

fn webpack(lines: &[Line], at: usize, last: usize, target: &str, message: &str) -> Finding {
    // `./src/a.js 3:4-9`, `./src/a.ts:3:5`, `/w/a.ts(3,5)`, or the name of an entry.
    let (file, line) = match target.split_once(' ') {
        Some((file, range)) => (file, number(range).map(|(line, _)| line)),
        None => match place(target) {
            Some((file, line)) => (file, Some(line)),
            None => match target.split_once('(') {
                Some((file, range)) => (file, number(range).map(|(line, _)| line)),
                None => (target, None),
            },
        },
    };
    let is_file = file.contains('/') || file.contains('.');
    let module = missing_module(message);
    let ts = message
        .strip_prefix("TS")
        .and_then(number)
        .filter(|(_, rest)| rest.starts_with(':'));
    let mut name = "BuildError";
    let mut text_of = message;
    let mut line = line;
    if let Some((code, _)) = ts {
        name = tsc::kind(code).0;
    } else if module.is_some() {
        name = if is_file {
            "DependencyError"
        } else {
            "FileNotFoundError"
        };
    } else if message.starts_with("Module parse failed") {
        name = "SyntaxError";
        line = line.or_else(|| message_line(message));
    } else if message.starts_with("Module build failed") {
        let inner = text(lines, at + 2).trim();
        text_of = inner;
        if inner.starts_with("SyntaxError") {
            name = "SyntaxError";
            line = line.or_else(|| message_line(inner));
        } else if missing_module(inner).is_some() {
            name = "DependencyError";
        }
    }
    let mut finding = Finding::new(at, last, name, Severity::High, on_one_line(text_of));
    if is_file {
        finding = finding.at(file, line);
    } else if name == "FileNotFoundError"
        && let Some(file) = module
    {
        finding = finding.at(file, None);
    }
    finding.code = ts.map(|(code, _)| format!("TS{code}"));
    finding.module = module
        .or_else(|| missing_module(text_of))
        .map(str::to_owned);
    finding
}

/// Returns the finding of a configuration that does not load, for the reason on the next line.
fn webpack_config(lines: &[Line], at: usize, file: &str) -> Finding {
    let reason = text(lines, at + 1).trim_start_matches("[webpack-cli] ");
    let module = missing_module(reason);
    let name = match module {
        Some(module) if module == file => "FileNotFoundError",
        Some(_) => "DependencyError",
        None if reason.starts_with("SyntaxError") => "SyntaxError",
        None => "BuildError",
    };
    let line = (at + 1..lines.len().min(at + 30))
        .filter_map(|at| super::node::frame(text(lines, at)).and_then(super::node::Frame::place))
        .find(|(frame, _)| *frame == file)
        .map(|(_, line)| line)
        .filter(|_| name != "FileNotFoundError");
    let mut last = at + 1;
    while last + 1 < lines.len()
        && starts_any(text(lines, last + 1), &["    at ", "- ", "Require stack:"])
    {
        last += 1;
    }
    let mut finding =
        Finding::new(at, last.min(lines.len() - 1), name, Severity::High, reason).at(file, line);
    finding.module = module
        .filter(|_| name == "DependencyError")
        .map(str::to_owned);
    finding
}

/// Returns the line of `message (2:10)`.
fn message_line(message: &str) -> Option<u32> {
    let (_, inner) = message.rsplit_once('(')?;
    let (line, rest) = number(inner)?;
    rest.starts_with(':').then_some(line)
}

/// Reads what Vite, Rollup and Rolldown print when a build or a request fails.
fn read_vite(lines: &[Line], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim_start();
        let start = if line.starts_with("error during build:") {
            (at + 1..lines.len().min(at + 6)).find(|at| {
                let line = text(lines, *at).trim();
                !line.is_empty() && !line.starts_with("Build failed with")
            })
        } else if starts_any(line, &["[!] ", "failed to load config from "])
            || mentions(line, "Internal server error: ")
        {
            Some(at)
        } else {
            None
        };
        let Some(start) = start else {
            at += 1;
            continue;
        };
        let mut end = start + 1;
        while end < lines.len() && end - start < 40 && !text(lines, end).starts_with("    at ") {
            end += 1;
        }
        while text(lines, end).starts_with("    at ") {
            end += 1;
        }
        found.push(vite(lines, at, start, end));
        at = end;
    }
}

fn vite(lines: &[Line], first: usize, start: usize, end: usize) -> Finding {
    let message = text(lines, start).trim();
    let whole: String = (start..end.min(start + 4))
        .map(|at| text(lines, at))
        .collect::<Vec<_>>()
        .join(" ");
    let mut place = vite_place(lines, start, end);
    let mut module = None;
    let name = if mentions_any(
        message,
        &[
            "Cannot resolve entry module",
            "Could not resolve entry module",
        ],
    ) {
        let file = message
            .split("entry module ")
            .nth(1)
            .map(|rest| quoted(rest).unwrap_or(rest.trim_end_matches('.').trim()));
        place = file.map(|file| (file, None));
        "FileNotFoundError"
    } else if let Some(missing) = vite_import(message).or_else(|| missing_module(message)) {
        module = Some(missing.to_owned());
        let source = message
            .split_once(" from ")
            .and_then(|(_, rest)| quoted(rest))
            .filter(|source| *source != missing);
        if let Some(source) = source {
            let line = place
                .filter(|(file, _)| source.ends_with(file) || file.ends_with(source))
                .and_then(|(_, line)| line);
            place = Some((source, line));
        }
        "DependencyError"
    } else if let Some(file) = message.strip_prefix("failed to load config from ") {
        place = Some((file.trim(), None));
        let missing = (start..end).find_map(|at| missing_module(text(lines, at)));
        module = missing.map(str::to_owned);
        if missing.is_some() {
            "DependencyError"
        } else {
            "BuildError"
        }
    } else if is_syntax(&whole) || (start..end).any(|at| mentions(text(lines, at), "ParseError")) {
        "SyntaxError"
    } else {
        "BuildError"
    };
    let mut finding = Finding::new(
        first,
        end.saturating_sub(1).max(start),
        name,
        Severity::High,
        on_one_line(message),
    );
    if let Some((file, line)) = place {
        finding = finding.at(file, line);
    }
    finding.module = module;
    finding
}

/// Returns the import that Rollup or Rolldown does not find.
fn vite_import(message: &str) -> Option<&str> {
    for before in [
        "failed to resolve import ",
        "Failed to resolve import ",
        "Could not resolve ",
        "UNRESOLVED_IMPORT] ",
    ] {
        if let Some(at) = message.find(before) {
            return quoted(&message[at + before.len()..]);
        }
    }
    None
}

/// Returns the place in the lines of a message: `file: /w/a.js:2:10`, `/w/a.ts:2:10: ERROR: …`, `a.js (2:10)` or `╭─[ a.js:2:10 ]`.
fn vite_place(lines: &[Line], start: usize, end: usize) -> Option<(&str, Option<u32>)> {
    for at in start..end {
        let line = text(lines, at).trim();
        if line.starts_with("at ") {
            continue;
        }
        let inner = line
            .strip_prefix("file: ")
            .or_else(|| line.strip_prefix("File: "))
            .or_else(|| {
                line.split_once("╭─[")
                    .map(|(_, rest)| rest.trim_end_matches(']'))
            })
            .or_else(|| line.split_once(": ERROR: ").map(|(place, _)| place));
        if let Some((file, line)) = inner.map(str::trim).and_then(place) {
            return Some((file.trim(), Some(line)));
        }
        // `src/main.js (2:10): Expected …`, alone or after the class.
        if let Some(open) = line.find(" (")
            && let Some((number, rest)) = number(&line[open + 2..])
            && rest.starts_with(':')
        {
            let file = line[..open].rsplit(' ').next().unwrap_or_default();
            if file.contains('.') {
                return Some((without_scheme(file), Some(number)));
            }
        }
    }
    None
}

/// Reads Next.js: a line with the place, then `Type error: …` or `Module not found: …`.
fn read_next(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 1..lines.len() {
        let line = text(lines, at);
        let above = text(lines, at - 1).trim();
        if !above.starts_with("./") || above.contains(' ') {
            continue;
        }
        let name = if line.starts_with("Type error: ") {
            "TypeCheckError"
        } else if line.starts_with("Module not found: ") {
            "DependencyError"
        } else if line.starts_with("Error: ") && mentions_any(text(lines, at + 1), &["x ", "× "]) {
            "SyntaxError"
        } else {
            continue;
        };
        let (file, line_number) = match place(above) {
            Some((file, line)) => (file, Some(line)),
            None => (above, None),
        };
        let mut finding =
            Finding::new(at - 1, at, name, Severity::High, line).at(file, line_number);
        finding.module = missing_module(line).map(str::to_owned);
        found.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: webpack's parser, loader and checker errors name the file and line.
    #[test]
    fn webpack_errors_are_read() {
        let text = "ERROR in ./src/a.js 2:10\nModule parse failed: Unexpected token (2:10)\nYou may need a loader\n";
        assert_eq!(first(read, text), event("SyntaxError", "./src/a.js", 2));
        let text = "ERROR in ./src/a.js\nModule build failed (from ./node_modules/babel-loader/lib/index.js):\nSyntaxError: /w/src/a.js: Unexpected token (5:8)\n";
        assert_eq!(first(read, text), event("SyntaxError", "./src/a.js", 5));
        let text =
            "ERROR in src/a.ts:2:3\nTS2322: Type 'string' is not assignable to type 'number'.\n";
        assert_eq!(first(read, text), event("TypeCheckError", "src/a.ts", 2));
        let text = "ERROR in main\nModule not found: Error: Can't resolve './src' in '/w'\n";
        assert_eq!(first(read, text), event("FileNotFoundError", "./src", 0));
    }

    /// CAKE-WATCH-1: Vite's errors are read with Rollup and with Rolldown.
    #[test]
    fn vite_errors_are_read() {
        let text = "x Build failed in 30ms\nerror during build:\n[vite]: Rollup failed to resolve import \"zod\" from \"/w/main.js\".\nThis is most likely unintended\n    at viteWarn (file:///w/node_modules/vite/x.js:1:2)\n";
        let finding = &findings(read, text)[0];
        assert_eq!(
            (finding.error_type.as_ref(), finding.module.as_deref()),
            ("DependencyError", Some("zod"))
        );
        assert_eq!(finding.file.as_deref(), Some("/w/main.js"));
        let text = "error during build:\n[vite:esbuild] Transform failed with 1 error:\n/w/src/a.ts:2:10: ERROR: Unexpected \"=\"\nfile: /w/src/a.ts:2:10\n";
        assert_eq!(first(read, text), event("SyntaxError", "/w/src/a.ts", 2));
        let text = "error during build:\nBuild failed with 1 error:\n\n[PARSE_ERROR] Error: Unexpected token\n   ╭─[ src/a.js:2:11 ]\n   │\n";
        assert_eq!(first(read, text), event("SyntaxError", "src/a.js", 2));
    }
}
