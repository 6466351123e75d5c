//! Maven and Gradle: errors of the build itself. Compilers and tests in their output are read by `java`.

use super::scan::{
    between, ends_any, mentions, mentions_any, number, on_one_line, place, quoted, reason,
    starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Lines of a Gradle report that are read for its reason.
const LONGEST_REPORT: usize = 40;

/// Reads Maven and Gradle.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("[ERROR] ") || lines.has("[WARNING] ") || lines.has("[FATAL] ") {
        read_maven(lines, found);
    }
    for at in lines.lines_with(&[
        "Unable to parse command line options: ",
        "Unknown command-line option '",
        "POM file ",
    ]) {
        let line = text(lines, at);
        if line.starts_with("Unable to parse command line options: ")
            || line.starts_with("Unknown command-line option '")
        {
            found.push(Finding::new(at, at, "BuildError", Severity::High, line));
        } else if let Some(rest) = line.strip_prefix("POM file ")
            && line.ends_with(" does not exist")
        {
            let file = rest.split(' ').next().unwrap_or(rest);
            found.push(
                Finding::new(at, at, "FileNotFoundError", Severity::High, line).at(file, None),
            );
        }
    }
    if lines.has("* What went wrong:") {
        read_gradle(lines, found);
    }
    if lines.has(" FAILED") && lines.has("> ") {
        read_gradle_tests(lines, found);
    }
}

/// Whether Maven printed the lines, and not another tool with the same levels.
fn is_maven(lines: &Window<'_>) -> bool {
    [
        "[INFO] Scanning for projects",
        "[INFO] BUILD ",
        "[ERROR] To see the full stack trace",
        "[INFO] --- ",
        "Help 1]",
        "[ERROR] COMPILATION ERROR",
        "[INFO] Building ",
    ]
    .iter()
    .any(|word| lines.has(word))
}

fn read_maven(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !is_maven(lines) {
        return;
    }
    let start = found.len();
    let has_failed_tests = lines.has("<<< FAILURE!") || lines.has("<<< ERROR!");
    let project = (0..lines.len()).find_map(|at| {
        let line = text(lines, at);
        let rest = line.strip_prefix("[ERROR]")?.trim_start();
        rest.strip_prefix("The project ")?;
        between(rest, "(", ")")
    });
    for at in 0..lines.len() {
        let line = text(lines, at);
        if let Some(rest) = line.strip_prefix("[WARNING] ") {
            maven_warning(at, rest, found);
            continue;
        }
        let Some(rest) = line
            .strip_prefix("[ERROR] ")
            .or_else(|| line.strip_prefix("[FATAL] "))
        else {
            continue;
        };
        if let Some(finding) = maven_place(lines, at, rest, true) {
            let is_known = found[start..].iter().any(|other| {
                other.file == finding.file
                    && other.line == finding.line
                    && other.message == finding.message
            });
            if !is_known {
                found.push(finding);
            }
            continue;
        }
        let has_error = has_failed_tests
            || found[start..]
                .iter()
                .any(|other| other.severity != Severity::Low);
        if let Some(finding) = maven_error(lines, at, rest, project, has_error) {
            found.push(finding);
        }
    }
}

fn maven_warning(at: usize, rest: &str, found: &mut Vec<Finding>) {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with("Tests run:") || rest.starts_with("Corrupted channel") {
        return;
    }
    if let Some(finding) = maven_place(&[], at, rest, false) {
        found.push(finding);
        return;
    }
    found.push(Finding::new(at, at, "BuildWarning", Severity::Low, rest));
}

