//! psql and MySQL, and the messages of their servers.

use super::{
    programs::high,
    scan::{mentions_any, number, quoted, reason, starts_any, text},
};
use crate::{finding::Finding, line::Line};

/// Reads psql, MySQL and their servers' messages.
pub(super) fn database(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    if let Some(message) = line
        .strip_prefix("psql: error: ")
        .or(line.strip_prefix("psql: "))
    {
        if starts_any(
            message,
            &[
                "connection to server",
                "could not connect",
                "could not translate host",
                "FATAL:",
                "server closed",
            ],
        ) {
            return Some(high(at, "ConnectionError", message));
        }
        let name = reason(message)?;
        let file = message.split(": ").next()?;
        return Some(high(at, name, message).at(file, None));
    }
    let (place, rest) = match line.strip_prefix("psql:") {
        Some(rest) => {
            let (file, row, rest) = super::scan::place_before(rest)?;
            (Some((file, row)), rest)
        }
        None => (None, line),
    };
    if let Some(message) = rest.strip_prefix("ERROR:  ") {
        // Messages of PostgreSQL have two spaces behind the level.
        let mut finding = high(at, "SyntaxError", message);
        finding.module = quoted(message).map(str::to_owned);
        if let Some((file, row)) = place {
            return Some(finding.at(file, row));
        }
        let row = text(lines, at + 1)
            .strip_prefix("LINE ")
            .and_then(number)
            .map(|(row, _)| row);
        finding.line = row;
        let is_known = row.is_some()
            || mentions_any(
                message,
                &[
                    "syntax error",
                    "does not exist",
                    "already exists",
                    "violates",
                    "permission denied",
                    "duplicate key",
                ],
            );
        return is_known.then_some(finding);
    }
    let rest = line.strip_prefix("ERROR ")?;
    let (code, rest) = number(rest)?;
    let rest = rest.strip_prefix(" (")?;
    let (_, rest) = rest.split_once(')')?;
    let (spot, message) = rest.split_once(": ")?;
    let name = match code {
        2000..=2099 => "ConnectionError",
        1044 | 1045 | 1142 | 1698 => "PermissionError",
        _ => "SyntaxError",
    };
    let mut finding = high(at, name, message);
    finding.line = spot
        .strip_prefix(" at line ")
        .and_then(|row| row.parse().ok());
    finding.code = Some(code.to_string());
    Some(finding)
}
