//! curl, wget, ssh, scp and rsync.

use super::{
    programs::high,
    scan::{between, mentions, number, quoted, reason, starts_any},
};
use crate::{Severity, finding::Finding};

/// Reads `curl: (7) text`, also behind a progress meter.
pub(super) fn curl(at: usize, line: &str) -> Option<Finding> {
    let start = line.find("curl: ")?;
    let before = line[..start].chars().next_back();
    if !before.is_none_or(|letter| {
        letter.is_ascii_digit() || letter == ' ' && line[..start].contains("--:--")
    }) {
        return None;
    }
    let rest = &line[start + 6..];
    if rest.starts_with("option ") && !rest.contains('`') {
        return Some(high(at, "BuildError", rest));
    }
    let (code, rest) = number(rest.strip_prefix('(')?)?;
    let message = rest.strip_prefix(")")?.trim();
    let name = match code {
        2 | 3 => "BuildError",
        23 => reason(message).unwrap_or("BuildError"),
        26 | 37 => "FileNotFoundError",
        27 => "OutOfMemory",
        _ => "ConnectionError",
    };
    let mut finding = high(at, name, message);
    finding.code = Some(code.to_string());
    if let Some(host) = message.strip_prefix("Could not resolve host: ") {
        finding.module = Some(host.to_owned());
    }
    Some(finding)
}

/// Reads wget, ssh, scp and rsync.
pub(super) fn network(at: usize, line: &str) -> Option<Finding> {
    let connection = || Some(high(at, "ConnectionError", line));
    if let Some((before, why)) = line.split_once("... failed: ") {
        return if starts_any(before, &["Connecting to ", "Resolving "]) && !why.is_empty() {
            connection()
        } else {
            None
        };
    }
    if starts_any(
        line,
        &[
            "wget: unable to resolve host",
            "ssh: connect to host ",
            "ssh: Could not resolve hostname",
            "kex_exchange_identification: ",
            "client_loop: send disconnect",
            "Connection timed out during banner exchange",
            "ssh_exchange_identification: ",
        ],
    ) {
        return connection();
    }
    if let Some((before, rest)) = line.split_once(" ERROR ")
        && let Some((code, rest)) = number(rest)
        && (400..600).contains(&code)
        && rest.starts_with(": ")
        && before.ends_with(|digit: char| digit.is_ascii_digit())
    {
        return connection();
    }
    if line == "Host key verification failed."
        || line.starts_with("Connection closed by ") && mentions(line, " port ")
    {
        return connection();
    }
    if line.starts_with("Could not connect to Redis at ") {
        return connection();
    }
    if let Some((who, rest)) = line.split_once(": Permission denied (")
        && rest.ends_with(").")
        && !who.contains(' ')
    {
        return Some(high(at, "PermissionError", line));
    }
    if let Some(rest) = line.strip_prefix("Permissions ")
        && rest.ends_with("are too open.")
    {
        return Some(high(at, "PermissionError", line).at(between(line, "'", "'")?, None));
    }
    if let Some(rest) = line.strip_prefix("Load key \"") {
        let (file, why) = rest.split_once("\": ")?;
        let name = match why {
            "bad permissions" | "Permission denied" => "PermissionError",
            _ => return None,
        };
        let mut finding = high(at, name, line).at(file, None);
        finding.is_consequence = true;
        return Some(finding);
    }
    if let Some(rest) = line.strip_prefix("Warning: Identity file ") {
        let (file, why) = rest.split_once(" not accessible: ")?;
        let finding = Finding::new(at, at, reason(why)?, Severity::Low, line);
        return Some(finding.at(file, None));
    }
    if line.starts_with("rsync: ") {
        let name = reason(line)?;
        let finding = high(at, name, line);
        return Some(match quoted(line) {
            Some(file) if name != "ConnectionError" => finding.at(file, None),
            _ => finding,
        });
    }
    None
}