/// Returns the finding of `/w/A.java:[3,5] message`, or of Kotlin's and Checkstyle's forms.
fn maven_place(lines: &[Line], at: usize, rest: &str, is_error: bool) -> Option<Finding> {
    let end = [".java:", ".kt:", ".groovy:", ".scala:", ".java: ("]
        .iter()
        .filter_map(|end| Some(rest.find(end)? + end.find(':')?))
        .min()?;
    let file = super::scan::without_scheme(&rest[..end]);
    if file.contains(' ') && !file.starts_with('/') {
        return None;
    }
    let after = rest[end + 1..].trim_start();
    let is_bracketed = after.starts_with(['[', '(']);
    let (line, after) = number(after.trim_start_matches(['[', '(']))?;
    let message = after
        .trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || matches!(letter, ',' | ' ' | ':')
        })
        .trim_start_matches([']', ')', ':'])
        .trim();
    let is_lint = (message.starts_with('(') && message.contains(") "))
        || (message.ends_with(']') && message.contains(" [") && !message.starts_with('['));
    let (name, severity) = match (is_error, is_lint) {
        (true, true) => ("LintError", Severity::Medium),
        (false, true) => ("LintError", Severity::Low),
        (true, false) => ("CompileError", Severity::High),
        (false, false) => ("CompileWarning", Severity::Low),
    };
    if !is_bracketed && !is_lint {
        return None;
    }
    let mut last = at;
    let mut symbol = None;
    while let Some(rest) = text(lines, last + 1)
        .strip_prefix("  ")
        .or_else(|| text(lines, last + 1).strip_prefix("[ERROR]   "))
    {
        if let Some(name) = rest.trim_start().strip_prefix("symbol:") {
            symbol = name.split_whitespace().last().map(str::to_owned);
        }
        last += 1;
    }
    let mut finding = Finding::new(at, last, name, severity, message).at(file, line);
    finding.module = symbol.or_else(|| {
        message
            .strip_prefix("package ")
            .and_then(|rest| rest.strip_suffix(" does not exist"))
            .map(str::to_owned)
    });
    Some(finding)
}

/// Returns the finding of an error of the build, unless it follows from another one.
fn maven_error(
    lines: &Window<'_>,
    at: usize,
    rest: &str,
    project: Option<&str>,
    has_error: bool,
) -> Option<Finding> {
    const ASIDE: [&str; 20] = [
        "To see the full stack",
        "Re-run Maven",
        "For more information",
        "[Help ",
        "After correcting",
        "-> [Help",
        "Please refer to",
        "mvn <args>",
        "Tests run:",
        "Failures:",
        "Errors:",
        "COMPILATION ERROR",
        "The project ",
        "The build could not read",
        "[ERROR] Some problems",
        "There are test failures",
        "symbol:",
        "location:",
        "Picked up JAVA",
        "See ",
    ];
    let trimmed = rest.trim_start();
    if trimmed.is_empty() || starts_any(trimmed, &ASIDE) || rest.starts_with("  ") {
        return None;
    }
    let message = trimmed
        .rsplit_once(" -> [Help")
        .map_or(trimmed, |(message, _)| message);
    if has_error {
        return None;
    }
    let is_consequence = mentions_any(message, &["There are test failures", "Compilation failure"])
        && (lines.has("<<< ") || lines.has("COMPILATION ERROR"));
    if is_consequence {
        return None;
    }
    let mut name = maven_type(message);
    if name == "BuildError" && text(lines, at).starts_with("[FATAL] Non-resolvable") {
        name = "DependencyError";
    }
    let mut finding = Finding::new(at, at, name, Severity::High, message);
    if name == "TestFailure" {
        // Without its trace a failure is only in the summary: `[ERROR]   CartTest.total:6 expected …`.
        finding.severity = Severity::Medium;
        let failure = (0..at).find_map(|at| {
            let above = text(lines, at.checked_sub(1)?);
            let is_list =
                above.starts_with("[ERROR] Failures:") || above.starts_with("[ERROR] Errors:");
            text(lines, at)
                .strip_prefix("[ERROR]   ")
                .filter(|_| is_list)
        });
        if let Some(failure) = failure {
            failure.trim().clone_into(&mut finding.message);
            finding.test = failure.split([':', ' ']).next().map(str::to_owned);
        }
    }
    finding.module = maven_artifact(message).map(str::to_owned);
    // `… @ line 4, column 30`, with the file in the message or in the lines below.
    if let Some(line) = between(message, "@ line ", ",")
        .or_else(|| between(message, ", line ", ","))
        .and_then(|line| line.trim().parse().ok())
    {
        let named = message
            .split([' ', ':', ','])
            .find(|word| ends_any(word, &[".xml"]) && word.contains('/'));
        if let Some(file) = named.or(project) {
            finding = finding.at(file, Some(line));
        }
    } else if starts_any(
        message,
        &["Non-parseable ", "Malformed POM ", "Non-readable POM "],
    ) {
        let named = message
            .split([' ', ':'])
            .find(|word| ends_any(word, &[".xml"]));
        if let Some(file) = named {
            finding = finding.at(file, None);
        }
    }
    Some(finding)
}

