//! Git: `fatal: `, `error: ` and the sentences that it prints without a mark.
//!
//! Conflicts are in `git_merges`, rejected pushes in `git_remotes`, and the messages that git knows in `git_messages`.

use super::{
    git_merges::{conflict, unmerged, whitespace},
    git_messages::{ERRORS, file_of, is_file_error, kind},
    git_remotes::rejected,
    scan::{between, mentions, mentions_any, place, quoted, starts_any, text},
};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of one error with its hints and its list of files.
pub(super) const BLOCK: usize = 40;

/// Without one of these there is no error.
pub(super) const WORDS: &[&str] = &[
    "fatal: ",
    "error: ",
    "CONFLICT (",
    "! [re",
    "whitespace.",
    "conflict marker",
    "not a git command",
    "tracking information",
    "not currently on a branch",
    "detection failed",
    "identity unknown",
    "spaces.",
    "indent.",
    "ERROR: ",
    "stash entries",
    "at EOF.",
    "Aborting commit",
];

/// A line that starts an error has one of these.
const STARTS: &[&str] = &[
    "fatal: ",
    "error: ",
    "CONFLICT (",
    "! [re",
    "trailing whitespace.",
    "in indent.",
    "with spaces.",
    "leftover conflict marker",
    "blank line at EOF.",
    "git: '",
    "There is no tracking information",
    "You are not currently on a branch.",
    "Patch format detection failed.",
    "No stash entries found.",
    "Aborting commit due to ",
    "ERROR: Repository not found",
    "identity unknown",
    "*** Please tell me who you are.",
];

/// Reads git's errors.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !lines.has_any(WORDS) {
        return;
    }
    let is_patch_warning = lines.has("whitespace errors.") && lines.has("warning: ");
    let mut next = 0;
    for at in lines.lines_with(STARTS) {
        if at < next {
            continue;
        }
        let line = text(lines, at).trim_end();
        let finding = conflict(at, line)
            .or_else(|| rejected(lines, at, line))
            .or_else(|| whitespace(lines, at, line, is_patch_warning))
            .or_else(|| sentence(lines, at, line))
            .or_else(|| marked(lines, at, line));
        if let Some(finding) = finding {
            next = finding.last + 1;
            found.push(finding);
        }
    }
}

/// Reads errors without a mark.
fn sentence(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let git = |last| Finding::new(at, last, "GitError", Severity::High, line);
    if let Some(rest) = line.strip_prefix("git: '") {
        let (name, rest) = rest.split_once('\'')?;
        let mut finding = Finding::new(at, at, "CommandNotFound", Severity::High, line);
        finding.module = Some(name.to_owned());
        return mentions(rest, "is not a git command").then_some(finding);
    }
    let is_pull = starts_any(
        line,
        &[
            "There is no tracking information for the current branch",
            "You are not currently on a branch.",
        ],
    );
    if is_pull {
        let last = (at + 1..lines.len().min(at + 5))
            .find(|at| text(lines, *at).starts_with("Please specify"));
        return last.map(git);
    }
    if line == "Patch format detection failed."
        || line == "No stash entries found."
        || line.starts_with("Aborting commit due to ")
        || line.starts_with("ERROR: Repository not found")
    {
        return Some(git(at));
    }
    if matches!(
        line,
        "Author identity unknown"
            | "Committer identity unknown"
            | "*** Please tell me who you are."
    ) {
        let last = (at + 1..lines.len().min(at + 20))
            .find(|at| text(lines, *at).starts_with("fatal: "))
            .unwrap_or(at);
        return Some(git(last));
    }
    None
}

