//! Linters and formatters of JavaScript and CSS: ESLint, Stylelint, Prettier and Biome.

use super::scan::{
    class_and_message, is_exception, is_path, mentions, mentions_any, named, number, place, quoted,
    starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads ESLint, Stylelint, Prettier and Biome.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("✖") || lines.has("×") || lines.has(" problem") || lines.has("⚠") {
        read_stylish(lines, found);
    }
    if lines.has("Oops! Something went wrong")
        || lines.has("ESLint")
        || lines.has("Invalid option '")
    {
        read_eslint_failure(lines, found);
    }
    if lines.has(", col ")
        || lines.has(" [Error/")
        || lines.has(") [error]")
        || lines.has("): error ")
        || lines.has(" problem")
    {
        read_eslint_lines(lines, found);
    }
    if lines.has("[error] ") || lines.has("[warn] ") {
        read_prettier(lines, found);
    }
    if lines.has(" ━━━") {
        read_biome(lines, found);
    }
}

/// Reads the stylish form: a line with the file, then `  1:7  error  message  rule` for each problem.
fn read_stylish(lines: &[Line], found: &mut Vec<Finding>) {
    let mut file = None;
    for at in 0..lines.len() {
        let line = text(lines, at);
        if line.is_empty() {
            continue;
        }
        if !line.starts_with(' ') {
            let path = line.trim_end();
            let is_path = !path.contains(": ") && (path.contains('.') || path.contains('/'));
            file = is_path.then_some((path, at));
            continue;
        }
        let Some((path, header)) = file else { continue };
        let Some((number, is_error, message)) = stylish_problem(line) else {
            continue;
        };
        let (message, rule) = match message.rsplit_once("  ") {
            Some((message, rule)) if is_rule(rule.trim()) => (message.trim(), Some(rule.trim())),
            _ => (message.trim(), None),
        };
        let is_syntax = mentions(message, "Parsing error: ") || rule == Some("CssSyntaxError");
        let (name, severity) = match (is_syntax, is_error) {
            (true, _) => ("SyntaxError", Severity::High),
            (false, true) => ("LintError", Severity::Medium),
            (false, false) => ("LintError", Severity::Low),
        };
        let first = if header + 1 == at { header } else { at };
        let mut finding = Finding::new(first, at, name, severity, message).at(path, number);
        finding.code = rule.map(str::to_owned);
        finding.module = quoted(message)
            .filter(|_| message.ends_with("is not defined"))
            .map(str::to_owned);
        found.push(finding);
    }
}

fn is_rule(rule: &str) -> bool {
    !rule.is_empty()
        && !rule.contains(' ')
        && rule.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '@')
}

/// Returns the line, whether it is an error, and the message of a problem in the stylish form.
fn stylish_problem(line: &str) -> Option<(u32, bool, &str)> {
    let (number, rest) = number(line.trim_start())?;
    let (_, rest) = self::number(rest.strip_prefix(':')?)?;
    let rest = rest.trim_start();
    for (word, is_error) in [
        ("error ", true),
        ("warning ", false),
        ("✖", true),
        ("×", true),
        ("⚠", false),
    ] {
        if let Some(message) = rest.strip_prefix(word) {
            return Some((number, is_error, message.trim()));
        }
    }
    None
}

/// Reads what ESLint prints if it cannot run.
fn read_eslint_failure(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        if starts_any(line, &["Invalid option '", "Invalid value for '"]) {
            found.push(Finding::new(at, at, "BuildError", Severity::High, line));
            continue;
        }
        if !line.starts_with("Oops! Something went wrong") {
            continue;
        }
        let Some(start) = (at + 1..lines.len().min(at + 8)).find(|at| {
            let line = text(lines, *at).trim();
            !line.is_empty() && !line.starts_with("ESLint: ")
        }) else {
            continue;
        };
        let message = text(lines, start).trim();
        let is_missing = mentions_any(
            message,
            &[
                "couldn't find the plugin",
                "couldn't find the config",
                "Cannot find module",
                "Cannot find package",
                "Failed to load plugin",
                "Failed to load parser",
            ],
        );
        let mut name = std::borrow::Cow::Borrowed("BuildError");
        if is_missing {
            name = "DependencyError".into();
        } else if starts_any(
            message,
            &["No files matching", "No such file", "All files matched by"],
        ) {
            name = "FileNotFoundError".into();
        } else if let Some((class, _)) =
            class_and_message(message.split(" [").next().unwrap_or(message))
            && is_exception(class)
            && class != "Error"
        {
            name = named(class);
        }
        let mut last = start;
        while last + 1 < lines.len()
            && last < start + 40
            && text(lines, last + 1).starts_with("    at ")
        {
            last += 1;
        }
        let module = quoted(message).map(str::to_owned);
        let mut finding = Finding::new(at, last, name.clone(), Severity::High, message);
        if name == "FileNotFoundError" {
            if let Some(file) = &module {
                finding = finding.at(file.clone(), None);
            }
        } else if is_missing {
            if let Some((_, file)) = message.rsplit_once(" imported from ") {
                finding = finding.at(file.trim(), None);
            }
            finding.module = module;
        }
        found.push(finding);
    }
}

