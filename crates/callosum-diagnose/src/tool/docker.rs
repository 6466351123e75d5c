//! Docker, Compose, BuildKit and kubectl.

use std::borrow::Cow;

use super::{
    kubectl,
    scan::{
        between, ends_any, mentions, mentions_any, number, place, quoted, reason, starts_any, text,
    },
};
use crate::{Severity, finding::Finding, line::Line, reader::find, window::Window};

/// Lines before the last message of a build in which its steps are read.
const LONGEST_BUILD: usize = 400;

/// Lines of a failed step that other readers see.
const LONGEST_STEP: usize = 200;

/// A line that starts an error has one of these.
const STARTS: &[&str] = &[
    "docker: ",
    "Cannot connect to the Docker daemon",
    "error during connect: ",
    "permission denied while trying",
    "Error response from daemon: ",
    "unable to prepare context: ",
    "unknown ",
    "\"docker ",
    "invalid ",
    "must specify at least one container source",
    "context \"",
    "Get \"http",
    "Head \"http",
    "Post \"http",
    "DEPRECATED: ",
    "Error: No such ",
    "validating ",
    "yaml: ",
    "no configuration file provided",
    "no such service: ",
    "service \"",
    "dependency failed to start: ",
    "env file ",
    "compose",
    "he connection to the server ",
    "Unable to connect to the server: ",
    "Error from server",
    "\" is invalid: ",
    "Error: unknown ",
    "resource mapping not found",
    "Error in configuration: ",
    "\"command failed\" err=",
    "error: ",
];

/// Reads Docker and kubectl.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if lines.has("failed to solve") || lines.has("dockerfile parse error") {
        read_builds(lines, found);
    }
    for at in lines.lines_with(STARTS) {
        let line = text(lines, at);
        let Some(first) = line.as_bytes().first() else {
            continue;
        };
        // The first letters of the messages below.
        if !b"dCEDGHuipvynfsTUecmrW".contains(first) {
            continue;
        }
        let finding = docker(at, line)
            .or_else(|| compose(at, line))
            .or_else(|| kubectl::message(lines, at, line));
        found.extend(finding);
    }
}

/// Reads the end of a build by BuildKit, with the step that failed and its place in the Dockerfile.
fn read_builds(lines: &[Line], found: &mut Vec<Finding>) {
    for at in 0..lines.len() {
        let line = text(lines, at);
        let Some((before, message)) = line.split_once("failed to solve: ") else {
            continue;
        };
        let is_end = starts_any(before, &["ERROR: ", "error: ", "failed to", "target "])
            || before.is_empty();
        if !is_end {
            continue;
        }
        let start = at.saturating_sub(LONGEST_BUILD);
        let location = (start..at).rev().find_map(|at| {
            let (file, line) = place(text(lines, at))?;
            let is_frame = text(lines, at + 1).starts_with("-----");
            is_frame.then_some((at, file, line))
        });
        let step = (start..at)
            .rev()
            .find(|at| text(lines, *at).starts_with(" > ["));
        let error_step = (start..at).find(|at| mentions(text(lines, *at), "=> ERROR ["));
        let first = error_step
            .or(step)
            .or(location.map(|(at, _, _)| at))
            .unwrap_or(at);
        let (name, message, module) = build_error(lines, step, message);
        let severity = if name == "DiskFull" || name == "OutOfMemory" {
            Severity::Critical
        } else {
            Severity::High
        };
        let mut finding = Finding::new(first, at, name, severity, message);
        if let Some((_, file, line)) = location {
            finding = finding.at(file, line);
        } else if let Some(file) = missing_file(line) {
            finding = finding.at(file, None);
        } else if let Some((number, _)) = line
            .split_once("parse error on line ")
            .or_else(|| line.split_once("parse error line "))
            .and_then(|(_, rest)| number(rest))
        {
            finding = finding.at("Dockerfile", number);
        }
        finding.module = module;
        found.push(finding);
    }
}

