//! Java and Kotlin: messages of javac and kotlinc, and JUnit's console launcher.
//!
//! Stack traces are in `java_traces`, messages of the JVM in `java_vm`.

use super::{
    java_traces::{LIBRARIES, is_assertion, read_traces},
    java_vm::read_virtual_machine,
    scan::{
        class_and_message, ends_any, is_path, mentions, named, number, place, place_before, quoted,
        starts_any, text, without_scheme,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Reads compilers, stack traces, JUnit and the JVM.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has(".java:") || lines.has(".kt:") || lines.has(".kt: (") || lines.has(".kts:") {
        read_compiler(lines, found);
    }
    if lines.has("\tat ") || lines.has("    at ") || lines.has("Caused by: ") {
        read_traces(lines, found);
    }
    if lines.has("=> ") && lines.has("MethodSource [") {
        read_launcher(lines, found);
    }
    read_virtual_machine(lines, found);
}

/// Reads the summary of JUnit's console launcher: `MethodSource […]`, `=> class: message`, and frames without `at`.
fn read_launcher(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 1..lines.len() {
        let Some(rest) = text(lines, at).trim_start().strip_prefix("=> ") else {
            continue;
        };
        if !text(lines, at - 1)
            .trim_start()
            .starts_with("MethodSource [")
        {
            continue;
        }
        let Some((class, message)) = class_and_message(rest) else {
            continue;
        };
        let mut last = at;
        let mut location = None;
        for below in at + 1..lines.len().min(at + 40) {
            let trimmed = text(lines, below).trim_start();
            if trimmed.is_empty() || starts_any(trimmed, &["[...]", "JUnit "]) {
                break;
            }
            last = below;
            let function = trimmed.rsplit('/').next().unwrap_or(trimmed);
            if location.is_none()
                && !starts_any(function, LIBRARIES)
                && let Some((_, source)) = trimmed
                    .strip_suffix(')')
                    .and_then(|line| line.split_once('('))
            {
                location = place(source);
            }
        }
        let name = if is_assertion(class) {
            "TestFailure".into()
        } else {
            named(class)
        };
        let mut finding = Finding::new(at - 1, last, name, Severity::Medium, message);
        if let Some((file, line)) = location {
            finding = finding.at(file, line);
        }
        finding.test = (at >= 2).then(|| text(lines, at - 2).trim().to_owned());
        found.push(finding);
    }
}

/// Reads `A.java:3: error: …` of javac, `A.kt:2:13: error: …` of kotlinc, and `e: file:///A.kt:2:13 …` of Gradle.
fn read_compiler(lines: &Window<'_>, found: &mut Vec<Finding>) {
    let is_strict = lines.has("error: warnings found and -Werror specified")
        || lines.has("warnings found and -Werror specified");
    for at in 0..lines.len() {
        let line = text(lines, at);
        let Some((file, number, is_error, message)) = compiler_message(line) else {
            continue;
        };
        let mut last = at;
        let mut symbol = None;
        while last + 1 < lines.len() && last - at < 12 {
            let next = text(lines, last + 1);
            let is_part = next.starts_with([' ', '\t', '^'])
                && !next.trim().is_empty()
                && compiler_message(next).is_none();
            if !is_part {
                break;
            }
            last += 1;
            if let Some(name) = next.trim_start().strip_prefix("symbol:") {
                symbol = name.split_whitespace().last().map(str::to_owned);
            }
        }
        let (name, severity) = if is_error || is_strict {
            ("CompileError", Severity::High)
        } else if mentions(message, "deprecat") && line.contains(".kt") {
            ("DeprecationWarning", Severity::Low)
        } else {
            ("CompileWarning", Severity::Low)
        };
        let mut finding = Finding::new(at, last, name, severity, message).at(file, number);
        finding.module = symbol.or_else(|| missing_symbol(message).map(str::to_owned));
        if !is_error {
            finding.code = message
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(']'))
                .map(|(lint, _)| lint.to_owned());
        }
        found.push(finding);
    }
}

/// Returns the package or symbol that a compiler does not find.
fn missing_symbol(message: &str) -> Option<&str> {
    if let Some(package) = message.strip_prefix("package ") {
        return package.strip_suffix(" does not exist");
    }
    if let Some(name) = message
        .to_ascii_lowercase()
        .strip_prefix("unresolved reference")
    {
        let name = &message[message.len() - name.len()..];
        return quoted(name).or_else(|| name.trim_start_matches([':', ' ']).split(' ').next());
    }
    message
        .strip_prefix("module not found: ")
        .or_else(|| message.strip_prefix("cannot access "))
}

