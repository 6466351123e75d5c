//! PHP: fatal errors, warnings, PHPUnit, Composer and the console boxes of Symfony.

use super::scan::{
    class_and_message, ends_any, is_exception, mentions, mentions_any, named, number, on_one_line,
    place, quoted, starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads PHP and its tools.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has(" on line ") || lines.has("Uncaught ") {
        read_messages(lines, found);
    }
    if lines.has("PHPUnit ")
        || lines.has("could not be found in")
        || lines.has("Could not read \"")
        || lines.has("There was ")
        || lines.has("There were ")
    {
        read_phpunit(lines, found);
    }
    read_console(lines, found);
}

/// Returns the level and message of `PHP Warning:  message` and of `Warning: message`.
fn leveled(line: &str) -> Option<(&str, &str)> {
    const LEVELS: [&str; 8] = [
        "Fatal error",
        "Parse error",
        "Warning",
        "Notice",
        "Deprecated",
        "Recoverable fatal error",
        "Catchable fatal error",
        "Strict Standards",
    ];
    let rest = line.strip_prefix("PHP ").unwrap_or(line);
    LEVELS.iter().find_map(|level| {
        let message = rest.strip_prefix(level)?.strip_prefix(':')?;
        Some((*level, message.trim()))
    })
}

/// Returns the text, file and line of `message in /w/a.php on line 3`.
fn on_line(message: &str) -> Option<(&str, &str, u32)> {
    let (before, line) = message.rsplit_once(" on line ")?;
    let line = number(line).filter(|(_, rest)| rest.trim().is_empty())?.0;
    let (text, file) = before.rsplit_once(" in ")?;
    Some((text, file, line))
}

fn read_messages(lines: &[Line], found: &mut Vec<Finding>) {
    let start = found.len();
    for at in 0..lines.len() {
        let line = text(lines, at);
        // A server puts a time before the message.
        let line = match line.strip_prefix('[') {
            Some(rest) => rest.split_once("] ").map_or(line, |(_, rest)| rest),
            None => line,
        };
        let Some((level, message)) = leveled(line) else {
            continue;
        };
        let finding = if let Some(uncaught) = message.strip_prefix("Uncaught ") {
            uncaught_error(lines, at, uncaught)
        } else {
            simple(lines, at, level, message)
        };
        let Some(finding) = finding else { continue };
        // The log and the page may both have the message.
        let is_known = found[start..].iter().any(|other| {
            other.error_type == finding.error_type
                && other.file == finding.file
                && other.line == finding.line
                && other.message == finding.message
        });
        if !is_known {
            found.push(finding);
        }
    }
}

fn simple(lines: &[Line], at: usize, level: &str, message: &str) -> Option<Finding> {
    let mut last = at;
    let mut whole = message.to_owned();
    while on_line(&whole).is_none() && last < at + 6 && last + 1 < lines.len() {
        last += 1;
        whole.push(' ');
        whole.push_str(text(lines, last).trim());
    }
    let (message, file, line) = on_line(&whole)?;
    let (name, severity) = match level {
        "Parse error" => ("SyntaxError", Severity::High),
        "Deprecated" => ("DeprecationWarning", Severity::Low),
        "Warning" | "Notice" | "Strict Standards" => ("PhpWarning", Severity::Low),
        _ if mentions(message, "Allowed memory size of ") || mentions(message, "Out of memory") => {
            ("OutOfMemory", Severity::Critical)
        }
        _ => ("PhpFatalError", Severity::High),
    };
    Some(Finding::new(at, last, name, severity, message).at(file, line))
}

