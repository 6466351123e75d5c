//! Build tools of C: make, CMake and CTest, Ninja, Meson and configure scripts.

use super::scan::{
    between, mentions, mentions_any, number, on_one_line, place_before, quoted, starts_any, text,
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of a message of CMake.
const BLOCK: usize = 60;

/// Reads errors of build tools.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("***") || lines.has("ake") {
        make(lines, found);
    }
    if lines.has("CMake ") || lines.has("CMakeCache") || lines.has(" is not a directory") {
        cmake(lines, found);
    }
    if lines.has(" Test ") && lines.has("Test #") || lines.has("No tests were found!!!") {
        ctest(lines, found);
    }
    if lines.has("ninja: ") || lines.has("FAILED: ") {
        ninja(lines, found);
    }
    if lines.has("ERROR: ") || lines.has("configure: error") || lines.has("pkg-config") {
        configure(lines, found);
    }
}

/// Returns the text behind `make: `, `gmake[2]: ` or `/usr/bin/make: `.
fn after_make(line: &str) -> Option<&str> {
    let (program, rest) = line.split_once(": ")?;
    let base = program.rsplit(['/', '\\']).next()?.trim_end_matches(".exe");
    let base = base.split('[').next()?;
    matches!(base, "make" | "gmake" | "mingw32-make" | "bmake" | "remake").then_some(rest.trim())
}

/// Whether a file is a makefile by its name.
fn is_makefile(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.to_ascii_lowercase().contains("makefile")
        || name.ends_with(".mk")
        || name.ends_with(".mak")
        || name == "build.make"
}

fn make(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[
        "***",
        "make:",
        "make[",
        "make.exe",
        "warning: ",
        "No such file or directory",
    ]) {
        let line = text(lines, at).trim_end();
        let finding = match after_make(line) {
            Some(body) => of_make(lines, at, body),
            None => of_makefile(lines, at, line),
        };
        found.extend(finding);
    }
}

/// Returns file and line of `[Makefile:2: all] Error 1`.
fn recipe(body: &str) -> Option<(&str, u32)> {
    let inner = body.strip_prefix("*** ")?.strip_prefix('[')?;
    let (file, line, _) = place_before(inner)?;
    Some((file, line))
}

fn of_make(lines: &[Line], at: usize, body: &str) -> Option<Finding> {
    let high = |name: &'static str, message: &str| {
        Finding::new(at, at, name, Severity::High, message.to_owned())
    };
    let Some(stop) = body.strip_prefix("*** ") else {
        // `make: protoc: No such file or directory` of a recipe.
        for (ending, name) in [
            (": No such file or directory", "CommandNotFound"),
            (": Command not found", "CommandNotFound"),
            (": Permission denied", "PermissionError"),
        ] {
            let Some(program) = body.strip_suffix(ending) else {
                continue;
            };
            if program.contains(": ") {
                continue;
            }
            let mut finding = high(name, body);
            finding.module = Some(program.to_owned());
            let place = (at + 1..lines.len().min(at + 3))
                .find_map(|at| recipe(after_make(text(lines, at))?));
            return Some(match place {
                Some((file, line)) => finding.at(file, line),
                None => finding,
            });
        }
        if body.starts_with("Circular ") && body.ends_with("dropped.")
            || body.starts_with("warning: ")
        {
            return Some(Finding::new(at, at, "BuildWarning", Severity::Low, body));
        }
        return starts_any(
            body,
            &[
                "unrecognized option",
                "invalid option",
                "option requires an argument",
            ],
        )
        .then(|| high("BuildError", body));
    };
    let message = stop.strip_suffix("Stop.").unwrap_or(stop).trim();
    if let Some((file, line)) = recipe(body)
        .map(|(file, line)| (file, Some(line)))
        .or_else(|| stop.starts_with('[').then_some(("", None)))
    {
        if message.ends_with("(ignored)") {
            return None;
        }
        let (name, severity) = if mentions(message, "Segmentation fault") {
            ("SegFault", Severity::Critical)
        } else if message.contains("] Killed") {
            ("OutOfMemory", Severity::Critical)
        } else if message.contains("] Aborted") {
            ("Abort", Severity::High)
        } else {
            ("BuildError", Severity::High)
        };
        let is_end = message.contains("] Error ") || name != "BuildError";
        if !is_end {
            return None;
        }
        let mut finding = Finding::new(
            at,
            at,
            name,
            severity,
            format!("a recipe failed: {message}"),
        );
        finding.is_consequence = true;
        finding.module = between(message, ": ", "]").map(str::to_owned);
        return Some(if file.is_empty() {
            finding
        } else {
            finding.at(file, line)
        });
    }
    if starts_any(
        message,
        &[
            "Waiting for unfinished",
            "Deleting ",
            "read jobs pipe",
            "wait: ",
        ],
    ) {
        return None;
    }
    if let Some(file) = message.strip_suffix(": No such file or directory.") {
        return Some(high("FileNotFoundError", message).at(file, None));
    }
    if message.starts_with("virtual memory exhausted") {
        return Some(Finding::new(
            at,
            at,
            "OutOfMemory",
            Severity::Critical,
            message,
        ));
    }
    let mut finding = high("BuildError", message);
    finding.module = message
        .starts_with("No rule to make target")
        .then(|| quoted(message).map(str::to_owned))
        .flatten();
    // A makefile that could not be included was reported above.
    finding.is_consequence = finding.module.is_some()
        && lines[..at].iter().any(|line| {
            finding.module.as_deref().is_some_and(|file| {
                line.text()
                    .ends_with(&format!("{file}: No such file or directory"))
            })
        });
    Some(finding)
}

