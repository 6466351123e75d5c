//! Cargo without a place in the source: manifests, dependencies, options, child processes; and errors that `main` returns.

use super::scan::{between, mentions, mentions_any, on_one_line, quoted, reason, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of a chain of causes.
const CHAIN: usize = 60;

/// Starts of messages about dependencies.
const DEPENDENCY: &[&str] = &[
    "no matching package",
    "failed to select a version",
    "failed to get `",
    "failed to load source for dependency",
    "failed to download",
    "failed to fetch",
    "failed to sync",
    "failed to update",
    "failed to resolve patch",
    "failed to verify the checksum",
    "failed to load manifest for dependency",
    "failed to parse lock file",
    "failed to query replaced source",
    "unable to get packages",
    "unable to update",
    "cannot create the lock file",
    "cannot update the lock file",
    "the lock file ",
    "checksum for `",
    "cyclic package dependency",
    "could not find `",
    "the crate `",
    "package ID specification",
    "package(s) `",
    "package `",
    "rustc ",
    "the dependency `",
    "dependency (",
    "two packages named",
    "toolchain '",
    "no override and no default toolchain",
    "perhaps a crate was updated and forgotten to be re-vendored?",
    "patch for `",
];

/// Starts of messages about manifests, options and build scripts.
const BUILD: &[&str] = &[
    "failed to parse manifest",
    "failed to run custom build command",
    "failed to load manifest for workspace member",
    "failed to run `rustc`",
    "failed to parse",
    "failed to find a workspace root",
    "failed to search for workspace",
    "the package '",
    "no library targets found",
    "a bin target must be available",
    "`cargo run` could not determine",
    "current package believes",
    "multiple workspace roots",
    "manifest path `",
    "profile `",
    "unexpected argument '",
    "invalid value '",
    "the argument '",
    "the following required arguments",
    "unrecognized subcommand",
    "a value is required for '",
    "could not parse `",
    "destination `",
    "cannot install package",
    "binary `",
    "there is nothing to install",
    "found a virtual manifest",
    "expected table for configuration key",
    "error in ",
    "invalid character `",
    "the name `",
    "`cargo init` cannot be run on existing",
    "dependencies on ",
    "feature `",
    "features cannot",
    "none of the selected packages contains",
    "target `",
    "output of ",
    "build failed",
    "custom target",
    "component '",
    "edition ",
    "could not load Cargo configuration",
    "creating test list failed",
    "config profile",
    "unknown unstable feature",
    "the `-Z` flag is only accepted",
    "the `-Z unstable-options` flag",
    "the option `Z` is only accepted",
    "crate-type ",
    "unknown crate type",
    "Unrecognized option",
    "multiple input filenames",
    "no input filename given",
    "incorrect value",
    "could not find native static library",
];

/// Reads Cargo's errors.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    for at in lines.lines_with(&["error: ", "error[E"]) {
        let line = text(lines, at).trim_end();
        if let Some(message) = line.strip_prefix("error: ") {
            found.extend(error(lines, at, message));
        } else if let Some(rest) = line.strip_prefix("error[E") {
            found.extend(without_place(lines, at, rest));
        }
    }
    for at in lines.lines_with(&["warning: "]) {
        if let Some(message) = text(lines, at).strip_prefix("warning: ") {
            found.extend(warning(at, message));
        }
    }
    for at in lines.lines_with(&["Error: "]) {
        if let Some(message) = text(lines, at).strip_prefix("Error: ") {
            found.extend(returned(lines, at, message));
        }
    }
}

/// Reads `error[E0463]: …` that no arrow follows.
fn without_place(lines: &[Line], at: usize, rest: &str) -> Option<Finding> {
    let (number, message) = rest.split_once("]: ")?;
    let is_code = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_code || text(lines, at + 1).trim_start().starts_with("-->") {
        return None;
    }
    let mut finding = Finding::new(at, at, "CompileError", Severity::High, message);
    finding.code = Some(format!("E{number}"));
    finding.module = quoted(message).map(str::to_owned);
    Some(finding)
}