/// Reads `fatal: ` and `error: `, with the lines that belong to it.
fn marked(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let (is_fatal, message) = match line.strip_prefix("fatal: ") {
        Some(message) => (true, message.trim()),
        None => (false, line.strip_prefix("error: ")?.trim()),
    };
    let is_git = is_fatal || starts_any(message, ERRORS) || is_file_error(message);
    if !is_git || message.ends_with([';', '{']) {
        return None;
    }
    let mut last = at;
    let mut file = file_of(message);
    let mut is_list = message.ends_with(':');
    let mut detail = String::new();
    let mut all = message.to_owned();
    let mut next = at + 1;
    while next < lines.len() && next - at < BLOCK {
        let line = text(lines, next);
        let body = line.trim_end();
        if let Some(name) = line.strip_prefix('\t').filter(|_| is_list) {
            if file.is_none() {
                file = Some(name.trim_end());
            }
        } else if let Some(rest) = body
            .strip_prefix("fatal: ")
            .or(body.strip_prefix("error: "))
        {
            if !(body.starts_with("fatal: ") || starts_any(rest, ERRORS) || is_file_error(rest)) {
                break;
            }
            file = file.or_else(|| file_of(rest));
            all.push(' ');
            all.push_str(rest);
        } else if let Some((_, name)) = unmerged(body) {
            if file.is_none() {
                file = Some(name);
            }
        } else if body.starts_with("hint:")
            || body.is_empty()
                && starts_any(
                    text(lines, next + 1),
                    &["hint:", "Another git process", "Please make sure"],
                )
        {
            is_list = false;
        } else if starts_any(
            body,
            &[
                "Please ",
                "Aborting",
                "and the repository exists",
                "Another git process",
                "an editor opened",
                "are terminated",
                "may have crashed",
                "remove the file",
                "Stopping at filesystem",
                "Use '--'",
                "'git <command>",
                "Failed to clone",
            ],
        ) {
            if detail.is_empty() && body.starts_with("Please ") {
                body.clone_into(&mut detail);
            }
            is_list = false;
        } else {
            break;
        }
        last = next;
        next += 1;
    }
    if let Some((name, _)) = at
        .checked_sub(1)
        .and_then(|at| text(lines, at).trim_end().split_once(": needs merge"))
    {
        file = file.or(Some(name));
    }
    let (name, severity) = kind(message, &all);
    let shown = match (message.ends_with(':'), file) {
        (true, Some(file)) => format!("{message} {file}"),
        _ => message.to_owned(),
    };
    let mut finding = Finding::new(at, last, name, severity, shown);
    finding.is_consequence = starts_any(
        message,
        &[
            "could not apply",
            "could not revert",
            "failed to push some refs",
            "Could not read from remote repository",
            "Exiting because",
            "the remote end hung up",
            "clone of '",
            "Could not apply",
            "early EOF",
            "index-pack failed",
            "fetch-pack: invalid index-pack",
        ],
    );
    if mentions_any(
        message,
        &[
            "did not match any file",
            "unknown revision",
            "does not appear to be a git",
            "does not exist",
            "refspec ",
            "not found",
            "invalid reference",
            "unknown option",
            "unknown switch",
        ],
    ) {
        finding.module = quoted(message)
            .or_else(|| between(message, "src refspec ", " does not"))
            .map(str::to_owned);
    }
    let spot = message
        .strip_prefix("patch failed: ")
        .and_then(place)
        .or_else(|| {
            message
                .starts_with("corrupt patch at ")
                .then(|| place(message.strip_prefix("corrupt patch at ")?))
                .flatten()
        });
    Some(match (spot, file) {
        (Some((file, line)), _) => finding.at(file, line),
        (None, Some(file)) => finding.at(file, None),
        (None, None) => finding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: each kind of conflict names its file.
    #[test]
    fn conflicts_name_their_file() {
        for text in [
            "CONFLICT (content): Merge conflict in a.txt",
            "CONFLICT (add/add): Merge conflict in a.txt",
            "CONFLICT (modify/delete): a.txt deleted in blue and modified in HEAD.  Version HEAD of a.txt left in tree.",
            "CONFLICT (rename/delete): a.txt renamed to b.txt in HEAD, but deleted in blue.",
            "CONFLICT (file/directory): directory in the way of a.txt from HEAD; moving it to a.txt~HEAD instead.",
        ] {
            assert_eq!(
                first(read, text),
                event("MergeConflict", "a.txt", 0),
                "{text}"
            );
        }
    }

    /// CAKE-WATCH-1: errors of git differ from those of other programs, and the lines below belong to the same error.
    #[test]
    fn errors_of_git_are_one_event() {
        let text = "error: The following untracked working tree files would be overwritten by merge:\n\ta.txt\n\tb.txt\nPlease move or remove them before you merge.\nAborting\n";
        assert_eq!(first(read, text), event("GitError", "a.txt", 0));
        assert_eq!(findings(read, text).len(), 1);
        for other in [
            "error: payment declined",
            "error: aborting due to 1 previous error",
            "error[E0308]: x",
        ] {
            assert_eq!(findings(read, other), [], "{other}");
        }
        assert_eq!(
            first(
                read,
                "fatal: unable to access 'https://x/': The requested URL returned error: 403"
            )
            .0,
            "ConnectionError"
        );
        assert_eq!(
            findings(read, "error: src refspec main does not match any")[0]
                .module
                .as_deref(),
            Some("main")
        );
    }
}