/// Reads `Makefile:2: *** text.  Stop.` and its warnings.
fn of_makefile(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let (file, row, rest) = place_before(line)?;
    if let Some(message) = rest.strip_prefix("*** ") {
        let message = message.strip_suffix("Stop.").unwrap_or(message).trim();
        return Some(Finding::new(at, at, "BuildError", Severity::High, message).at(file, row));
    }
    if !is_makefile(file) {
        return None;
    }
    if let Some(message) = rest.strip_prefix("warning: ") {
        return Some(Finding::new(at, at, "BuildWarning", Severity::Low, message).at(file, row));
    }
    if let Some(missing) = rest.strip_suffix(": No such file or directory") {
        let mut finding =
            Finding::new(at, at, "FileNotFoundError", Severity::High, rest).at(file, row);
        finding.module = Some(missing.to_owned());
        return Some(finding);
    }
    // `$(warning text)` has no mark of its own. Without make's own lines it looks like a search hit.
    let _ = lines;
    None
}

/// Whether a file belongs to CMake itself.
fn is_cmake_own(file: &str) -> bool {
    mentions(file, "/share/cmake")
        || mentions(file, "/cmake-")
        || mentions(file, "\\share\\cmake")
        || starts_any(file, &["/usr/", "/opt/"])
}

fn cmake(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["CMake ", "Error: "]) {
        let line = text(lines, at).trim_end();
        if let Some(rest) = line.strip_prefix("CMake ") {
            found.extend(of_cmake(lines, at, rest));
        } else if let Some(rest) = line.strip_prefix("Error: ") {
            let finding = |name| Finding::new(at, at, name, Severity::High, rest.to_owned());
            if let Some(folder) = rest.strip_suffix(" is not a directory") {
                found.push(finding("FileNotFoundError").at(folder, None));
            } else if starts_any(
                rest,
                &["could not load cache", "not a CMake build directory"],
            ) {
                found.push(finding("BuildError"));
            }
        }
    }
}