/// Returns the finding of `Uncaught Class: message in file:3` with its trace.
fn uncaught_error(lines: &[Line], at: usize, first: &str) -> Option<Finding> {
    let mut whole = first.to_owned();
    let mut below = at + 1;
    while below < lines.len() && below < at + 12 && !text(lines, below).starts_with("Stack trace:")
    {
        let line = text(lines, below);
        if leveled(line).is_some() {
            break;
        }
        whole.push(' ');
        whole.push_str(line.trim());
        below += 1;
    }
    let (message, location) = whole.rsplit_once(" in ")?;
    let (file, line) = place(location.trim())?;
    let class = message
        .split([':', ' '])
        .next()
        .and_then(super::scan::bare_class)?;
    let text_of = message.split_once(": ").map_or("", |(_, text)| text);
    let mut last = at;
    let mut project = (!mentions(file, "/vendor/")).then_some((file.to_owned(), line));
    for below in at + 1..lines.len().min(at + 80) {
        let line = text(lines, below);
        if line.starts_with('#') {
            // `#0 /w/main.php(4): total()`.
            if project.is_none()
                && let Some((_, frame)) = line.split_once(' ')
                && let Some((file, rest)) = frame.split_once('(')
                && let Some((number, _)) = number(rest)
                && !mentions(file, "/vendor/")
                && file.contains('/')
            {
                project = Some((file.to_owned(), number));
            }
            last = below;
        } else if line.starts_with("  thrown in ") {
            last = below;
            break;
        } else if starts_any(line, &["Stack trace:", "Next "]) || line.is_empty() {
            last = below;
        } else if below > at + 12 || leveled(line).is_some() {
            break;
        }
    }
    let (file, line) = project.unwrap_or((file.to_owned(), line));
    let mut finding =
        Finding::new(at, last, named(class), Severity::High, on_one_line(text_of)).at(file, line);
    finding.module = [
        "Class \"",
        "undefined function ",
        "Failed opening required ",
    ]
    .iter()
    .find_map(|before| {
        let rest = text_of.split(before).nth(1)?;
        Some(
            rest.trim_start_matches('\'')
                .split(['"', '\'', '(', ' '])
                .next()?
                .to_owned(),
        )
    });
    Some(finding)
}

/// Reads PHPUnit: the lists of errors and failures, and `--testdox`.
fn read_phpunit(lines: &[Line], found: &mut Vec<Finding>) {
    let mut list = None;
    let mut is_errors = false;
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim_end();
        if starts_any(line, &["There was ", "There were "]) && line.ends_with(':') {
            is_errors = mentions(line, " error");
            list = if mentions_any(line, &[" error", " failure"])
                && !mentions_any(line, &["warning", "risky", "deprecat", "notice"])
            {
                Some(true)
            } else {
                Some(false)
            };
        } else if line == "--" || starts_any(line, &["FAILURES!", "ERRORS!", "OK", "Tests: "]) {
            list = None;
        } else if list == Some(true)
            && let Some((_, rest)) = number(line)
            && let Some(test) = rest.strip_prefix(") ")
            && test.contains("::")
        {
            let mut end = at + 1;
            while end < lines.len() && end - at < 120 {
                let next = text(lines, end);
                let is_next = next == "--"
                    || starts_any(next, &["FAILURES!", "ERRORS!", "There w"])
                    || number(next)
                        .is_some_and(|(_, rest)| rest.starts_with(") ") && rest.contains("::"));
                if is_next {
                    break;
                }
                end += 1;
            }
            found.push(phpunit_failure(lines, (at, end), test, is_errors));
            at = end;
            continue;
        } else if let Some(finding) = phpunit_message(lines, at, line) {
            found.push(finding);
        }
        at += 1;
    }
    read_testdox(lines, found);
}

fn phpunit_failure(
    lines: &[Line],
    (at, end): (usize, usize),
    test: &str,
    is_errors: bool,
) -> Finding {
    let location = (at + 1..end)
        .filter_map(|at| place(text(lines, at).trim()))
        .find(|(file, _)| is_php(file));
    let message: Vec<&str> = (at + 1..end)
        .map(|at| text(lines, at).trim())
        .take_while(|line| !place(line).is_some_and(|(file, _)| is_php(file)))
        .take_while(|line| !line.starts_with("--- Expected"))
        .collect();
    let message = on_one_line(&message.join(" "));
    let head = text(lines, at + 1).trim();
    let name = if is_errors && class_and_message(head).is_none() {
        // PHPUnit 9 raises a warning of PHP as an error without a class.
        "PhpWarning".into()
    } else {
        php_test_type(head)
    };
    let last = (at..end)
        .rev()
        .find(|at| !text(lines, *at).trim().is_empty())
        .unwrap_or(at);
    let mut finding = Finding::new(at, last, name, Severity::Medium, message);
    if let Some((file, line)) = location {
        finding = finding.at(file, line);
    }
    finding.test = Some(test.trim().to_owned());
    finding
}