/// Returns the file, line, whether it is an error, and the message of a compiler's line.
fn compiler_message(line: &str) -> Option<(&str, u32, bool, &str)> {
    let (rest, is_kotlin_error) = match line.get(..3) {
        Some("e: ") => (&line[3..], Some(true)),
        Some("w: ") => (&line[3..], Some(false)),
        _ => (line, None),
    };
    if let Some(is_error) = is_kotlin_error {
        let rest = without_scheme(rest);
        let end = rest
            .find(".kt")
            .map(|end| end + 3 + usize::from(rest[end + 3..].starts_with('s')))?;
        let file = &rest[..end];
        let after = rest[end..].trim_start_matches([':', ' ', '(']);
        let (number, after) = self::number(after)?;
        let after = after.trim_start_matches([':', ',', ' ']);
        let message = self::number(after)
            .map_or(after, |(_, rest)| rest)
            .trim_start_matches([')', ':', ' ']);
        return Some((file, number, is_error, message));
    }
    let (file, number, rest) = place_before(line)?;
    let file = without_task(file);
    let path = file.trim_end_matches('s');
    if !(ends_any(path, &[".java", ".kt"])) || !is_path(file) {
        return None;
    }
    if let Some(message) = rest.strip_prefix("error: ") {
        return Some((file, number, true, message));
    }
    rest.strip_prefix("warning: ")
        .map(|message| (file, number, false, message))
}

/// Returns a path without the task that old Gradle prints before it on the same line (`:compileJava/home/…`).
fn without_task(file: &str) -> &str {
    match (file.starts_with(':'), file.find('/')) {
        (true, Some(slash)) => &file[slash..],
        _ => file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: Kotlin's messages are read as kotlinc, Gradle and old Gradle print them.
    #[test]
    fn kotlin_messages_are_read_in_three_forms() {
        for text in [
            "src/A.kt:4:9: error: unresolved reference: total",
            "e: file:///w/src/A.kt:4:9 Unresolved reference 'total'.",
            "e: /w/src/A.kt: (4, 9): Unresolved reference: total",
        ] {
            let finding = &findings(read, text)[0];
            assert_eq!(finding.error_type, "CompileError", "{text}");
            assert_eq!(finding.line, Some(4), "{text}");
            assert_eq!(finding.module.as_deref(), Some("total"), "{text}");
            assert!(
                finding.file.as_deref().unwrap().ends_with("src/A.kt"),
                "{text}"
            );
        }
    }

    /// CAKE-WATCH-1: a trace in a log is read from its class on, a multi-line message included.
    #[test]
    fn traces_in_logs_are_read() {
        let text = "10:00:01 ERROR [main] c.a.Shop - order failed: java.sql.SQLException: no\n\
            \tat org.postgresql.Driver.connect(Driver.java:7)\n\tat com.acme.Shop.pay(Shop.java:31)\n";
        assert_eq!(first(read, text), event("SQLException", "Shop.java", 31));
        let text =
            "com.acme.BadOrderException: line one\nline two\n\tat com.acme.Shop.pay(Shop.kt:9)\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.error_type, "BadOrderException");
        assert_eq!(finding.message, "line one line two");
    }

    /// CAKE-WATCH-1: assertions of a test are failures, in JUnit 5 under Maven and Gradle too.
    #[test]
    fn assertions_of_tests_are_failures() {
        let maven = "[ERROR] CartTest.total -- Time elapsed: 0.01 s <<< FAILURE!\n\
            org.opentest4j.AssertionFailedError: expected: <4> but was: <3>\n\
            \tat org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)\n\
            \tat com.acme.CartTest.total(CartTest.java:12)\n\n";
        assert_eq!(
            first(read, maven),
            event("TestFailure", "CartTest.java", 12)
        );
        let gradle = "CartTest > total() FAILED\n    java.lang.IllegalStateException: no\n        at com.acme.Cart.add(Cart.java:5)\n";
        let finding = &findings(read, gradle)[0];
        assert_eq!(finding.error_type, "IllegalStateException");
        assert_eq!(finding.severity, Severity::Medium);
        assert_eq!(finding.test.as_deref(), Some("CartTest > total()"));
    }

    /// CAKE-WATCH-1: the console launcher's frames have no `at`.
    #[test]
    fn the_console_launcher_is_read() {
        let text = "Failures (1):\n  JUnit Jupiter:CartTest:total()\n    MethodSource [className = 'CartTest', methodName = 'total']\n    => org.opentest4j.AssertionFailedError: expected: <4> but was: <3>\n       org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)\n       CartTest.total(CartTest.java:9)\n       [...]\n";
        assert_eq!(first(read, text), event("TestFailure", "CartTest.java", 9));
    }

    /// CAKE-WATCH-1: traces that a passing build logs are not errors.
    #[test]
    fn traces_of_passing_builds_are_quiet() {
        let text =
            "java.io.IOException: on purpose\n\tat com.acme.A.b(A.java:1)\n[INFO] BUILD SUCCESS\n";
        assert!(findings(read, text).is_empty());
        let javascript =
            "TypeError: x\n    at exports.first (shop.js:2:35)\n    at Object.x (/a/b.js:2:3)\n";
        assert!(findings(read, javascript).is_empty());
    }
}