/// Reads the `unix` and `compact` forms.
fn read_eslint_lines(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        if let Some((file, rest)) = line.split_once(": line ")
            && let Some((number, rest)) = number(rest)
            && rest.starts_with(", col ")
            && let Some((level, message)) = rest.split_once(" - ")
        {
            let is_error = level.ends_with("Error");
            let (message, rule) = match message.rsplit_once(" (") {
                Some((message, rule)) => (message, rule.strip_suffix(')')),
                None => (message, None),
            };
            if !is_path(file) {
                continue;
            }
            found.push(lint(at, file, number, is_error, message, rule));
        } else if let Some((before, level)) = line.rsplit_once(" [")
            && let Some(level) = level.strip_suffix(']')
            && let Some((level, rule)) = level.split_once('/')
            && matches!(level, "Error" | "Warning")
            && let Some((file, number, message)) = super::scan::place_before(before)
        {
            if !is_path(file) {
                continue;
            }
            found.push(lint(
                at,
                file,
                number,
                level == "Error",
                message,
                Some(rule),
            ));
        } else if let Some(finding) = other_line(at, line) {
            found.push(finding);
        }
    }
}

/// Returns the finding of Stylelint's `unix` form (`a.css:1:2: message (rule) [error]`) and of ESLint's `visualstudio`
/// form (`a.js(1,2): error rule : message`).
fn other_line(at: usize, line: &str) -> Option<Finding> {
    if let Some((before, level)) = line.rsplit_once(" [")
        && matches!(level, "error]" | "warning]")
        && let Some((file, number, message)) = super::scan::place_before(before)
        && let Some((message, rule)) = message.rsplit_once(" (")
        && is_path(file)
    {
        return Some(lint(
            at,
            file,
            number,
            level == "error]",
            message,
            rule.strip_suffix(')'),
        ));
    }
    let (location, rest) = line.split_once("): ")?;
    let (is_error, rest) = match rest.strip_prefix("error ") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("warning ")?),
    };
    let (rule, message) = rest.split_once(" : ")?;
    let (file, range) = location.rsplit_once('(')?;
    let (number, _) = number(range)?;
    let is_place = is_path(file) && file.contains('.') && !rule.contains(' ');
    is_place.then(|| lint(at, file, number, is_error, message, Some(rule)))
}

fn lint(
    at: usize,
    file: &str,
    line: u32,
    is_error: bool,
    message: &str,
    rule: Option<&str>,
) -> Finding {
    let (name, severity) = if mentions(message, "Parsing error: ") {
        ("SyntaxError", Severity::High)
    } else if is_error {
        ("LintError", Severity::Medium)
    } else {
        ("LintError", Severity::Low)
    };
    let mut finding = Finding::new(at, at, name, severity, message).at(file, line);
    finding.code = rule.map(str::to_owned);
    finding
}

fn read_prettier(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let is_check =
        lines.has("Code style issues") || lines.has("Error occurred when checking code style");
    for at in 0..lines.len() {
        let line = text(lines, at);
        if let Some(file) = line.strip_prefix("[warn] ") {
            if is_check && !file.starts_with("Code style issues") && !file.trim().contains(' ') {
                let message = "code style differs from Prettier's";
                found.push(
                    Finding::new(at, at, "LintError", Severity::Medium, message)
                        .at(file.trim(), None),
                );
            }
            continue;
        }
        let Some(rest) = line.strip_prefix("[error] ") else {
            continue;
        };
        if rest.starts_with(['>', ' ']) {
            continue;
        }
        if let Some((file, message)) = rest.split_once(": SyntaxError: ") {
            let number = message
                .rsplit_once('(')
                .and_then(|(_, place)| number(place))
                .map(|(line, _)| line);
            let mut last = at;
            while text(lines, last + 1).starts_with("[error] ")
                && last < at + 12
                && is_source(text(lines, last + 1))
            {
                last += 1;
            }
            found.push(
                Finding::new(at, last, "SyntaxError", Severity::High, message).at(file, number),
            );
        } else if rest.starts_with("No files matching the pattern")
            || rest.starts_with("No matching files")
        {
            let finding = Finding::new(at, at, "FileNotFoundError", Severity::High, rest);
            found.push(match quoted(rest) {
                Some(file) => finding.at(file, None),
                None => finding,
            });
        } else if mentions_any(
            rest,
            &[
                "Cannot find package",
                "Cannot find module",
                "Couldn't find plugin",
            ],
        ) {
            let mut finding = Finding::new(at, at, "DependencyError", Severity::High, rest);
            finding.module = quoted(rest).map(str::to_owned);
            found.push(finding);
        } else if starts_any(
            rest,
            &[
                "Invalid configuration",
                "No parser ",
                "Couldn't resolve parser",
                "Invalid --",
                "Couldn't find",
            ],
        ) {
            found.push(Finding::new(at, at, "BuildError", Severity::High, rest));
        }
    }
}

