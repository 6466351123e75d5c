//! Java and Kotlin: messages of javac and kotlinc, stack traces, JUnit, and what the JVM itself prints.

use super::{
    passing::is_passing,
    scan::{
        class_and_message, ends_any, indent, is_exception, is_path, mentions, mentions_any, named,
        number, on_one_line, place, place_before, quoted, starts_any, text, without_scheme,
    },
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of a message between the class and the first frame.
const LONGEST_MESSAGE: usize = 30;

/// Packages of the platform, of test frameworks and of widespread libraries: frames that are not the project's.
const LIBRARIES: &[&str] = &[
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "jakarta.",
    "kotlin.",
    "kotlinx.",
    "scala.",
    "groovy.",
    "clojure.",
    "junit.",
    "org.junit.",
    "org.hamcrest.",
    "org.assertj.",
    "org.mockito.",
    "org.testng.",
    "org.opentest4j.",
    "org.gradle.",
    "worker.org.gradle.",
    "org.apache.",
    "org.codehaus.",
    "org.springframework.",
    "org.hibernate.",
    "org.eclipse.",
    "org.jetbrains.",
    "org.slf4j.",
    "org.postgresql.",
    "org.h2.",
    "org.jboss.",
    "org.objectweb.",
    "ch.qos.logback.",
    "io.netty.",
    "io.micrometer.",
    "io.quarkus.",
    "io.vertx.",
    "io.reactivex.",
    "io.mockk.",
    "reactor.",
    "com.fasterxml.",
    "com.google.",
    "com.mysql.",
    "com.zaxxer.",
    "com.intellij.",
    "net.bytebuddy.",
    "okhttp3.",
    "retrofit2.",
    "android.",
    "androidx.",
    "picocli.",
];

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

/// A frame of a stack trace.
struct Frame<'a> {
    is_project: bool,
    place: Option<(&'a str, Option<u32>)>,
}

/// Returns the frame of `\tat [module/]package.Class.method(File.java:3)`.
fn frame(line: &str) -> Option<Frame<'_>> {
    let rest = line.trim_start();
    if rest.len() == line.len() {
        return None;
    }
    let rest = rest.strip_prefix("at ")?;
    let open = rest.find('(')?;
    let close = rest[open..].find(')')? + open;
    let name = &rest[..open];
    // JavaScript and C# have a space before the parenthesis.
    if name.contains(' ') || !name.contains('.') {
        return None;
    }
    let source = &rest[open + 1..close];
    let is_source = source.ends_with("Method")
        || source == "Unknown Source"
        || source == "<generated>"
        || place(source).is_some()
        || [".java", ".kt", ".scala", ".groovy", ".clj"]
            .iter()
            .any(|end| source.ends_with(end));
    if !is_source || source.contains('/') {
        return None;
    }
    let (module, function) = name.rsplit_once('/').unwrap_or(("", name));
    let is_platform = module.starts_with("java.") || module.starts_with("jdk.");
    let is_project = !is_platform && !starts_any(function, LIBRARIES);
    let place = match place(source) {
        Some((file, line)) => Some((file, Some(line))),
        None if source.contains('.') => Some((source, None)),
        None => None,
    };
    Some(Frame { is_project, place })
}

/// One exception of a chain.
struct Exception<'a> {
    first: usize,
    last: usize,
    class: &'a str,
    message: String,
    place: Option<(&'a str, Option<u32>)>,
}

/// Reads the exceptions with their causes, and what test runners print around them.
fn read_traces(lines: &[Line], found: &mut Vec<Finding>) {
    let is_quiet = is_passing(lines);
    let mut at = 0;
    while at < lines.len() {
        let Some((name_at, is_thrown)) = header(lines, at) else {
            at += 1;
            continue;
        };
        let (chain, last) = chain(lines, at, name_at);
        let context = test_context(lines, at);
        let is_test = context.is_some();
        if !(is_quiet && !is_thrown && !is_test) {
            report(lines, chain, context, found);
        }
        at = last.max(at) + 1;
    }
}