/// Returns the type, message and module for a failed build.
fn build_error(
    lines: &[Line],
    step: Option<usize>,
    message: &str,
) -> (Cow<'static, str>, String, Option<String>) {
    if mentions(message, "parse error") || mentions(message, "unknown instruction") {
        return ("SyntaxError".into(), message.to_owned(), None);
    }
    if mentions(message, "did not complete successfully") {
        let step = step.map_or(&lines[..0], |step| {
            let end = (step + 1..lines.len().min(step + LONGEST_STEP))
                .find(|at| text(lines, *at).starts_with("-----"))
                .unwrap_or(step + 1);
            &lines[step + 1..end]
        });
        return step_error(step, message);
    }
    let is_image = mentions_any(
        message,
        &[
            "failed to resolve source metadata",
            "pull access denied",
            "manifest unknown",
            "repository does not exist",
            "failed to authorize",
        ],
    );
    if is_image {
        let name = if mentions_any(
            message,
            &[
                "no such host",
                "timeout",
                "connection refused",
                "failed to authorize",
            ],
        ) {
            "ConnectionError"
        } else {
            "DependencyError"
        };
        let image = message
            .split(": ")
            .next()
            .filter(|image| !image.contains(' '));
        return (name.into(), message.to_owned(), image.map(str::to_owned));
    }
    if mentions_any(
        message,
        &[
            "failed to read dockerfile",
            "\": not found",
            "failed to calculate checksum",
            "no such file or directory",
        ],
    ) {
        return (
            "FileNotFoundError".into(),
            message.to_owned(),
            quoted(message).map(str::to_owned),
        );
    }
    let name = reason(message).unwrap_or("BuildError");
    (name.into(), message.to_owned(), None)
}

/// Returns the reason that the command of a step printed, else that the step failed.
fn step_error(step: &[Line], message: &str) -> (Cow<'static, str>, String, Option<String>) {
    let plain: Vec<Line> = step
        .iter()
        .map(|line| Line::new(without_time(line.text())))
        .collect();
    for line in &plain {
        let line = line.text();
        if let Some(package) = line.trim().strip_suffix(" (no such package):") {
            return (
                "DependencyError".into(),
                line.trim().to_owned(),
                Some(package.to_owned()),
            );
        }
        if let Some(package) = line.strip_prefix("E: Unable to locate package ") {
            return (
                "DependencyError".into(),
                line.to_owned(),
                Some(package.to_owned()),
            );
        }
        if mentions_any(
            line,
            &[
                "ERROR: unable to select packages",
                "has no installation candidate",
                "Unable to find a match",
            ],
        ) && plain.len() < 2
        {
            return ("DependencyError".into(), line.to_owned(), None);
        }
    }
    let inner = find(&plain)
        .into_iter()
        .find(|finding| finding.severity != Severity::Low && !finding.is_secondary);
    if let Some(inner) = inner {
        return (inner.error_type, inner.message, inner.module);
    }
    for line in &plain {
        if let Some(name) = line.text().strip_suffix(": not found")
            && line.text().starts_with("/bin/")
        {
            let program = name.rsplit(": ").next().unwrap_or(name);
            return (
                "CommandNotFound".into(),
                line.text().to_owned(),
                Some(program.to_owned()),
            );
        }
    }
    let name = if message.ends_with("exit code: 127") {
        "CommandNotFound"
    } else if message.ends_with("exit code: 137") {
        "OutOfMemory"
    } else {
        "BuildError"
    };
    let printed = plain
        .iter()
        .rev()
        .map(|line| line.text().trim())
        .find(|line| !line.is_empty());
    let whole = printed.map_or_else(|| message.to_owned(), |line| format!("{message}: {line}"));
    (name.into(), whole, None)
}

/// Returns the output of a step without the seconds before it.
fn without_time(line: &str) -> &str {
    let rest = match line.strip_prefix('#') {
        Some(rest) => rest.split_once(' ').map_or(rest, |(_, rest)| rest),
        None => line,
    };
    let Some((_, after)) = number(rest) else {
        return line;
    };
    after
        .strip_prefix('.')
        .and_then(number)
        .and_then(|(_, rest)| rest.strip_prefix(' '))
        .unwrap_or(line)
}

/// Returns the file of `open Dockerfile: no such file or directory`.
pub(super) fn missing_file(message: &str) -> Option<&str> {
    let before = message.strip_suffix(": no such file or directory")?;
    before
        .rsplit([' '])
        .next()
        .map(|file| file.trim_matches('"'))
}