fn is_source(line: &str) -> bool {
    line.strip_prefix("[error] ")
        .is_some_and(|rest| rest.starts_with(['>', ' ']))
}

/// Reads Biome: a header `file:2:7 rule ━━━`, then `  × message` or `  ! message`.
fn read_biome(lines: &[Line], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at);
        let Some((header, _)) = line.split_once(" ━") else {
            at += 1;
            continue;
        };
        let mut end = at + 1;
        while end < lines.len() && !mentions(text(lines, end), " ━━━") {
            end += 1;
        }
        let mut words = header.split_whitespace();
        let (place_word, category) = (words.next().unwrap_or_default(), words.next());
        if let Some(category) = category
            && let Some(message_at) = (at + 1..end)
                .find(|at| starts_any(text(lines, *at).trim_start(), &["× ", "! ", "✖ ", "⚠ "]))
        {
            let message = text(lines, message_at).trim_start();
            let is_error = starts_any(message, &["×", "✖"]);
            let message = message[message.find(' ').unwrap_or(0)..].trim();
            let last = (message_at..end)
                .rev()
                .find(|at| !text(lines, *at).trim().is_empty())
                .unwrap_or(message_at);
            found.extend(biome(
                at,
                last.min(message_at + 12),
                place_word,
                category,
                is_error,
                message,
            ));
        }
        at = end;
    }
}

fn biome(
    first: usize,
    last: usize,
    location: &str,
    category: &str,
    is_error: bool,
    message: &str,
) -> Option<Finding> {
    if mentions(message, "aborted due to parsing errors")
        || starts_any(
            message,
            &["Some errors were emitted", "Some warnings were emitted"],
        )
    {
        return None;
    }
    let (file, line) = match place(location) {
        Some((file, line)) => (file, Some(line)),
        None => (location, None),
    };
    let (name, severity) = match (category, is_error) {
        ("parse", _) => ("SyntaxError", Severity::High),
        ("deserialize" | "configuration", true) => ("BuildError", Severity::High),
        ("internalError/fs" | "internalError/io", _) => ("FileNotFoundError", Severity::High),
        (_, true) => ("LintError", Severity::Medium),
        (_, false) => ("LintError", Severity::Low),
    };
    let mut finding = Finding::new(first, last, name, severity, message).at(file, line);
    finding.code = Some(category.to_owned());
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: ESLint's other forms name the same rule and place.
    #[test]
    fn other_forms_of_eslint_are_read() {
        for text in [
            "/w/a.js:4:15: 'y' is not defined. [Error/no-undef]\n\n1 problem\n",
            "/w/a.js: line 4, col 15, Error - 'y' is not defined. (no-undef)\n\n1 problem\n",
            "\n/w/a.js\n  4:15  error  'y' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n",
        ] {
            let finding = &findings(read, text)[0];
            assert_eq!(finding.line, Some(4), "{text}");
            assert_eq!(finding.code.as_deref(), Some("no-undef"), "{text}");
        }
        let text = "\nOops! Something went wrong! :(\n\nESLint: 8.57.0\n\nESLint couldn't find the plugin \"eslint-plugin-react\".\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.error_type, "DependencyError");
        assert_eq!(finding.module.as_deref(), Some("eslint-plugin-react"));
    }

    /// CAKE-WATCH-1: a style sheet that does not parse, a file that Biome would format and a missing pattern are read.
    #[test]
    fn formatters_are_read() {
        let text = "\na.css\n  2:1  ✖  Unclosed block  CssSyntaxError\n\n✖ 1 problem (1 error, 0 warnings)\n";
        assert_eq!(first(read, text), event("SyntaxError", "a.css", 2));
        let text = "src/a.js format ━━━━━━━━━━━━━━\n\n  × Formatter would have printed the following content:\n  \n    1 │ - a\n";
        assert_eq!(first(read, text), event("LintError", "src/a.js", 0));
        let text = "[error] No files matching the pattern were found: \"src/**/*.ts\".\n";
        assert_eq!(
            first(read, text),
            event("FileNotFoundError", "src/**/*.ts", 0)
        );
    }
}
