//! Git: `fatal: `, `error: `, conflicts, rejected pushes and whitespace checks.

use super::scan::{between, mentions, mentions_any, place, place_before, quoted, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

/// Most lines of one error with its hints and its list of files.
const BLOCK: usize = 40;

/// Starts of git's messages after `error: `. Other programs print that word too.
const ERRORS: &[&str] = &[
    "Your local changes",
    "your local changes",
    "The following untracked working tree files",
    "The following working tree files",
    "pathspec ",
    "the branch '",
    "The branch '",
    "branch '",
    "Branch ",
    "cannot rebase",
    "cannot pull with rebase",
    "cannot lock ref",
    "cannot open '",
    "cannot stash",
    "cannot run ",
    "cannot spawn ",
    "cannot update ",
    "cannot delete ",
    "cannot overwrite multiple",
    "Cannot delete ",
    "Cannot save the current",
    "Cannot fast-forward",
    "Cannot update",
    "Committing is not possible",
    "Merging is not possible",
    "Pulling is not possible",
    "Cherry-picking is not possible",
    "Reverting is not possible",
    "Rebasing is not possible",
    "you need to resolve your current index",
    "Entry '",
    "src refspec ",
    "dst refspec ",
    "unable to create ",
    "unable to unpack ",
    "unable to read ",
    "unable to write ",
    "unable to unlink ",
    "unable to open ",
    "unable to delete '",
    "unable to find ",
    "unable to update local ref",
    "unable to resolve reference",
    "unable to auto-detect",
    "unable to parse ",
    "unable to rewind rpc",
    "unable to append to",
    "unable to index file",
    "unable to look up",
    "unable to push ",
    "unable to access '",
    "unable to stat",
    "unable to get ",
    "unable to mmap",
    "Unable to create '",
    "Unable to append to",
    "Unable to read current working directory",
    "Unable to write index",
    "Unable to mark file",
    "remote ",
    "No such remote",
    "no such remote",
    "patch failed: ",
    "corrupt patch at",
    "No valid patches in input",
    "patch with only garbage",
    "patch fragment without header",
    "unrecognized input",
    "git diff header",
    "inflate: ",
    "object file ",
    "object directory ",
    "bad signature",
    "bad object",
    "bad index",
    "bad tree",
    "bad config",
    "bad ref",
    "invalid object",
    "invalid ref",
    "invalid path '",
    "invalid key",
    "invalid commit",
    "invalid branch",
    "Invalid path '",
    "Invalid branch",
    "insufficient permission for adding",
    "RPC failed",
    "gpg failed to sign",
    "copy-fd: ",
    "refs/",
    "ref HEAD",
    "tag '",
    "there are still ",
    "could not apply",
    "could not revert",
    "could not lock config file",
    "could not read '",
    "could not write",
    "could not open '",
    "could not switch to",
    "could not commit",
    "could not detach HEAD",
    "could not parse '",
    "could not fetch ",
    "could not delete reference",
    "could not stash",
    "Could not read ",
    "Could not access submodule",
    "failed to push some refs",
    "failed to insert into database",
    "failed to write",
    "failed to read ",
    "failed to open ",
    "failed to run ",
    "failed to copy",
    "failed to delete",
    "failed to execute prompt",
    "failed to merge",
    "failed to sign",
    "Failed to merge",
    "no such commit",
    "no such branch",
    "no merge base",
    "no note found",
    "no path specified",
    "commit ",
    "stash@{",
    "refname ",
    "the following file has",
    "the following files have",
    "short read",
    "short SHA1",
    "sha1 mismatch",
    "hash mismatch",
    "index file ",
    "unknown option `",
    "unknown switch `",
    "key does not contain",
    "There was a problem with the editor",
    "some local refs could not be updated",
    "Ref ",
    "Server does not allow",
    "Exiting because",
    "object ",
    "packfile ",
    "garbage at end",
    "wrong index",
    "cache entry has null",
    "update_ref failed",
    "addinfo_cache failed",
    "option `",
    "switch `",
    "malformed object",
    "not a commit",
    "Not a valid",
    "No such section",
    "submodule ",
    "Submodule ",
    "you must specify",
    "You must specify",
    "the requested upstream branch",
    "the current branch",
    "unmerged ",
    "path '",
    "ambiguous ",
    "unexpected disconnect",
    "early EOF",
    "index-pack ",
    "pack-objects ",
    "the object ",
    "loose object",
    "missing object",
    "Terminal is dumb",
    "lstat(",
    "Dirty index",
    "unknown commit",
    "server certificate",
    "The requested URL",
    "Sorry, ",
    "nothing to ",
    "empty commit set",
];

/// Words of errors about corrupt data.
const CORRUPT: &[&str] = &[
    "corrupt",
    "inflate: data stream",
    "object file",
    "loose object",
    "missing blob",
    "missing tree",
    "missing commit",
    "broken link",
    "bad signature",
    "index file smaller",
    "hash mismatch",
    "is empty",
    "bad object",
    "bad tree object",
    "unable to unpack",
    "sha1 mismatch",
    "invalid sha1 pointer",
];

/// Words of errors of the network.
const NETWORK: &[&str] = &[
    "Failed to connect",
    "Could not resolve",
    "Connection refused",
    "Connection timed out",
    "Connection reset",
    "Operation timed out",
    "The requested URL returned error",
    "Recv failure",
    "SSL",
    "gnutls",
    "GnuTLS",
    "Network is unreachable",
    "Couldn't connect",
    "unable to connect to",
    "RPC failed",
    "early EOF",
    "unexpected disconnect",
    "remote end hung up",
    "name resolution",
    "OpenSSL",
    "server certificate",
    "Empty reply from server",
];

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

/// Reads `CONFLICT (content): Merge conflict in cart.txt`.
fn conflict(at: usize, line: &str) -> Option<Finding> {
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

/// Reads ` ! [rejected]        main -> main (fetch first)`.
fn rejected(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
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
    let said: Vec<&str> = lines[..at]
        .iter()
        .rev()
        .take(12)
        .filter_map(|line| line.text().strip_prefix("remote: "))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let mut message = spec.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(first) = said.last().filter(|_| status == "mote rejected") {
        message = format!("{message}: {first}");
    }
    let mut finding = Finding::new(at, last, name, Severity::High, message);
    finding.code = between(spec, "(", ")").map(str::to_owned);
    finding.module = spec.split_whitespace().next().map(str::to_owned);
    Some(finding)
}

/// Reads `cart.txt:1: trailing whitespace.` of `git diff --check`.
fn whitespace(lines: &[Line], at: usize, line: &str, is_patch_warning: bool) -> Option<Finding> {
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

/// Whether a message after `error: ` starts with a file: `cart.txt: patch does not apply`.
fn is_file_error(message: &str) -> bool {
    message.split_once(": ").is_some_and(|(file, rest)| {
        !file.contains(' ')
            && starts_any(
                rest,
                &[
                    "patch does not apply",
                    "does not exist in index",
                    "already exists in ",
                    "does not match index",
                    "No such file or directory",
                    "object corrupt",
                    "invalid sha1",
                    "not a commit",
                    "wrong type",
                    "needs merge",
                    "has type",
                    "cannot ",
                    "missing ",
                ],
            )
    })
}

/// Returns status and file of `U\tcart.txt`, the list that a commit prints.
fn unmerged(line: &str) -> Option<(&str, &str)> {
    let (status, file) = line.split_once('\t')?;
    (status.len() == 1 && status.chars().all(|letter| letter.is_ascii_uppercase()))
        .then_some((status, file))
}

/// Returns the file that a message is about.
fn file_of(message: &str) -> Option<&str> {
    if let Some(rest) = message.strip_prefix("pathspec ") {
        let file = quoted(rest)?;
        let has_ending = file.rsplit_once('.').is_some_and(|(stem, ending)| {
            !stem.is_empty()
                && ending.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && !ending.contains('/')
        });
        return (!mentions(message, "known to git") || has_ending).then_some(file);
    }
    for start in [
        "unable to unpack header of ",
        "object file ",
        "insufficient permission for adding an object to repository database ",
        "unable to unlink old '",
    ] {
        if let Some(rest) = message.strip_prefix(start) {
            let file = rest.split([' ', '\'']).next()?;
            return file.contains('/').then_some(file);
        }
    }
    if is_file_error(message) {
        let file = message.split(": ").next()?;
        let is_hash = file.len() >= 40 && file.bytes().all(|byte| byte.is_ascii_hexdigit());
        return (!is_hash).then_some(file);
    }
    let is_about_file = mentions_any(
        message,
        &[
            "Unable to create '",
            "unable to create file",
            "failed to copy file to '",
            "cannot open '",
            "could not open '",
            "unable to write file",
            "unable to read",
            "could not lock config file",
            "Entry '",
            "failed to open",
            "unable to open",
            "is beyond a symbolic link",
            "cannot create",
            "Could not open '",
            "cannot stat '",
            "could not create leading directories of '",
            "could not create work tree dir '",
            "already exists and is not an empty directory",
            "can't open patch '",
        ],
    );
    if !is_about_file {
        return None;
    }
    quoted(message).or_else(|| {
        [
            "unable to create file ",
            "could not lock config file ",
            "unable to write file ",
        ]
        .iter()
        .find_map(|start| message.strip_prefix(start)?.split([' ', ':']).next())
    })
}

fn kind(message: &str, all: &str) -> (&'static str, Severity) {
    if mentions(all, "No space left on device") {
        return ("DiskFull", Severity::Critical);
    }
    if mentions_any(
        message,
        &["Out of memory", "out of memory", "annot allocate memory"],
    ) {
        return ("OutOfMemory", Severity::Critical);
    }
    if mentions_any(message, NETWORK) || message.starts_with("unable to access '") {
        return ("ConnectionError", Severity::High);
    }
    if mentions_any(message, &["Permission denied", "insufficient permission"]) {
        return ("PermissionError", Severity::High);
    }
    if starts_any(message, &["Your local changes", "could not apply"]) {
        return ("GitError", Severity::High);
    }
    if mentions_any(message, CORRUPT) && !mentions(message, "corrupt patch") {
        return ("GitError", Severity::Critical);
    }
    ("GitError", Severity::High)
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