/// Returns the finding of a message of Docker's command or daemon.
fn docker(at: usize, line: &str) -> Option<Finding> {
    let message = line.strip_prefix("docker: ").unwrap_or(line);
    let message = message.strip_prefix("ERROR: ").unwrap_or(message);
    let new = |name: &'static str| Finding::new(at, at, name, Severity::High, message.trim());
    if message.starts_with("Cannot connect to the Docker daemon")
        || message.starts_with("error during connect: ")
    {
        return Some(new("ConnectionError"));
    }
    if starts_any(
        message,
        &[
            "permission denied while trying to connect to",
            "Got permission denied while trying",
        ],
    ) {
        let socket = between(message, "unix://", ":").map(str::trim);
        return Some(match socket {
            Some(socket) => new("PermissionError").at(socket, None),
            None => new("PermissionError"),
        });
    }
    if let Some(rest) = message.strip_prefix("Error response from daemon: ") {
        return Some(daemon(at, rest));
    }
    if let Some(rest) = message.strip_prefix("unable to prepare context: ") {
        let file = missing_file(rest).or_else(|| quoted(rest));
        return Some(match file {
            Some(file) => new("FileNotFoundError").at(file, None),
            None => new("BuildError"),
        });
    }
    if line.starts_with("docker: ") {
        let is_unknown =
            mentions(message, "unknown command: ") || mentions(message, "is not a docker command");
        if is_unknown {
            let mut finding = new("CommandNotFound");
            finding.module = message
                .rsplit_once(": ")
                .map(|(_, command)| command.to_owned())
                .or_else(|| quoted(message).map(str::to_owned));
            return Some(finding);
        }
        if mentions_any(
            message,
            &[
                "requires ",
                "requires exactly",
                "requires at most",
                "accepts no arguments",
                "invalid reference format",
                "unknown flag",
                "unknown shorthand flag",
                "invalid ",
            ],
        ) {
            return Some(new("BuildError"));
        }
    }
    if starts_any(
        line,
        &["unknown flag: --", "unknown shorthand flag: ", "\"docker "],
    ) || (line.starts_with("invalid argument \"") && mentions(line, " flag: "))
        || line == "invalid reference format"
        || line == "must specify at least one container source"
        || (line.starts_with("context \"") && mentions(line, "context not found"))
    {
        return Some(new("BuildError"));
    }
    if starts_any(line, &["Get \"http", "Head \"http", "Post \"http"])
        && reason(line) == Some("ConnectionError")
    {
        return Some(new("ConnectionError"));
    }
    if let Some(rest) = line.strip_prefix("DEPRECATED: ") {
        return Some(Finding::new(
            at,
            at,
            "DeprecationWarning",
            Severity::Low,
            rest,
        ));
    }
    if starts_any(
        line,
        &[
            "Error: No such container",
            "Error: No such object",
            "Error: No such network",
        ],
    ) {
        return Some(new("BuildError"));
    }
    if starts_any(line, &["Error: No such image"]) {
        return Some(new("DependencyError"));
    }
    if line.starts_with("exec ")
        && mentions_any(
            line,
            &[
                ": no such file or directory",
                ": exec format error",
                ": permission denied",
            ],
        )
    {
        let name = reason(line).unwrap_or("BuildError");
        let file = line["exec ".len()..].split(": ").next().unwrap_or_default();
        return Some(new(name).at(file, None));
    }
    None
}

/// Returns the finding of a message of the daemon.
fn daemon(at: usize, message: &str) -> Finding {
    let new = |name: &'static str| Finding::new(at, at, name, Severity::High, message.trim());
    if mentions(message, "o space left on device") {
        let mut finding = new("DiskFull");
        finding.severity = Severity::Critical;
        let file = message
            .split(": no space left")
            .next()
            .and_then(|before| before.rsplit(' ').next())
            .filter(|file| file.starts_with('/'));
        return match file {
            Some(file) => finding.at(file, None),
            None => finding,
        };
    }
    if mentions(message, "port is already allocated") || mentions(message, "ddress already in use")
    {
        return new("AddressInUse");
    }
    if mentions(message, "executable file not found in $PATH") {
        let mut finding = new("CommandNotFound");
        finding.module = message
            .split("exec: ")
            .nth(1)
            .and_then(quoted)
            .map(str::to_owned);
        return finding;
    }
    if mentions(message, "OCI runtime ") || mentions(message, "unable to start container process") {
        let name = reason(message)
            .filter(|name| matches!(*name, "PermissionError" | "FileNotFoundError"))
            .unwrap_or("BuildError");
        let file = message.split("exec: ").nth(1).and_then(quoted);
        return match file.filter(|_| name != "BuildError") {
            Some(file) => new(name).at(file, None),
            None => new(name),
        };
    }
    if mentions_any(
        message,
        &[
            "pull access denied",
            "manifest unknown",
            "manifest for ",
            "repository does not exist",
            "No such image",
            "not found: manifest",
            "does not match the specified platform",
        ],
    ) {
        let mut finding = new("DependencyError");
        finding.module = [
            "pull access denied for ",
            "manifest for ",
            "No such image: ",
        ]
        .iter()
        .find_map(|before| message.split(before).nth(1))
        .and_then(|rest| rest.split([',', ' ']).next())
        .map(str::to_owned);
        return finding;
    }
    if mentions_any(
        message,
        &[
            "no such host",
            "TLS handshake timeout",
            "i/o timeout",
            "onnection refused",
            "Client.Timeout",
            "toomanyrequests",
            "unauthorized",
            "context deadline exceeded",
        ],
    ) {
        return new("ConnectionError");
    }
    if mentions(message, "bind source path does not exist: ") {
        let file = message.rsplit("exist: ").next().unwrap_or_default();
        return new("FileNotFoundError").at(file, None);
    }
    match reason(message) {
        Some(name @ ("PermissionError" | "FileNotFoundError")) => match missing_file(message) {
            Some(file) => new(name).at(file, None),
            None => new(name),
        },
        _ => new("BuildError"),
    }
}