/// Returns the index of the last line of the causes of an error.
fn chain_end(lines: &[Line], at: usize) -> usize {
    let mut last = at;
    let mut next = at + 1;
    while next < lines.len() && next - at < CHAIN {
        let line = text(lines, next);
        if starts_any(
            line,
            &[
                "error: ",
                "error[",
                "warning: ",
                "   Compiling",
                "    Finished",
            ],
        ) {
            break;
        }
        let belongs = line.starts_with("  ")
            || starts_any(
                line,
                &[
                    "Caused by:",
                    "location searched",
                    "required by",
                    "perhaps you meant",
                    "help: ",
                ],
            );
        if belongs {
            last = next;
        } else if !line.trim().is_empty() {
            break;
        }
        next += 1;
    }
    last
}

fn error(lines: &[Line], at: usize, message: &str) -> Option<Finding> {
    let message = message.trim();
    if starts_any(
        message,
        &[
            "could not compile",
            "aborting due to",
            "test failed",
            "doctest failed",
            "test run failed",
            "build failed, waiting",
            "linking with ",
        ],
    ) || message.ends_with("targets failed:")
        || message.ends_with("target failed:")
    {
        return signal_in(lines, at);
    }
    let last = chain_end(lines, at);
    let chain: Vec<&str> = (at + 1..=last).map(|at| text(lines, at).trim()).collect();
    let all = on_one_line(&format!("{message} {}", chain.join(" ")));
    let mut finding = if let Some(name) = message
        .strip_prefix("no such command: ")
        .or(message.strip_prefix("no such subcommand: "))
    {
        let mut finding = Finding::new(at, last, "CommandNotFound", Severity::High, message);
        finding.module = quoted(name).map(str::to_owned);
        finding
    } else if message.starts_with("could not find `Cargo.toml`") {
        Finding::new(at, last, "FileNotFoundError", Severity::High, message).at("Cargo.toml", None)
    } else if message.starts_with("couldn't read ") || message.starts_with("failed to read ") {
        let name = reason(&all).unwrap_or("BuildError");
        let finding = Finding::new(at, last, name, Severity::High, all.as_str());
        match quoted(message) {
            Some(file) => finding.at(file, None),
            None => finding,
        }
    } else if message.starts_with("manifest path `") && mentions(message, "does not exist") {
        let file = quoted(message).unwrap_or_default();
        Finding::new(at, last, "FileNotFoundError", Severity::High, message).at(file, None)
    } else if message.starts_with("linker `") && message.ends_with("not found")
        || message.starts_with("could not execute process `")
    {
        let program = quoted(message).and_then(|line| line.split_whitespace().next());
        let mut finding = Finding::new(at, last, "CommandNotFound", Severity::High, all.as_str());
        finding.module = program.map(str::to_owned);
        finding
    } else if message.starts_with("process didn't exit successfully")
        || message.starts_with("process ")
    {
        return signal(at, message);
    } else if message.starts_with("no tests to run") {
        Finding::new(at, at, "NoTestsRan", Severity::High, message)
    } else if message.starts_with("no ") && mentions(message, " target named ") {
        let name = if message.starts_with("no test target") {
            "TestUsageError"
        } else {
            "BuildError"
        };
        let mut finding = Finding::new(at, last, name, Severity::High, message);
        finding.module = quoted(message).map(str::to_owned);
        finding
    } else if message.starts_with("failed to run custom build command") {
        return Some(build_script(lines, at, message));
    } else if starts_any(message, DEPENDENCY) && !mentions(message, "does not have feature") {
        dependency(lines, at, last, message, &all)?
    } else if starts_any(message, BUILD) || mentions(message, "does not have feature") {
        manifest(lines, at, last, message, &all)?
    } else if chain.contains(&"Caused by:") {
        let name = reason(&all).unwrap_or("BuildError");
        Finding::new(at, last, name, Severity::High, all.as_str())
    } else {
        return None;
    };
    if finding.error_type == "DependencyError" && is_network(&all) {
        finding.error_type = "ConnectionError".into();
    }
    Some(finding)
}