fn is_php(file: &str) -> bool {
    !file.contains(' ')
        && file.contains('.')
        && !mentions(file, "/vendor/")
        && !ends_any(file, &[".phar"])
}

/// Returns the type for the first line of a failed test's message.
fn php_test_type(message: &str) -> std::borrow::Cow<'static, str> {
    match class_and_message(message) {
        Some((class, _))
            if is_exception(class)
                && !matches!(class, "ExpectationFailedException" | "AssertionFailedError") =>
        {
            named(class)
        }
        Some((class, text)) if class.len() > 4 && !text.is_empty() && message.contains('\\') => {
            named(class)
        }
        _ => "TestFailure".into(),
    }
}

/// Returns the finding of a run that does not start or has no test.
fn phpunit_message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    if line.starts_with("No tests found in class \"")
        && text(lines, at.saturating_sub(1)).ends_with(") Warning")
    {
        return Some(Finding::new(at - 1, at, "NoTestsRan", Severity::Low, line));
    }
    if line.starts_with("Class ")
        && mentions(line, " could not be found in ")
        && mentions(line, ".php")
    {
        let mut finding = Finding::new(at, at, "TestError", Severity::High, line);
        if let Some((class, file)) = line["Class ".len()..].split_once(" could not be found in ") {
            finding.module = Some(class.trim_matches(['"', '\'']).to_owned());
            finding = finding.at(file.trim_matches(['"', '\'', '.']), None);
            if !ends_any(file.trim_end_matches('.'), &[".php"]) {
                finding.file = None;
            }
        }
        return Some(finding);
    }
    let is_xml = line.starts_with("Could not read \"") && line.ends_with("\".");
    if !has_banner(lines, at) && !is_xml {
        return None;
    }
    if starts_any(
        line,
        &[
            "Cannot open file \"",
            "Could not read \"",
            "Cannot open bootstrap script \"",
            "Test file \"",
            "Could not read XML from file",
        ],
    ) {
        let finding = Finding::new(at, at, "FileNotFoundError", Severity::High, line);
        return Some(match quoted(line) {
            Some(file) => finding.at(file, None),
            None => finding,
        });
    }
    if line.starts_with("No tests executed!") {
        return Some(Finding::new(at, at, "NoTestsRan", Severity::Low, line));
    }
    if starts_any(
        line,
        &[
            "Unknown option \"",
            "unrecognized option ",
            "Could not use \"",
        ],
    ) {
        return Some(Finding::new(at, at, "TestUsageError", Severity::High, line));
    }
    if starts_any(line, &["Class \"", "Class '", "Class "])
        && mentions_any(
            line,
            &[
                "could not be found in",
                "cannot be found in",
                "not found in",
            ],
        )
    {
        let mut finding = Finding::new(at, at, "TestError", Severity::High, line);
        finding.module = quoted(line).map(str::to_owned);
        return Some(finding);
    }
    if line.starts_with("An error occurred inside PHPUnit.") {
        let message = (at + 1..lines.len().min(at + 6))
            .find_map(|at| text(lines, at).strip_prefix("Message:"));
        return Some(Finding::new(
            at,
            at,
            "TestError",
            Severity::High,
            message.unwrap_or(line).trim(),
        ));
    }
    None
}

fn has_banner(lines: &[Line], at: usize) -> bool {
    (at.saturating_sub(12)..at).any(|at| text(lines, at).starts_with("PHPUnit "))
}