/// Returns the offset of the class name in the first line of an exception, and whether it is uncaught for certain.
fn header(lines: &[Line], at: usize) -> Option<(usize, bool)> {
    let line = text(lines, at);
    if let Some(rest) = line.strip_prefix("Exception in thread ") {
        let end = rest.rfind("\" ").map(|end| end + 2).or_else(|| {
            let first = rest.strip_prefix('"')?.find("\" ")?;
            Some(first + 3)
        })?;
        let first = rest.strip_prefix('"').and_then(|rest| rest.find("\" "));
        return Some((21 - 1 + first.map_or(end, |first| first + 3), true));
    }
    if let Some(rest) = line.strip_prefix("Error: ")
        && text(lines, at + 1).starts_with("Caused by: ")
        && (rest.starts_with("Could not find or load main class")
            || rest.starts_with("Unable to initialize main class"))
    {
        return Some((0, true));
    }
    let trimmed = line.trim_start();
    let start = line.len() - trimmed.len();
    if start > 12 || trimmed.is_empty() || trimmed.starts_with("at ") {
        return None;
    }
    // A class alone, as loggers and test runners print it.
    let is_framed = frame(text(lines, at + 1)).is_some();
    if is_framed
        && start == 0
        && class_and_message(trimmed)
            .is_some_and(|(class, _)| is_exception(class) || trimmed.contains('$'))
    {
        return Some((0, false));
    }
    // JUnit prints some failures of arrays without a class.
    if is_framed && test_context(lines, at).is_some() {
        return Some((start, false));
    }
    if trimmed.starts_with("Caused by: ") {
        return None;
    }
    let name = trimmed.split([':', ' ']).next()?;
    let is_qualified = name.contains('.') && !name.contains('/') && !name.ends_with('.');
    if is_qualified
        && let Some((class, _)) = class_and_message(trimmed)
        && (is_exception(class) || frame(text(lines, at + 1)).is_some())
        && first_frame(lines, at + 1, start).is_some()
    {
        return Some((start, false));
    }
    // A class at the end of a line of a log, with its frames on the next line.
    frame(text(lines, at + 1))?;
    let mut from = 0;
    while let Some(space) = line[from..].find(' ') {
        from += space + 1;
        let word = &line[from..];
        let name = word.split([':', ' ']).next()?;
        if name.contains('.')
            && let Some((class, _)) = class_and_message(word)
            && is_exception(class)
        {
            return Some((from, false));
        }
    }
    None
}

/// Returns the first frame after a header, if only lines of a message are between.
fn first_frame(lines: &[Line], from: usize, depth: usize) -> Option<usize> {
    for (at, line) in lines.iter().enumerate().skip(from).take(LONGEST_MESSAGE) {
        if frame(line.text()).is_some() {
            return Some(at);
        }
        let trimmed = line.text().trim_start();
        if starts_any(
            trimmed,
            &["Caused by: ", "[ERROR]", "[INFO]", "Exception in thread "],
        ) || (depth > 0 && !trimmed.is_empty() && indent(line.text()) < depth)
        {
            return None;
        }
    }
    None
}

/// Returns the exceptions from a header on, the outermost first, and their last line.
fn chain(lines: &[Line], at: usize, name_at: usize) -> (Vec<Exception<'_>>, usize) {
    let mut chain: Vec<Exception<'_>> = Vec::new();
    let mut last = at;
    let mut line_at = at;
    let mut name = text(lines, at).get(name_at..).unwrap_or_default();
    loop {
        let (class, message) = class_and_message(name).unwrap_or(("", name));
        let mut exception = Exception {
            first: line_at,
            last: line_at,
            class,
            message: message.to_owned(),
            place: None,
        };
        let mut next = None;
        let mut has_frames = false;
        let mut library = None;
        for (below, line) in lines.iter().enumerate().skip(line_at + 1) {
            let trimmed = line.text().trim_start();
            if let Some(frame) = frame(line.text()) {
                has_frames = true;
                last = below;
                if frame.is_project && exception.place.is_none() {
                    exception.place = frame.place;
                }
                library = library.or(frame.place);
            } else if let Some(cause) = trimmed.strip_prefix("Caused by: ") {
                next = Some((below, cause));
                break;
            } else if trimmed.starts_with("... ") && trimmed.ends_with(" more") {
                last = below;
            } else if trimmed.starts_with("Suppressed: ") && has_frames {
                last = below;
                skip_suppressed(lines, below, &mut last);
            } else if has_frames || below - line_at > LONGEST_MESSAGE || !is_message(lines, below) {
                if below > last + 1 || !trimmed.is_empty() {
                    break;
                }
            } else {
                exception.message.push(' ');
                exception.message.push_str(trimmed);
            }
        }
        exception.last = last.max(line_at);
        chain.push(exception);
        let Some((below, cause)) = next else { break };
        last = below;
        line_at = below;
        name = cause;
    }
    (chain, last)
}