fn is_network(all: &str) -> bool {
    mentions_any(
        all,
        &[
            "network failure",
            "spurious network error",
            "Couldn't resolve host",
            "Could not resolve host",
            "Couldn't connect to server",
            "Failed to connect",
            "Connection refused",
            "Connection timed out",
            "Timeout was reached",
            "failed to resolve address",
            "failed to connect",
            "got HTTP 4",
            "got 4",
        ],
    )
}

fn dependency(lines: &[Line], at: usize, last: usize, message: &str, all: &str) -> Option<Finding> {
    // `rustc 1.60 is not supported by the following packages` and `package `x v1` cannot be built because …`.
    if message.starts_with("rustc ") && !mentions(message, "is not supported by")
        || message.starts_with("could not find `")
            && !mentions_any(message, &["in registry", "in `", "in crates.io"])
        || message.starts_with("the crate `")
            && !mentions_any(message, &["could not be found", "not found"])
        || message.starts_with("the lock file ")
            && !mentions_any(message, &["needs to be updated", "cannot"])
    {
        return None;
    }
    let mut finding = Finding::new(at, last, "DependencyError", Severity::High, all);
    finding.module = quoted(message).map(|name| {
        let name = name.split_whitespace().next().unwrap_or(name);
        name.to_owned()
    });
    // The file that the innermost cause names, as a manifest or lock file that is missing.
    let file = (at..=last)
        .rev()
        .map(|at| text(lines, at).trim())
        .find_map(|line| {
            let rest = line
                .strip_prefix("failed to read ")
                .or(line.strip_prefix("failed to parse manifest at "));
            if let Some(rest) = rest {
                return quoted(rest);
            }
            line.split_whitespace()
                .find(|word| word.ends_with("Cargo.lock"))
        });
    Some(match file {
        Some(file) => finding.at(file.trim_matches('`'), None),
        None => finding,
    })
}

fn manifest(lines: &[Line], at: usize, last: usize, message: &str, all: &str) -> Option<Finding> {
    if message.starts_with("package `") && !mentions(message, "does not have feature") {
        return None;
    }
    let is_option = starts_any(
        message,
        &[
            "unexpected argument",
            "invalid value '",
            "the argument '",
            "a value is required",
            "the following required",
            "unrecognized subcommand",
        ],
    );
    // Options of a program need its usage below them.
    if is_option
        && !(at + 1..(at + 12).min(lines.len()))
            .any(|at| text(lines, at).starts_with("Usage:") || mentions(text(lines, at), "--help"))
    {
        return None;
    }
    let is_test = is_option
        && (at..(at + 12).min(lines.len())).any(|at| {
            starts_any(
                text(lines, at),
                &[
                    "Usage: cargo test",
                    "Usage: cargo nextest",
                    "Usage: cargo-nextest",
                ],
            )
        });
    let name = if is_test {
        "TestUsageError"
    } else {
        "BuildError"
    };
    let mut finding = Finding::new(at, last, name, Severity::High, all);
    if mentions_any(message, &["manifest", "failed to parse"]) {
        let file = (at..=last)
            .rev()
            .map(|at| text(lines, at))
            .find(|line| mentions(line, "manifest at `"))
            .and_then(|line| between(line, "manifest at `", "`"))
            .or_else(|| quoted(message).filter(|file| file.ends_with(".toml")));
        // `TOML parse error at line 3, column 5`
        let line = all
            .split("at line ")
            .nth(1)
            .and_then(|rest| super::scan::number(rest))
            .map(|(line, _)| line);
        if let Some(file) = file {
            finding = finding.at(file, line);
        }
        // `--> Cargo.toml:3:1` below the chain.
        let arrow = (at + 1..=last)
            .filter_map(|at| text(lines, at).trim_start().strip_prefix("--> "))
            .find_map(super::scan::place);
        if let Some((file, line)) = arrow {
            finding = finding.at(file, line);
        }
    }
    if mentions(message, "feature") {
        finding.module = message
            .rsplit(": ")
            .next()
            .filter(|name| !name.contains(' '))
            .or_else(|| quoted(message))
            .map(str::to_owned);
    }
    Some(finding)
}