/// Returns the finding of a message of Compose.
fn compose(at: usize, line: &str) -> Option<Finding> {
    let new = |name: &'static str| Finding::new(at, at, name, Severity::High, line);
    if let Some(rest) = line.strip_prefix("validating ") {
        let (file, message) = rest.split_once(": ")?;
        let is_compose = ends_any(file, &[".yml", ".yaml"]);
        return is_compose
            .then(|| Finding::new(at, at, "BuildError", Severity::High, message).at(file, None));
    }
    if let Some(rest) = line.strip_prefix("yaml: ") {
        let number = rest
            .strip_prefix("line ")
            .and_then(number)
            .map(|(line, _)| line);
        let is_alone = number.is_some()
            || starts_any(
                rest,
                &[
                    "unmarshal errors",
                    "found ",
                    "mapping ",
                    "control characters",
                ],
            );
        return is_alone.then(|| {
            let mut finding = new("SyntaxError");
            finding.line = number;
            finding
        });
    }
    if let Some((file, rest)) = line.split_once(": yaml: ")
        && let Some(file) = file.rsplit(' ').next()
        && (ends_any(file, &[".yml", ".yaml"]))
        && starts_any(line, &["parsing ", "failed to parse "])
    {
        let number = rest
            .strip_prefix("line ")
            .and_then(number)
            .map(|(line, _)| line);
        return Some(new("SyntaxError").at(file, number));
    }
    if line.starts_with("no configuration file provided") || line.starts_with("no such service: ") {
        return Some(new("BuildError"));
    }
    if line.starts_with("service \"")
        && mentions_any(
            line,
            &[
                "refers to undefined",
                "depends on undefined",
                "has neither an image",
                "is not running",
                "undefined service",
            ],
        )
    {
        return Some(new("BuildError"));
    }
    if starts_any(
        line,
        &[
            "dependency failed to start: ",
            "env file ",
            "failed to load env file",
        ],
    ) {
        let file = line
            .strip_prefix("env file ")
            .and_then(|rest| rest.split(' ').next());
        return Some(match file {
            Some(file) => new("FileNotFoundError").at(file, None),
            None => new("BuildError"),
        });
    }
    if line.starts_with("open ")
        && mentions_any(line, &["compose.y", "docker-compose"])
        && line.ends_with("no such file or directory")
    {
        let file = missing_file(line)?;
        return Some(new("FileNotFoundError").at(file, None));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: a failed step is placed in the Dockerfile and has the reason that its command printed.
    #[test]
    fn failed_steps_have_the_reason_of_their_command() {
        let text = " => ERROR [4/5] RUN npm ci                                0.9s\n------\n > [4/5] RUN npm ci:\n0.812 npm error code ETARGET\n0.812 npm error notarget No matching version found for zod@99.\n------\ndocker/Dockerfile:7\n--------------------\n   7 | >>> RUN npm ci\n--------------------\nERROR: failed to solve: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1\n";
        let finding = &findings(read, text)[0];
        assert_eq!(finding.error_type, "DependencyError");
        assert_eq!(
            (finding.file.as_deref(), finding.line),
            (Some("docker/Dockerfile"), Some(7))
        );
        assert_eq!(finding.module.as_deref(), Some("zod@99"));
        let text = "ERROR: failed to solve: failed to read dockerfile: open Dockerfile: no such file or directory\n";
        assert_eq!(
            first(read, text),
            event("FileNotFoundError", "Dockerfile", 0)
        );
    }

    /// CAKE-WATCH-1: messages of the daemon and of kubectl name their reason.
    #[test]
    fn daemon_and_kubectl_name_the_reason() {
        let text = "docker: Error response from daemon: failed to create task: exec: \"./run.sh\": permission denied: unknown\n";
        assert_eq!(first(read, text).0, "PermissionError");
        let text = "Error from server (NotFound): pods \"web\" not found\n";
        let finding = &findings(read, text)[0];
        assert_eq!(
            (finding.code.as_deref(), finding.module.as_deref()),
            (Some("NotFound"), Some("web"))
        );
        assert!(
            findings(
                read,
                "error: could not compile `shop`\nerror: the following error\n"
            )
            .is_empty()
        );
    }
}