fn of_cmake(lines: &[Line], at: usize, rest: &str) -> Option<Finding> {
    let is_error = rest.starts_with("Error");
    let is_deprecation = rest.starts_with("Deprecation ");
    let is_warning = rest.starts_with("Warning") || is_deprecation;
    if !is_error && !is_warning {
        return None;
    }
    let (_, after) = rest
        .split_once("Error")
        .or_else(|| rest.split_once("Warning"))?;
    let after = after.trim_start().trim_start_matches("(dev)").trim_start();
    let mut last = at;
    let mut body = Vec::new();
    let mut place: Option<(&str, Option<u32>)> = None;
    if let Some(message) = after.strip_prefix(": ").or(after.strip_prefix(':')) {
        body.push(message.trim());
    } else if let Some(spot) = after.strip_prefix("at ").or(after.strip_prefix("in ")) {
        // `CMakeLists.txt:3 (find_package):` or `CMakeLists.txt:3:`
        place = Some(cmake_place(spot.trim_end().trim_end_matches(':')));
        let mut in_stack = false;
        while last + 1 < lines.len() && last - at < BLOCK {
            let line = text(lines, last + 1).trim_end();
            if line.starts_with("Call Stack") {
                in_stack = true;
            } else if !line.is_empty() && !line.starts_with("  ") {
                break;
            } else if in_stack {
                let frame = cmake_place(line.trim());
                if place.is_some_and(|(file, _)| is_cmake_own(file))
                    && !is_cmake_own(frame.0)
                    && frame.1.is_some()
                {
                    place = Some(frame);
                }
            } else {
                body.push(line.trim());
            }
            last += 1;
        }
    } else {
        return None;
    }
    let message = on_one_line(&body.join(" "));
    let name = match (is_error, is_deprecation) {
        (false, true) => "DeprecationWarning",
        (false, false) => "BuildWarning",
        (true, _) => cmake_type(&message, rest),
    };
    let severity = if is_error {
        Severity::High
    } else {
        Severity::Low
    };
    while last > at && text(lines, last).trim().is_empty() {
        last -= 1;
    }
    let mut finding = Finding::new(at, last, name, severity, message.as_str());
    if name == "DependencyError" {
        finding.module = between(&message, "provided by \"", "\"")
            .or_else(|| between(&message, "Could NOT find ", " "))
            .map(str::to_owned);
    }
    if mentions(&message, "does not appear to contain CMakeLists.txt") {
        return Some(finding.at("CMakeLists.txt", None));
    }
    if name == "FileNotFoundError"
        && let Some(file) = quoted(&message)
    {
        return Some(finding.at(file, None));
    }
    Some(match place {
        Some((file, line)) => finding.at(file, line),
        None => finding,
    })
}

/// Returns the place of `CMakeLists.txt:3 (find_package)`.
fn cmake_place(spot: &str) -> (&str, Option<u32>) {
    let spot = spot.split(" (").next().unwrap_or(spot);
    super::scan::place(spot).map_or((spot, None), |(file, line)| (file, Some(line)))
}

fn cmake_type(message: &str, head: &str) -> &'static str {
    if mentions_any(
        message,
        &[
            "asked CMake to find a package",
            "Could not find a package configuration file",
            "Could NOT find ",
            "Could not find a configuration file for package",
            "required packages were not found",
            "or higher is required",
            "are set to NOTFOUND",
            "could be found.",
            "No package '",
        ],
    ) || mentions(head, "(find_package)")
    {
        return "DependencyError";
    }
    if mentions(message, "does not appear to contain CMakeLists.txt")
        || message.starts_with("The source directory") && mentions(message, "does not exist")
    {
        return "FileNotFoundError";
    }
    "BuildError"
}

