//! Conflicts of git's merges, and the whitespace that its checks complain about.

use super::scan::{place_before, text};
use crate::{Severity, finding::Finding, line::Line};

/// Reads `CONFLICT (content): Merge conflict in cart.txt`.
pub(super) fn conflict(at: usize, line: &str) -> Option<Finding> {
    // A progress line of a rebase may end where this begins.
    let rest = &line[line.find("CONFLICT (").filter(|at| {
        *at == 0 || line.starts_with("Rebasing ") || line.starts_with("Auto-merging")
    })?..];
    let (kind, message) = rest.strip_prefix("CONFLICT (")?.split_once("): ")?;
    let words = |word: &str| message.split_once(word).map(|(before, _)| before);
    let file = if let Some((_, file)) = message.split_once(" conflict in ") {
        Some(file.split(" (").next().unwrap_or(file))
    } else if let Some((_, rest)) = message.split_once("in the way of ") {
        rest.split(" from ").next()
    } else {
        words(" renamed to ")
            .or_else(|| words(" deleted in "))
            .or_else(|| words(" added in "))
            .or_else(|| message.split_once(": ").map(|(_, file)| file))
    };
    let mut finding = Finding::new(at, at, "MergeConflict", Severity::High, message);
    finding.code = Some(kind.to_owned());
    Some(match file {
        Some(file) => finding.at(file.trim_end_matches('.'), None),
        None => finding,
    })
}

/// Returns status and file of `U\tcart.txt`, the list that a commit prints.
pub(super) fn unmerged(line: &str) -> Option<(&str, &str)> {
    let (status, file) = line.split_once('\t')?;
    (status.len() == 1 && status.chars().all(|letter| letter.is_ascii_uppercase()))
        .then_some((status, file))
}

/// Reads `cart.txt:1: trailing whitespace.` of `git diff --check`.
pub(super) fn whitespace(
    lines: &[Line],
    at: usize,
    line: &str,
    is_patch_warning: bool,
) -> Option<Finding> {
    let is_check = [
        ": trailing whitespace.",
        ": space before tab in indent.",
        ": indent with spaces.",
        ": tab in indent.",
        ": leftover conflict marker",
        ": new blank line at EOF.",
    ]
    .iter()
    .any(|ending| line.ends_with(ending));
    if !is_check {
        return None;
    }
    let (file, row, message) = place_before(line)?;
    let severity = if is_patch_warning {
        Severity::Low
    } else {
        Severity::Medium
    };
    let last = if text(lines, at + 1).starts_with('+') {
        at + 1
    } else {
        at
    };
    Some(Finding::new(at, last, "LintError", severity, message).at(file, row))
}