/// Whether a line without a frame is part of the message above it: a frame follows.
fn is_message(lines: &[Line], at: usize) -> bool {
    first_frame(lines, at, 0).is_some_and(|frame| frame > at)
        && !starts_any(
            text(lines, at).trim_start(),
            &["Exception in thread", "[ERROR]", "[INFO]"],
        )
}

/// Moves `last` over a suppressed exception, which is not part of the chain.
fn skip_suppressed(lines: &[Line], from: usize, last: &mut usize) {
    for (at, line) in lines.iter().enumerate().skip(from + 1) {
        if frame(line.text()).is_none() && !line.text().trim_start().starts_with("... ") {
            return;
        }
        *last = at;
    }
}

/// Returns the test that the exception at `at` failed, and whether the run never started.
fn test_context(lines: &[Line], at: usize) -> Option<(String, bool)> {
    let above = at.checked_sub(1)?;
    let line = text(lines, above).trim();
    // JUnit 4: `1) total(CartTest)`.
    if let Some((_, rest)) = number(line)
        && let Some(test) = rest.strip_prefix(") ")
    {
        return Some((test.to_owned(), test.starts_with("initializationError")));
    }
    // Surefire: `[ERROR] total(CartTest)  Time elapsed: 0 s  <<< FAILURE!`.
    if line.ends_with("<<< ERROR!") || line.ends_with("<<< FAILURE!") {
        let line = line.strip_prefix("[ERROR]").unwrap_or(line).trim_start();
        let test = line
            .split(" -- Time elapsed")
            .next()
            .and_then(|line| line.split("  Time elapsed").next())
            .unwrap_or(line);
        return Some((
            test.trim().to_owned(),
            test.starts_with("initializationError"),
        ));
    }
    // Gradle: `CartTest > total FAILED`.
    if let Some(test) = line.strip_suffix(" FAILED")
        && test.contains(" > ")
    {
        return Some((test.to_owned(), false));
    }
    // The console launcher of JUnit 5: `    => org.opentest4j.AssertionFailedError: …` below its source.
    if line.starts_with("MethodSource [") || line.starts_with("FAILED: ") {
        return Some((line.to_owned(), false));
    }
    None
}

fn is_assertion(class: &str) -> bool {
    matches!(
        class,
        "AssertionError"
            | "AssertionFailedError"
            | "ComparisonFailure"
            | "MultipleFailuresError"
            | "AssumptionViolatedException"
            | "ArrayComparisonFailure"
    )
}

/// Appends the exceptions of a chain: the innermost cause is the one to act on.
fn report(
    lines: &[Line],
    chain: Vec<Exception<'_>>,
    context: Option<(String, bool)>,
    found: &mut Vec<Finding>,
) {
    let start = chain[0].first;
    let end = chain
        .iter()
        .map(|exception| exception.last)
        .max()
        .unwrap_or(start);
    let mut enclosing = None;
    let count = chain.len();
    for (index, exception) in chain.into_iter().enumerate() {
        let place = exception.place.or(enclosing);
        enclosing = place;
        let class = match exception.class {
            "" if context.is_some() => "AssertionError",
            // `Error: Could not find or load main class X` is the launcher's name for its cause.
            "Error" if exception.message.contains("main class") => continue,
            "" => continue,
            class => class,
        };
        let is_primary = index + 1 == count;
        let severity = match &context {
            _ if class == "OutOfMemoryError" => Severity::Critical,
            Some((_, false)) => Severity::Medium,
            _ => Severity::High,
        };
        let name = if context.is_some() && is_assertion(class) {
            "TestFailure".into()
        } else {
            named(class)
        };
        let first = if is_primary { start } else { exception.first };
        let last = if is_primary { end } else { exception.last };
        let mut finding =
            Finding::new(first, last, name, severity, on_one_line(&exception.message));
        if let Some((file, line)) = place {
            finding = finding.at(file, line);
        }
        if matches!(
            exception.class,
            "ClassNotFoundException"
                | "NoClassDefFoundError"
                | "NoSuchMethodError"
                | "NoSuchFieldError"
        ) {
            finding.module = exception
                .message
                .split_whitespace()
                .next()
                .map(str::to_owned);
        }
        finding.test = context.as_ref().map(|(test, _)| test.clone());
        finding.is_secondary = !is_primary;
        if finding.message.is_empty() {
            text(lines, exception.first)
                .trim()
                .clone_into(&mut finding.message);
        }
        found.push(finding);
    }
}