fn ctest(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&[" Test ", "No tests were found!!!"]) {
        let line = text(lines, at).trim_end();
        if line.trim() == "No tests were found!!!" {
            found.push(Finding::new(
                at,
                at,
                "NoTestsRan",
                Severity::Low,
                line.trim(),
            ));
            continue;
        }
        // `1/2 Test #1: totals ....***Failed    0.01 sec`
        let Some((before, rest)) = line.split_once(" Test ") else {
            continue;
        };
        let Some((_, rest)) = rest
            .split_once('#')
            .filter(|(space, _)| space.trim().is_empty())
        else {
            continue;
        };
        let is_count = before.split_once('/').is_some_and(|(one, all)| {
            one.trim().parse::<u32>().is_ok() && all.trim().parse::<u32>().is_ok()
        });
        let Some((name, status)) = rest.split_once("***").filter(|_| is_count) else {
            continue;
        };
        let name = name.split_once(": ").map_or(name, |(_, name)| name);
        // `Subprocess aborted***Exception` has words between the dots and the stars.
        let (test, words) = name.split_once(" .").unwrap_or((name, ""));
        let words = words.trim_matches(['.', ' ']);
        let status = status.split("  ").next().unwrap_or(status).trim();
        let all = format!("{words} {status}");
        let (kind, severity) = if status.starts_with("Timeout") {
            ("TestTimeout", Severity::Medium)
        } else if mentions_any(&all, &["SegFault", "SEGFAULT", "Bus error"]) {
            ("SegFault", Severity::Critical)
        } else if status.starts_with("Not Run") {
            ("TestError", Severity::Medium)
        } else if status.starts_with("Skipped") {
            continue;
        } else {
            ("TestFailure", Severity::Medium)
        };
        let end = (at + 1..lines.len())
            .take_while(|next| {
                let line = text(lines, *next).trim_start();
                let is_next = line.starts_with("Start ") && line.contains(": ");
                !(is_next || mentions(line, "% tests passed"))
            })
            .last()
            .unwrap_or(at);
        let output: Vec<&str> = (at + 1..=end)
            .map(|at| text(lines, at).trim())
            .filter(|line| !line.is_empty())
            .collect();
        let message = output.first().map_or_else(
            || format!("test {test} failed: {}", all.trim()),
            |first| on_one_line(first),
        );
        let mut finding = Finding::new(at, at, kind, severity, message);
        finding.test = Some(test.trim().to_owned());
        let assertion = output
            .iter()
            .filter(|line| mentions(line, "Assertion `"))
            .find_map(|line| place_before(line.split_once(": ")?.1));
        if let Some((file, row, _)) = assertion {
            finding = finding.at(file, row);
            finding.last = end;
        } else if output
            .iter()
            .all(|line| !mentions_any(line, &["rror", "Traceback", "panicked", "FAIL"]))
        {
            finding.last = end;
        } else {
            // What the test printed is the error; this line is its consequence.
            finding.is_consequence = kind == "TestFailure";
        }
        found.push(finding);
    }
}

fn ninja(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["FAILED: ", "ninja: "]) {
        let line = text(lines, at).trim_end();
        if let Some(target) = line.strip_prefix("FAILED: ") {
            let command = text(lines, at + 1);
            let is_ninja = lines.has("ninja: ")
                || command.starts_with('/')
                || command.starts_with("cd ")
                || command.starts_with(": && ");
            if is_ninja {
                let mut finding = Finding::new(
                    at,
                    at,
                    "BuildError",
                    Severity::High,
                    format!("{} failed", target.trim()),
                );
                finding.is_consequence = true;
                found.push(finding);
            }
            continue;
        }
        let Some(rest) = line.strip_prefix("ninja: ") else {
            continue;
        };
        if let Some(warning) = rest.strip_prefix("warning: ") {
            found.push(Finding::new(at, at, "BuildWarning", Severity::Low, warning));
            continue;
        }
        let Some(message) = rest
            .strip_prefix("error: ")
            .or(rest.strip_prefix("fatal: "))
        else {
            continue;
        };
        let finding = |name| Finding::new(at, at, name, Severity::High, message.to_owned());
        if message.starts_with("rebuilding ") {
            let mut finding = finding("BuildError");
            finding.is_consequence = true;
            found.push(finding);
        } else if message.starts_with("loading '") && mentions(message, "No such file") {
            found.push(
                finding("FileNotFoundError").at(quoted(message).unwrap_or("build.ninja"), None),
            );
        } else if mentions(message, "No such file or directory") && message.starts_with("chdir") {
            found.push(finding("FileNotFoundError").at(quoted(message).unwrap_or_default(), None));
        } else if let Some((file, row, rest)) = place_before(message) {
            found.push(Finding::new(at, at, "BuildError", Severity::High, rest).at(file, row));
        } else {
            let mut finding = finding("BuildError");
            finding.module = quoted(message).map(str::to_owned);
            found.push(finding);
        }
    }
}

