//! Stack traces of Java and Kotlin, with the test that was running.

use super::{
    passing::is_passing,
    scan::{
        class_and_message, indent, is_exception, named, number, on_one_line, place, starts_any,
        text,
    },
};
use crate::{Severity, finding::Finding, line::Line};

/// Lines of a message between the class and the first frame.
const LONGEST_MESSAGE: usize = 30;

/// Packages of the platform, of test frameworks and of widespread libraries: frames that are not the project's.
pub(super) const LIBRARIES: &[&str] = &[
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
pub(super) fn read_traces(lines: &[Line], found: &mut Vec<Finding>) {
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

pub(super) fn is_assertion(class: &str) -> bool {
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