/// Reads `--testdox`: ` ✘ Total`, ` ├ message`, ` ╵ file:7`.
fn read_testdox(lines: &[Line], found: &mut Vec<Finding>) {
    let mut at = 0;
    while at < lines.len() {
        let line = text(lines, at).trim();
        let Some(test) = line.strip_prefix("✘ ") else {
            at += 1;
            continue;
        };
        let mut end = at + 1;
        while starts_any(
            text(lines, end).trim_start(),
            &["┐", "├", "│", "╵", "┴", "╷"],
        ) {
            end += 1;
        }
        let inner = |at: usize| {
            text(lines, at)
                .trim_start()
                .trim_start_matches(['├', '│', '╵', '┐', '┴'])
                .trim()
        };
        let message = (at + 1..end).map(inner).find(|line| !line.is_empty());
        let location = (at + 1..end)
            .filter_map(|at| place(inner(at)))
            .find(|(file, _)| is_php(file));
        if let Some(message) = message {
            let is_known = location.is_some_and(|(file, line)| {
                found
                    .iter()
                    .any(|other| other.file.as_deref() == Some(file) && other.line == Some(line))
            });
            if !is_known {
                let mut finding = Finding::new(
                    at,
                    end - 1,
                    php_test_type(message),
                    Severity::Medium,
                    message,
                );
                if let Some((file, line)) = location {
                    finding = finding.at(file, line);
                }
                finding.test = Some(test.to_owned());
                found.push(finding);
            }
        }
        at = end;
    }
}

/// Reads Composer, `php` itself, and the boxes in which Symfony's console prints an exception.
fn read_console(lines: &Window<'_>, found: &mut Vec<Finding>) {
    const WORDS: &[&str] = &[
        "Could not open input file: ",
        "Composer could not find ",
        "Your requirements could not ",
        "Your lock file does not ",
        "- Required package \"",
        ".php line ",
        "  Command \"",
        "  The \"--",
        "  [",
    ];
    for at in lines.lines_with(WORDS) {
        let line = text(lines, at);
        let Some(first) = line.as_bytes().first() else {
            continue;
        };
        let finding = match first {
            b'C' if line.starts_with("Could not open input file: ") => {
                let file = line["Could not open input file: ".len()..].trim();
                Finding::new(at, at, "FileNotFoundError", Severity::High, line).at(file, None)
            }
            b'C' if line.starts_with("Composer could not find a composer.json file") => {
                Finding::new(at, at, "FileNotFoundError", Severity::High, line)
                    .at("composer.json", None)
            }
            b'Y' if line.starts_with("Your requirements could not be resolved") => {
                problems(lines, at)
            }
            b'Y' if line.starts_with("Your lock file does not contain a compatible set") => {
                problems(lines, at)
            }
            b'-' if line.starts_with("- Required package \"") => {
                let mut finding = Finding::new(at, at, "DependencyError", Severity::High, line);
                finding.module = quoted(line).map(str::to_owned);
                finding
            }
            b'I' if line.starts_with("In ")
                && mentions(line, ".php line ")
                && line.trim_end().ends_with(':') =>
            {
                match console_box(lines, at) {
                    Some(finding) => finding,
                    None => continue,
                }
            }
            b' ' if line.starts_with("  Command \"")
                && line.trim_end().ends_with("\" is not defined.") =>
            {
                let mut finding =
                    Finding::new(at, at, "CommandNotFound", Severity::High, line.trim());
                finding.module = quoted(line).map(str::to_owned);
                finding
            }
            b' ' if line.starts_with("  The \"--")
                && line.trim_end().ends_with("\" option does not exist.") =>
            {
                Finding::new(at, at, "BuildError", Severity::High, line.trim())
            }
            b' ' if line.starts_with("  [") && line.trim_end().ends_with(']') => {
                match console_box(lines, at) {
                    Some(finding) => finding,
                    None => continue,
                }
            }
            _ => continue,
        };
        found.push(finding);
    }
}

fn problems(lines: &[Line], at: usize) -> Finding {
    let mut last = at;
    let mut message = String::new();
    for below in at + 1..lines.len().min(at + 40) {
        let line = text(lines, below).trim();
        if let Some(reason) = line.strip_prefix("- ") {
            if message.is_empty() {
                reason.clone_into(&mut message);
            }
            last = below;
        } else if line.starts_with("Problem ") {
            last = below;
        } else if !line.is_empty() && !text(lines, below).starts_with(' ') {
            break;
        }
    }
    if message.is_empty() {
        text(lines, at).clone_into(&mut message);
    }
    let mut finding = Finding::new(at, last, "DependencyError", Severity::High, message.clone());
    finding.module = message
        .split("requires ")
        .nth(1)
        .and_then(|rest| rest.split([' ', ',']).next())
        .map(str::to_owned);
    finding
}