/// Reads Meson, configure scripts and pkg-config.
fn configure(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["configure: error: ", "pkg-config search path", "ERROR: "]) {
        let line = text(lines, at).trim_end();
        if let Some(message) = line.strip_prefix("configure: error: ") {
            let is_missing = mentions_any(
                message,
                &[
                    "not found",
                    "required",
                    "missing",
                    "cannot find",
                    "could not find",
                    "no acceptable",
                ],
            );
            let name = if is_missing {
                "DependencyError"
            } else {
                "BuildError"
            };
            found.push(Finding::new(at, at, name, Severity::High, message));
        } else if let Some(rest) = line.strip_prefix("Package ")
            && let Some((name, _)) = rest.split_once(" was not found in the pkg-config search path")
        {
            let mut finding = Finding::new(at, at, "DependencyError", Severity::High, line);
            finding.module = Some(name.to_owned());
            found.push(finding);
        } else if let Some((file, row, message)) = place_before(line)
            && let Some(message) = message.strip_prefix("ERROR: ")
            && (file.ends_with("meson.build")
                || file.ends_with("meson_options.txt")
                || file.ends_with("meson.options"))
        {
            let is_missing = message.starts_with("Dependency ")
                || mentions(message, "not found") && !mentions(message, "Program");
            let name = if message.starts_with("Program") && mentions(message, "not found") {
                "CommandNotFound"
            } else if is_missing {
                "DependencyError"
            } else {
                "BuildError"
            };
            let mut finding = Finding::new(at, at, name, Severity::High, message)
                .at(file, number(&row.to_string()).map(|(row, _)| row));
            finding.module = quoted(message).map(str::to_owned);
            found.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: make's end of a recipe is a consequence, and a program that is missing has the recipe's place.
    #[test]
    fn make_names_the_recipe() {
        let found = findings(read, "make[1]: *** [src/Makefile:12: all] Error 2");
        assert!(found[0].is_consequence);
        assert_eq!(
            first(read, "make: *** [Makefile:2: all] Error 1 (ignored)").0,
            ""
        );
        let text = "make: lint: No such file or directory\nmake: *** [Makefile:9: x] Error 127\n";
        assert_eq!(first(read, text), event("CommandNotFound", "Makefile", 9));
        assert_eq!(
            first(
                read,
                "Makefile:3: *** missing separator (did you mean TAB instead of 8 spaces?).  Stop."
            ),
            event("BuildError", "Makefile", 3)
        );
        assert_eq!(
            first(read, "Makefile:1: nothere.mk: No such file or directory"),
            event("FileNotFoundError", "Makefile", 1)
        );
    }

    /// CAKE-WATCH-1: an error in a module of CMake has the place of the project's call.
    #[test]
    fn cmake_names_the_projects_call() {
        let text = "CMake Error at /usr/share/cmake-3.25/Modules/FindPackageHandleStandardArgs.cmake:230 (message):\n  Could NOT find ZLIB (missing: ZLIB_LIBRARY ZLIB_INCLUDE_DIR)\nCall Stack (most recent call first):\n  /usr/share/cmake-3.25/Modules/FindZLIB.cmake:199 (FIND_PACKAGE_HANDLE_STANDARD_ARGS)\n  CMakeLists.txt:4 (find_package)\n\n";
        assert_eq!(
            first(read, text),
            event("DependencyError", "CMakeLists.txt", 4)
        );
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("ZLIB"));
        let text = "CMake Deprecation Warning at CMakeLists.txt:1 (cmake_minimum_required):\n  Compatibility with CMake < 3.5 will be removed\n";
        assert_eq!(
            first(read, text),
            event("DeprecationWarning", "CMakeLists.txt", 1)
        );
    }
}