fn maven_type(message: &str) -> &'static str {
    let is_dependency = mentions_any(
        message,
        &[
            "Could not resolve dependencies",
            "could not be resolved",
            "Could not find artifact",
            "Could not transfer",
            "No plugin found for prefix",
            "Non-resolvable ",
            "Failed to collect dependencies",
            "Could not resolve ",
            "Failed to read artifact descriptor",
            "was not found in ",
            "Dependency convergence",
        ],
    );
    if is_dependency {
        return "DependencyError";
    }
    if mentions_any(
        message,
        &[
            "No tests were executed",
            "No tests matching pattern",
            "No tests to run",
        ],
    ) {
        return "NoTestsRan";
    }
    if mentions_any(
        message,
        &[
            "Checkstyle violation",
            "PMD violation",
            "format violations",
            "SpotBugs",
        ],
    ) {
        return "LintError";
    }
    if mentions(message, "There are test failures") {
        return "TestFailure";
    }
    if message.starts_with("Non-readable POM ") && mentions(message, "No such file or directory") {
        return "FileNotFoundError";
    }
    match reason(message) {
        Some(name @ ("DiskFull" | "ConnectionError")) => name,
        _ if mentions(message, "Compilation failure") => "CompileError",
        _ => "BuildError",
    }
}

/// Returns the coordinates of an artifact that is missing.
fn maven_artifact(message: &str) -> Option<&str> {
    for before in [
        "the artifact ",
        "Could not find artifact ",
        "Could not transfer artifact ",
        "Plugin ",
    ] {
        if let Some(at) = message.find(before) {
            let word = message[at + before.len()..].split([' ', ',']).next()?;
            if word.contains(':') {
                return Some(word);
            }
        }
    }
    message
        .strip_prefix("No plugin found for prefix ")
        .and_then(quoted)
}

/// Reads the reports of failed Gradle builds.
fn read_gradle(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        if text(lines, at).trim_end() != "* What went wrong:" {
            continue;
        }
        let mut end = at + 1;
        while end < lines.len() && end - at < LONGEST_REPORT && !text(lines, end).starts_with("* ")
        {
            end += 1;
        }
        let reason: Vec<&str> = (at + 1..end)
            .map(|at| text(lines, at))
            .filter(|line| !line.trim().is_empty())
            .collect();
        if is_gradle_consequence(lines, &reason) {
            continue;
        }
        let (place, start) = gradle_place(lines, at, &reason);
        let whole = reason.join(" ");
        let name = gradle_type(&whole);
        let severity = if name == "TestFailure" {
            Severity::Medium
        } else {
            Severity::High
        };
        let mut finding = Finding::new(
            start,
            end.saturating_sub(1),
            name,
            severity,
            gradle_message(&reason),
        );
        if let Some((file, line)) = place {
            finding = finding.at(file, line);
        }
        finding.module = gradle_module(&whole).map(str::to_owned);
        found.push(finding);
    }
}