/// Reads what javac and the JVM print without a place.
fn read_virtual_machine(lines: &Window<'_>, found: &mut Vec<Finding>) {
    const WORDS: &[&str] = &[
        "error: ",
        "Error: ",
        "Error opening zip file",
        "Error occurred during initialization of VM",
        "no main manifest attribute, in ",
        "Unrecognized VM option ",
        "Unrecognized option: -",
        "warning: ",
        "A fatal error has been detected by the Java",
        "insufficient memory for the Java",
        "Terminating due to java.lang",
    ];
    for at in lines.lines_with(WORDS) {
        let line = text(lines, at);
        let is_start = matches!(
            line.as_bytes().first(),
            Some(b'e' | b'E' | b'O' | b'J' | b'w' | b'n' | b'#' | b'T' | b'U' | b' ')
        );
        if !is_start {
            continue;
        }
        if let Some(finding) = virtual_machine_message(lines, at, line) {
            found.push(finding);
        }
    }
}

fn virtual_machine_message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let finding = |name: &'static str, severity, message: &str| {
        Finding::new(at, at, name, severity, message.trim())
    };
    if let Some(file) = line.strip_prefix("error: file not found: ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file, None));
    }
    if let Some(file) = line.strip_prefix("Error: Unable to access jarfile ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file, None));
    }
    if let Some(file) = line.strip_prefix("error: source file or directory not found: ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file, None));
    }
    if let Some(file) = line.strip_prefix("Error opening zip file or JAR manifest missing : ") {
        return Some(finding("FileNotFoundError", Severity::High, line).at(file.trim(), None));
    }
    if let Some(file) = line.strip_prefix("Error: Invalid or corrupt jarfile ") {
        return Some(finding("BuildError", Severity::High, line).at(file, None));
    }
    if line == "Error occurred during initialization of VM" {
        let reason = text(lines, at + 1);
        let is_elsewhere = reason.starts_with("Could not reserve")
            || (at > 0 && text(lines, at - 1).starts_with("Error opening zip"));
        return (!is_elsewhere).then(|| finding("BuildError", Severity::High, reason));
    }
    if let Some(file) = line.strip_prefix("no main manifest attribute, in ") {
        return Some(finding("BuildError", Severity::High, line).at(file, None));
    }
    if starts_any(
        line,
        &[
            "error: invalid flag: ",
            "error: invalid source release",
            "error: invalid target release",
            "error: release version ",
            "error: no source files",
            "error: invalid path for",
            "error: module not found: ",
            "error: source file not found: ",
            "error: could not find class file",
            "Error: Main method not found in class ",
            "Error: Could not create the Java Virtual Machine",
            "Unrecognized VM option ",
            "Unrecognized option: -",
        ],
    ) {
        let is_repeat = line.starts_with("Error: Could not create") && at > 0;
        return (!is_repeat).then(|| finding("BuildError", Severity::High, line));
    }
    if line.starts_with("error: source file not found") {
        return Some(finding("FileNotFoundError", Severity::High, line));
    }
    if let Some(message) = line.strip_prefix("warning: [")
        && line.contains("] ")
    {
        let code = message.split(']').next().map(str::to_owned);
        let mut warning = finding("CompileWarning", Severity::Low, line);
        warning.code = code;
        return Some(warning);
    }
    if let Some((_, message)) = line.split_once(" VM warning: ")
        && starts_any(line, &["OpenJDK ", "Java HotSpot", "Eclipse OpenJ9"])
    {
        let name = if mentions(message, "deprecated") {
            "DeprecationWarning"
        } else {
            "BuildWarning"
        };
        return Some(finding(name, Severity::Low, message));
    }
    if line == "# A fatal error has been detected by the Java Runtime Environment:" {
        let cause = (at + 1..at + 6)
            .map(|at| text(lines, at).trim_start_matches(['#', ' ']))
            .find(|cause| !cause.is_empty())
            .unwrap_or_default();
        let name = if mentions_any(cause, &["SIGSEGV", "EXCEPTION_ACCESS_VIOLATION", "SIGBUS"]) {
            "SegFault"
        } else {
            "Abort"
        };
        return Some(finding(name, Severity::Critical, cause));
    }
    if line.contains("insufficient memory for the Java Runtime Environment")
        || line.starts_with("Terminating due to java.lang.OutOfMemoryError")
        || line.starts_with("Could not reserve enough space for ")
    {
        return Some(finding(
            "OutOfMemory",
            Severity::Critical,
            line.trim_start_matches(['#', ' ']),
        ));
    }
    None
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