/// Returns the error of a build script, unless a panic or a compiler's error below is the one to report.
fn build_script(lines: &[Line], at: usize, message: &str) -> Finding {
    let mut detail = "";
    let mut last = at;
    let mut is_stderr = false;
    for next in at + 1..lines.len().min(at + CHAIN) {
        let line = text(lines, next);
        let inner = line.trim();
        if starts_any(line, &["error: ", "error[", "warning: ", "   Compiling"]) {
            break;
        }
        if mentions(line, "panicked at ") {
            // A reader of panics has it; this is its consequence.
            let mut finding = Finding::new(at, at, "BuildError", Severity::High, message);
            finding.is_consequence = true;
            return finding;
        }
        if inner == "--- stderr" {
            is_stderr = true;
        } else if is_stderr && !inner.is_empty() && detail.is_empty() {
            detail = inner;
        }
        last = next;
    }
    let mut finding = Finding::new(
        at,
        last,
        "BuildError",
        Severity::High,
        format!("{message}: {detail}"),
    );
    finding.module = quoted(message)
        .and_then(|name| name.split_whitespace().next())
        .map(str::to_owned);
    finding
}

/// Returns the signal that ended a child, from the causes of an error.
fn signal_in(lines: &[Line], at: usize) -> Option<Finding> {
    (at + 1..lines.len().min(at + 6))
        .map(|at| (at, text(lines, at).trim_start()))
        .find(|(_, line)| line.starts_with("process didn't exit successfully"))
        .and_then(|(at, line)| signal(at, line))
}

/// Returns the finding for a child that a signal ended.
fn signal(at: usize, message: &str) -> Option<Finding> {
    let (name, severity) =
        if mentions_any(message, &["SIGSEGV", "SIGBUS", "STATUS_ACCESS_VIOLATION"]) {
            ("SegFault", Severity::Critical)
        } else if mentions(message, "SIGKILL") {
            ("OutOfMemory", Severity::Critical)
        } else if mentions_any(
            message,
            &[
                "SIGABRT",
                "SIGILL",
                "SIGFPE",
                "SIGTRAP",
                "STATUS_STACK_OVERFLOW",
                "STATUS_STACK_BUFFER_OVERRUN",
            ],
        ) {
            ("Abort", Severity::High)
        } else {
            return None;
        };
    let mut finding = Finding::new(at, at, name, severity, message);
    finding.is_consequence = true;
    finding.module = quoted(message).map(str::to_owned);
    Some(finding)
}

fn warning(at: usize, message: &str) -> Option<Finding> {
    let is_cargo = starts_any(
        message,
        &[
            "unused manifest key",
            "unused config key",
            "unused workspace key",
            "virtual workspace defaulting",
            "profiles for the non root package",
            "output filename collision",
            "Patch `",
            "skipping duplicate package",
            "no edition set",
            "dependency (",
            "file found to be present in multiple build targets",
            "the following packages contain code that will be rejected",
        ],
    ) || mentions_any(
        message,
        &[
            ": unused manifest key",
            "/.cargo/config` is deprecated",
            ": `panic` setting is ignored",
            ": no edition set",
        ],
    );
    // `warning: shop@0.1.0: text` of a build script.
    let script = message.split_once(": ").and_then(|(name, text)| {
        let (name, version) = name.split_once('@')?;
        let is_version = version.starts_with(|digit: char| digit.is_ascii_digit());
        (is_version && !name.contains(' ')).then_some(text)
    });
    if let Some(text) = script {
        let is_error = mentions(text, ": error: ") || mentions(text, ": fatal error: ");
        return (!is_error).then(|| Finding::new(at, at, "BuildWarning", Severity::Low, text));
    }
    let file = quoted(message).filter(|file| file.ends_with(".toml"));
    let file = file.or_else(|| {
        message
            .split(": ")
            .next()
            .filter(|file| file.ends_with("Cargo.toml"))
    });
    let finding = is_cargo.then(|| Finding::new(at, at, "BuildWarning", Severity::Low, message))?;
    Some(match file {
        Some(file) => finding.at(file, None),
        None => finding,
    })
}