/// Returns the finding of `In JsonFile.php line 347:`, an empty line and the indented message.
fn console_box(lines: &[Line], at: usize) -> Option<Finding> {
    let mut message: Vec<&str> = Vec::new();
    let mut last = at;
    for below in at + 1..lines.len().min(at + 30) {
        let line = text(lines, below);
        if !line.trim().is_empty() && !line.starts_with("  ") {
            break;
        }
        if line.trim().is_empty() {
            if !message.is_empty() && text(lines, below + 1).trim().is_empty() {
                break;
            }
            continue;
        }
        message.push(line.trim());
        last = below;
    }
    let whole = on_one_line(&message.join(" "));
    let header = text(lines, at).trim();
    if whole.is_empty()
        || (header.starts_with('[')
            && !header.ends_with("Exception]")
            && !header.ends_with("Error]"))
    {
        return None;
    }
    let new = |name: &'static str| Finding::new(at, last, name, Severity::High, whole.clone());
    if mentions(&whole, "does not contain valid JSON") {
        let line = whole
            .split("Parse error on line ")
            .nth(1)
            .and_then(number)
            .map(|(line, _)| line);
        let finding = new("JSONParseError");
        return Some(match quoted(&whole) {
            Some(file) => finding.at(file, line),
            None => finding,
        });
    }
    let name = if mentions(&whole, "is not defined.")
        && starts_any(&whole, &["Command ", "There are no commands"])
    {
        "CommandNotFound"
    } else if mentions_any(
        &whole,
        &[
            "Could not find package",
            "could not be found",
            "Could not find a matching version",
            "Could not find a version",
            "requires ",
            "lock file",
        ],
    ) {
        "DependencyError"
    } else {
        match super::scan::reason(&whole) {
            Some(name) => name,
            None if mentions_any(
                &whole,
                &[
                    "curl error",
                    "Could not authenticate",
                    "could not be downloaded",
                ],
            ) =>
            {
                "ConnectionError"
            }
            None => "BuildError",
        }
    };
    let mut finding = new(name);
    finding.module = quoted(&whole)
        .or_else(|| {
            whole
                .split("package ")
                .nth(1)
                .and_then(|rest| rest.split([' ', '.']).next())
        })
        .filter(|_| matches!(name, "DependencyError" | "CommandNotFound"))
        .map(str::to_owned);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: an error that a package throws is placed in the project.
    #[test]
    fn errors_of_packages_are_placed_in_the_project() {
        let text = "PHP Fatal error:  Uncaught GuzzleHttp\\Exception\\ConnectException: cURL error 7 in /w/vendor/guzzlehttp/x.php:210\nStack trace:\n#0 /w/vendor/guzzlehttp/y.php(158): f()\n#1 /w/src/Pay.php(31): g()\n#2 {main}\n  thrown in /w/vendor/guzzlehttp/x.php on line 210\n";
        assert_eq!(
            first(read, text),
            event("ConnectException", "/w/src/Pay.php", 31)
        );
        let both = "PHP Warning:  Undefined variable $a in /w/a.php on line 2\n\nWarning: Undefined variable $a in /w/a.php on line 2\n";
        assert_eq!(findings(read, both).len(), 1);
    }

    /// CAKE-WATCH-1: lists of warnings and risky tests are not failures; a missing package is named.
    #[test]
    fn lists_of_phpunit_are_told_apart() {
        let text = "PHPUnit 10.5.1 by Sebastian Bergmann and contributors.\n\nThere was 1 risky test:\n\n1) ShopTest::testA\nThis test did not perform any assertions\n\n/w/ShopTest.php:7\n\nOK, but there were issues!\n";
        assert!(findings(read, text).is_empty());
        let text = "\nIn PackageDiscoveryTrait.php line 400:\n\n  Could not find a matching version of package acme/nope. Check the spelling.  \n\n\nrequire [--dev]\n";
        let finding = &findings(read, text)[0];
        assert_eq!(
            (finding.error_type.as_ref(), finding.module.as_deref()),
            ("DependencyError", Some("acme/nope"))
        );
    }
}