/// Returns the last cause of a report with its first line, on one line.
fn gradle_message(reason: &[&str]) -> String {
    let first = reason.first().copied().unwrap_or_default();
    let causes: Vec<&str> = reason
        .iter()
        .filter_map(|line| line.trim_start().strip_prefix("> "))
        .collect();
    match causes.last() {
        Some(cause) => on_one_line(&format!("{cause} ({first})")),
        None => on_one_line(&reason.join(" ")),
    }
}

/// Whether a compiler, a test or a program in the same output is the reason.
fn is_gradle_consequence(lines: &Window<'_>, reason: &[&str]) -> bool {
    let whole = reason.join(" ");
    if mentions_any(
        &whole,
        &[
            "Compilation failed; see the compiler",
            "Compilation error. See log",
            "Internal compiler error. See log",
        ],
    ) {
        return lines.has(": error: ") || lines.has("e: ");
    }
    if mentions(&whole, "There were failing tests") {
        return lines.has(" FAILED");
    }
    if mentions(&whole, "finished with non-zero exit value") {
        return lines.has("Exception in thread ") || lines.has(": error:");
    }
    false
}

/// Returns the place that a report names and its first line.
fn gradle_place<'a>(
    lines: &'a [Line],
    at: usize,
    reason: &[&'a str],
) -> (Option<(&'a str, Option<u32>)>, usize) {
    for above in at.saturating_sub(4)..at {
        if text(lines, above).trim_end() == "* Where:" {
            let line = text(lines, above + 1);
            let file = quoted(line);
            let number = line
                .rsplit_once("line: ")
                .and_then(|(_, line)| line.trim().parse().ok());
            if let Some(file) = file {
                return (Some((file, number)), above);
            }
        }
    }
    // `build file '/w/build.gradle': 5: unexpected token`.
    for line in reason {
        if let Some(rest) = line.trim_start().strip_prefix("build file ")
            && let Some(file) = quoted(rest)
        {
            let number = rest
                .split_once("': ")
                .and_then(|(_, rest)| number(rest))
                .map(|(line, _)| line);
            return (Some((file, number)), at);
        }
        if let Some(rest) = line.trim_start().strip_prefix("e: ")
            && let Some((file, number)) = rest.split(' ').next().and_then(place)
        {
            return (Some((file, Some(number))), at);
        }
    }
    (None, at)
}

fn gradle_type(reason: &str) -> &'static str {
    if mentions_any(
        reason,
        &[
            "No tests found for given includes",
            "no filters",
            "did not discover any tests",
        ],
    ) {
        return "NoTestsRan";
    }
    if mentions(reason, "There were failing tests") {
        return "TestFailure";
    }
    if mentions(reason, "A problem occurred starting process") {
        return "CommandNotFound";
    }
    let is_dependency = mentions_any(
        reason,
        &[
            "was not found in any of the following sources",
            "Could not resolve ",
            "Could not find any version",
            "Could not download",
            "No matching variant of",
            "No cached version",
            "Could not determine the dependencies",
            "requires at least JVM runtime version",
            "No matching toolchains",
        ],
    ) || (mentions(reason, "Plugin with id ")
        && mentions(reason, " not found"))
        || (mentions(reason, "Could not find ")
            && mentions_any(reason, &["Searched in the following", "Required by"]));
    if is_dependency {
        return "DependencyError";
    }
    if mentions_any(
        reason,
        &[
            "checkstyle",
            "Checkstyle rule violations",
            "PMD rule violations",
            "Lint found errors",
            "ktlint",
            "spotless",
        ],
    ) && mentions_any(reason, &["violations", "found errors", "issues"])
    {
        return "LintError";
    }
    if mentions_any(
        reason,
        &["Java heap space", "OutOfMemoryError", "GC overhead limit"],
    ) {
        return "OutOfMemory";
    }
    match super::scan::reason(reason) {
        Some(name @ ("DiskFull" | "ConnectionError" | "PermissionError")) => name,
        _ if mentions(reason, "Compilation failed") || mentions(reason, "Compilation error") => {
            "CompileError"
        }
        _ => "BuildError",
    }
}

