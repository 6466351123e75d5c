//! kubectl: messages of the command and of the cluster.

use super::{
    docker::missing_file,
    scan::{between, mentions, number, quoted, starts_any, text},
};
use crate::{Severity, finding::Finding, line::Line};

/// Returns the finding of a message of kubectl.
pub(super) fn message(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let new = |name: &'static str| Finding::new(at, at, name, Severity::High, line);
    if starts_any(
        line,
        &[
            "The connection to the server ",
            "Unable to connect to the server: ",
        ],
    ) {
        return Some(new("ConnectionError"));
    }
    if let Some(rest) = line.strip_prefix("Error from server") {
        let name = if rest.starts_with(" (Forbidden)") {
            "PermissionError"
        } else if rest.starts_with(" (Timeout)") || rest.starts_with(" (ServiceUnavailable)") {
            "ConnectionError"
        } else {
            "BuildError"
        };
        let mut finding = new(name);
        finding.code = between(rest, "(", ")").map(str::to_owned);
        finding.module = quoted(rest).map(str::to_owned);
        if let Some(file) = between(rest, "creating \"", "\"") {
            finding = finding.at(file, None);
        }
        return Some(finding);
    }
    if let Some(rest) = line.strip_prefix("The ")
        && rest.contains("\" is invalid: ")
    {
        return Some(new("BuildError"));
    }
    if line.starts_with("Error: unknown command \"")
        && super::scan::mentions_any(
            line,
            &[
                "for \"kubectl\"",
                "for \"helm\"",
                "for \"docker\"",
                "for \"minikube\"",
                "for \"kind\"",
            ],
        )
    {
        let mut finding = new("CommandNotFound");
        finding.module = quoted(line).map(str::to_owned);
        return Some(finding);
    }
    if line.starts_with("resource mapping not found for name: ") {
        let file = between(line, "from \"", "\"");
        return Some(match file {
            Some(file) => new("BuildError").at(file, None),
            None => new("BuildError"),
        });
    }
    if line.starts_with("Error in configuration: ") {
        return Some(new("BuildError"));
    }
    // klog's line of a command that failed: `E1128 23:02:18.483847 5336 run.go:72] "command failed" err="…"`.
    if line.starts_with('E')
        && let Some((_, rest)) = line.split_once("] \"command failed\" err=\"")
    {
        let message = rest.trim_end_matches('"').replace("\\\"", "\"");
        if mentions(&message, "unable to find one of 'kustomization.yaml'") {
            let finding = Finding::new(at, at, "FileNotFoundError", Severity::High, message);
            return Some(finding.at("kustomization.yaml", None));
        }
        return Some(Finding::new(at, at, "BuildError", Severity::High, message));
    }
    let has_help =
        (at + 1..at + 4).any(|at| starts_any(text(lines, at), &["See 'kubectl ", "See 'helm "]));
    if line.starts_with("Error: unknown ") && has_help {
        return Some(new("BuildError"));
    }
    let rest = line.strip_prefix("error: ")?;
    if let Some(rest) = rest.strip_prefix("error loading config file ") {
        let file = quoted(rest)?;
        let number = rest
            .split_once("line ")
            .and_then(|(_, rest)| number(rest))
            .map(|(line, _)| line);
        return Some(new("SyntaxError").at(file, number));
    }
    if rest.starts_with("must build at directory: ") && rest.ends_with("no such file or directory")
    {
        return Some(match missing_file(rest) {
            Some(file) => new("FileNotFoundError").at(file, None),
            None => new("FileNotFoundError"),
        });
    }
    if let Some(path) = between(rest, "the path \"", "\" does not exist") {
        return Some(new("FileNotFoundError").at(path, None));
    }
    if let Some(rest) = rest.strip_prefix("error parsing ") {
        let (file, message) = rest.split_once(": ")?;
        let number = message
            .split_once("line ")
            .and_then(|(_, rest)| number(rest))
            .map(|(line, _)| line);
        return Some(Finding::new(at, at, "SyntaxError", Severity::High, message).at(file, number));
    }
    if starts_any(
        rest,
        &[
            "error validating \"",
            "unable to recognize \"",
            "error when creating \"",
            "unable to decode \"",
        ],
    ) {
        let file = quoted(rest)?;
        return Some(new("BuildError").at(file, None));
    }
    if rest.starts_with("You must be logged in to the server") {
        return Some(new("PermissionError"));
    }
    let is_kubectl = starts_any(
        rest,
        &[
            "no context exists with the name",
            "current-context is not set",
            "context \"",
            "the server doesn't have a resource type",
            "must specify one of -f",
            "required flag(s) ",
            "unknown flag: --",
            "unknown shorthand flag: ",
            "no objects passed to",
            "timed out waiting for the condition",
            "exactly one NAME",
            "You must provide one or more resources",
            "resource(s) were provided, but no name",
            "no matching resources found",
            "there is no need to specify a resource type",
            "flag needs an argument: ",
            "no configuration has been provided",
        ],
    );
    (is_kubectl || has_help).then(|| {
        let mut finding = new("BuildError");
        finding.module = quoted(rest).map(str::to_owned);
        finding
    })
}
