//! Pushes and fetches that the other side of a git remote rejects.

use super::{
    git::BLOCK,
    scan::{between, mentions, starts_any, text},
};
use crate::{Severity, finding::Finding, line::Line};

/// Reads ` ! [rejected]        main -> main (fetch first)`.
pub(super) fn rejected(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let rest = line.trim_start().strip_prefix("! [re")?;
    let (status, spec) = rest.split_once(']')?;
    if !matches!(status, "jected" | "mote rejected" | "mote failure") {
        return None;
    }
    let is_fetch = mentions(spec, "would clobber existing tag")
        || mentions(spec, "unable to update local ref")
        || lines[..at]
            .iter()
            .rev()
            .take(20)
            .any(|line| line.text().starts_with("From "))
            && !lines[at..]
                .iter()
                .take(20)
                .any(|line| mentions(line.text(), "failed to push"));
    let name = if is_fetch {
        "GitError"
    } else {
        "GitPushRejected"
    };
    let mut last = at;
    while last + 1 < lines.len() && last - at < BLOCK {
        let next = text(lines, last + 1);
        if !(starts_any(
            next,
            &[
                "error: failed to push",
                "hint: ",
                "hint:",
                "error: some local refs",
            ],
        )) {
            break;
        }
        last += 1;
    }
    // A server explains its refusal in lines that start with `remote: `.
    let reasons: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .take(12)
        .filter_map(|line| line.text().strip_prefix("remote: "))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let mut message = spec.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(first) = reasons.last().filter(|_| status == "mote rejected") {
        message = format!("{message}: {first}");
    }
    let mut finding = Finding::new(at, last, name, Severity::High, message);
    finding.code = between(spec, "(", ")").map(str::to_owned);
    finding.module = spec.split_whitespace().next().map(str::to_owned);
    Some(finding)
}
