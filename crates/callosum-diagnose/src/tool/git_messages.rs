//! The messages that git prints after `error: ` and `fatal: `: how they start, their type and their file.

use super::scan::{mentions, mentions_any, quoted, starts_any};
use crate::Severity;

/// Starts of git's messages after `error: `. Other programs print that word too.
pub(super) const ERRORS: &[&str] = &[
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

/// Whether a message after `error: ` starts with a file: `cart.txt: patch does not apply`.
pub(super) fn is_file_error(message: &str) -> bool {
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

/// Returns the file that a message is about.
pub(super) fn file_of(message: &str) -> Option<&str> {
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

pub(super) fn kind(message: &str, all: &str) -> (&'static str, Severity) {
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