/// Reads the error that `main` returns, as `Debug` prints it.
fn returned(lines: &[Line], at: usize, message: &str) -> Option<Finding> {
    let message = message.trim();
    let is_system = mentions(message, "(os error ") || message.starts_with("Os { code: ");
    let mut last = at;
    let mut causes = String::new();
    if text(lines, at + 2).trim_end() == "Caused by:" {
        last = chain_end(lines, at);
        causes = on_one_line(
            &(at + 1..=last)
                .map(|at| text(lines, at))
                .collect::<Vec<_>>()
                .join(" "),
        );
    }
    if is_system || mentions(&causes, "(os error ") {
        let all = format!("{message} {causes}");
        let name = if mentions(&all, "(os error 28)") {
            "DiskFull"
        } else {
            reason(&all)?
        };
        let severity = if name == "DiskFull" {
            Severity::Critical
        } else {
            Severity::High
        };
        let finding = Finding::new(at, last, name, severity, all.trim());
        let file = message
            .trim_matches('"')
            .split(": ")
            .next()
            .filter(|file| (file.contains('.') || file.contains('/')) && !file.contains(' '))
            .or_else(|| {
                quoted(message).filter(|file| !file.contains(' ') && file.contains(['.', '/']))
            });
        return Some(match file {
            Some(file) if name != "ConnectionError" => finding.at(file, None),
            _ => finding,
        });
    }
    // `ParseIntError { kind: InvalidDigit }` and `Custom("text")`.
    let end = message.find(|letter: char| !letter.is_ascii_alphanumeric())?;
    let name = &message[..end];
    let rest = &message[end..];
    let is_debug = rest.starts_with(" { ") && rest.ends_with('}')
        || rest.starts_with("(\"") && rest.ends_with("\")");
    (is_debug && name.starts_with(|letter: char| letter.is_ascii_uppercase()))
        .then(|| Finding::new(at, last, name.to_owned(), Severity::High, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: errors of Cargo name what is missing.
    #[test]
    fn errors_name_what_is_missing() {
        let text = "error: failed to select a version for the requirement `serde = \"^9\"`\ncandidate versions found which didn't match: 1.0.0\n";
        let found = findings(read, text);
        assert_eq!(found[0].error_type, "DependencyError");
        assert_eq!(found[0].module.as_deref(), Some("serde"));
        let text = "error: no such command: `nextest`\n";
        assert_eq!(findings(read, text)[0].module.as_deref(), Some("nextest"));
        let text = "error: failed to get `serde` as a dependency of package `a v0.1.0`\n\nCaused by:\n  failed to fetch `https://x`\n\nCaused by:\n  network failure seems to have happened\n";
        assert_eq!(first(read, text).0, "ConnectionError");
    }

    /// CAKE-WATCH-1: what a program or a log prints as an error is not one of Cargo.
    #[test]
    fn other_errors_are_not_claimed() {
        for text in [
            "error: payment declined",
            "Error: card declined",
            "error: test failed, to rerun pass `--lib`",
            "warning: be careful",
        ] {
            assert_eq!(findings(read, text), [], "{text}");
        }
        assert_eq!(
            first(read, "Error: ParseIntError { kind: InvalidDigit }"),
            event("ParseIntError", "", 0)
        );
        assert_eq!(
            first(
                read,
                "Error: Os { code: 13, kind: PermissionDenied, message: \"Permission denied\" }"
            ),
            event("PermissionError", "", 0)
        );
    }
}