fn gradle_module(reason: &str) -> Option<&str> {
    if let Some(rest) = reason.split("starting process 'command '").nth(1) {
        return rest.split('\'').next();
    }
    for before in [
        "Plugin [id: ",
        "Plugin with id ",
        "Could not get unknown property ",
        "Could not find method ",
    ] {
        if let Some(at) = reason.find(before) {
            let rest = &reason[at + before.len()..];
            return if before.ends_with("method ") {
                rest.split('(').next()
            } else {
                quoted(rest)
            };
        }
    }
    for before in [
        "Could not find ",
        "Could not resolve ",
        "external dependency ",
    ] {
        if let Some(at) = reason.find(before) {
            let word = reason[at + before.len()..].split(' ').next()?;
            if word.contains(':') {
                return Some(word.trim_end_matches(['.', ':']));
            }
        }
    }
    None
}

/// Reads the short form of failed tests: `CartTest > total FAILED` and `    java.lang.AssertionError at CartTest.java:6`.
fn read_gradle_tests(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let Some(test) = text(lines, at).trim_end().strip_suffix(" FAILED") else {
            continue;
        };
        let below = text(lines, at + 1);
        let Some((class, source)) = below.trim_start().split_once(" at ") else {
            continue;
        };
        if !test.contains(" > ") || !below.starts_with("    ") || class.contains([' ', ':']) {
            continue;
        }
        let (Some(class), Some((file, line))) =
            (super::scan::bare_class(class), place(source.trim()))
        else {
            continue;
        };
        let is_assertion = class.starts_with("Assertion") || class == "ComparisonFailure";
        let name = if is_assertion {
            "TestFailure".into()
        } else {
            super::scan::named(class)
        };
        let mut finding =
            Finding::new(at, at + 1, name, Severity::Medium, below.trim()).at(file, line);
        finding.test = Some(test.trim().to_owned());
        found.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: Maven's build errors name the file and line of the POM and the missing artifact.
    #[test]
    fn maven_names_the_file_and_the_artifact() {
        let text = "[INFO] Scanning for projects...\n[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n\
            [ERROR] 'dependencies.dependency.version' for org.x:y:jar is missing. @ line 14, column 15\n @ \n\
            [ERROR] The build could not read 1 project -> [Help 1]\n\
            [ERROR]   The project com.acme:shop:1 (/w/pom.xml) has 1 error\n";
        assert_eq!(first(read, text), event("BuildError", "/w/pom.xml", 14));
        let text = "[INFO] Scanning for projects...\n[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project a:b:jar:1: \
            Could not find artifact org.x:y:jar:9 in central (https://repo) -> [Help 1]\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.error_type, "DependencyError");
        assert_eq!(finding.module.as_deref(), Some("org.x:y:jar:9"));
    }

    /// CAKE-WATCH-1: Gradle's short test report and its dependency report are read.
    #[test]
    fn gradle_tests_and_dependencies_are_read() {
        let text = "com.acme.CartTest > total FAILED\n    java.lang.AssertionError at CartTest.java:6\n\n2 tests completed, 1 failed\n\
            * What went wrong:\nExecution failed for task ':test'.\n> There were failing tests. See the report\n";
        assert_eq!(first(read, text), event("TestFailure", "CartTest.java", 6));
        let text = "* What went wrong:\nExecution failed for task ':compileJava'.\n> Could not resolve all files for configuration ':compileClasspath'.\n   > Could not find org.x:y:9.\n     Searched in the following locations:\n     Required by:\n         root project :\n\n* Try:\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.error_type, "DependencyError");
        assert_eq!(finding.module.as_deref(), Some("org.x:y:9"));
        let text = "* Where:\nBuild file '/w/build.gradle' line: 5\n\n* What went wrong:\nCould not compile build file '/w/build.gradle'.\n> startup failed:\n  build file '/w/build.gradle': 5: unexpected token\n\n* Try:\n";
        assert_eq!(first(read, text), event("BuildError", "/w/build.gradle", 5));
    }
}
