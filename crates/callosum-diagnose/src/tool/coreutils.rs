//! coreutils, grep, sed, awk, tar, openssl, programs that run others, and `perror`'s `program: file: reason`.

use super::{
    programs::high,
    scan::{mentions, mentions_any, number, quoted, reason, starts_any},
};
use crate::{finding::Finding, line::Line};

/// Programs whose own messages are read in all forms.
const PROGRAMS: &[&str] = &[
    "ls",
    "cat",
    "cp",
    "mv",
    "rm",
    "mkdir",
    "rmdir",
    "touch",
    "chmod",
    "chown",
    "chgrp",
    "ln",
    "head",
    "tail",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "tee",
    "dd",
    "df",
    "du",
    "stat",
    "find",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "sed",
    "awk",
    "gawk",
    "mawk",
    "tar",
    "gzip",
    "gunzip",
    "zip",
    "unzip",
    "bzip2",
    "xz",
    "zstd",
    "diff",
    "cmp",
    "patch",
    "readlink",
    "realpath",
    "install",
    "mktemp",
    "truncate",
    "split",
    "join",
    "paste",
    "comm",
    "test",
    "file",
    "strip",
    "objdump",
    "nm",
    "ar",
    "ranlib",
    "ldd",
    "scp",
    "sftp",
    "rsync",
    "wget",
    "ssh-keygen",
    "ssh-add",
    "ssh-copy-id",
    "sudo",
    "su",
    "kill",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "base64",
    "od",
    "hexdump",
    "xxd",
    "strings",
    "cpio",
    "mount",
    "umount",
    "nano",
    "less",
    "tree",
    "fd",
    "bat",
    "cd",
    "pushd",
    "date",
    "seq",
    "printf",
    "echo",
    "tsort",
    "nl",
    "tac",
    "rev",
    "expr",
    "factor",
    "shuf",
    "column",
    "getopt",
    "ps",
    "pkill",
    "mkfifo",
    "mknod",
    "sync",
    "chroot",
    "id",
    "groups",
    "basename",
    "dirname",
    "pwd",
    "yes",
    "sleep",
    "git-lfs",
    "zcat",
    "7z",
    "nc",
    "ping",
    "dig",
    "host",
    "telnet",
    "ftp",
    "lsof",
    "ss",
    "ip",
    "systemctl",
    "crontab",
    "at",
    "screen",
    "tmux",
    "vim",
    "vi",
];

/// Programs that run another one. If they do not find it, a command is missing.
const RUNNERS: &[&str] = &[
    "env", "xargs", "nohup", "timeout", "nice", "time", "setsid", "stdbuf", "watch", "strace",
    "gdb", "exec", "ionice", "unshare", "entr", "parallel", "doas", "flock", "su-exec", "gosu",
    "tini", "command", "which", "chrt", "taskset", "runuser", "setarch",
];

/// Reads openssl, whose messages have no program.
pub(super) fn openssl(at: usize, line: &str) -> Option<Finding> {
    if let Some(rest) = line.strip_prefix("Could not open file or uri for loading ") {
        let (_, file) = rest.rsplit_once(" from ")?;
        return Some(high(at, "FileNotFoundError", line).at(file, None));
    }
    if let Some(rest) = line.strip_prefix("Can't open ") {
        let (file, rest) = rest.split_once(" for ")?;
        let name = reason(rest)?;
        return Some(high(at, name, line).at(file.trim_matches('"'), None));
    }
    None
}

/// Reads `program: text`.
pub(super) fn of_program(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
    let (program, body) = line.split_once(": ")?;
    let base = program.rsplit('/').next()?;
    if program.contains([' ', '(', '"', '`', '\'', '=', '<', '[', '#', '*', '|', '$'])
        || base.is_empty()
        || program.len() > 80
    {
        return None;
    }
    let body = body.trim();
    if (RUNNERS.contains(&base) || base == "sudo")
        && let Some(finding) = runner(at, base, body)
    {
        return Some(finding);
    }
    let is_known = PROGRAMS.contains(&base) || RUNNERS.contains(&base);
    if is_known && let Some(finding) = special(at, base, body) {
        return Some(finding);
    }
    system(lines, at, program, body, is_known)
}

/// Reads the errors of a program that runs another one.
fn runner(at: usize, base: &str, body: &str) -> Option<Finding> {
    let missing = |name: &str| {
        let mut finding = high(at, "CommandNotFound", body);
        finding.module = Some(name.trim_matches(['\'', '‘', '’', '"', '`']).to_owned());
        Some(finding)
    };
    if let Some(name) = body.strip_suffix(": command not found") {
        return missing(name);
    }
    if base == "sudo" {
        let is_denied = starts_any(
            body,
            &[
                "a password is required",
                "a terminal is required",
                "no tty present",
                "sorry, you must",
            ],
        ) || mentions(body, "incorrect password");
        return is_denied.then(|| high(at, "PermissionError", body));
    }
    let before = body.strip_suffix(": No such file or directory")?;
    let name = before
        .strip_prefix("failed to run command ")
        .or(before.strip_prefix("cannot run "))
        .or(before.strip_prefix("can't execute "))
        .or(before.strip_prefix("failed to execute "))
        .unwrap_or(before);
    if starts_any(name, &["cannot ", "Cannot ", "failed "]) {
        return None;
    }
    missing(name.rsplit(": ").next()?)
}

/// Reads messages that are no reason of the system: patterns, options, damaged archives.
fn special(at: usize, base: &str, body: &str) -> Option<Finding> {
    if mentions(body, "Wrote only ") && mentions(body, " bytes") {
        return Some(high(at, "DiskFull", body).at(body.split(": ").next()?, None));
    }
    if matches!(base, "grep" | "egrep" | "fgrep" | "rg" | "find" | "expr") {
        let is_pattern = starts_any(
            body,
            &[
                "Unmatched ",
                "Invalid ",
                "Trailing backslash",
                "regex parse error",
                "unmatched ",
                "the -P option",
                "Regular expression too big",
                "unclosed ",
                "missing terminating",
                "quantifier does not follow",
                "stray ",
                "brackets ([ ])",
            ],
        ) && !body.starts_with("Invalid argument");
        if is_pattern {
            return Some(high(at, "SyntaxError", body));
        }
    }
    if base == "sed" {
        if mentions(body, "-e expression #") {
            return Some(high(at, "SyntaxError", body));
        }
        if let Some(rest) = body.strip_prefix("file ") {
            let (file, rest) = rest.split_once(" line ")?;
            return Some(high(at, "SyntaxError", body).at(file, number(rest)?.0));
        }
    }
    if matches!(base, "awk" | "gawk" | "mawk") {
        if let Some(rest) = body.strip_prefix("line ") {
            let (row, _) = number(rest)?;
            let mut finding = high(at, "SyntaxError", body);
            finding.line = Some(row);
            return Some(finding);
        }
        if let Some(rest) = body.strip_prefix("cmd. line:") {
            let (row, rest) = number(rest)?;
            let is_caret = rest.trim_start_matches(':').trim_start().starts_with('^');
            let mut finding = high(at, "SyntaxError", body);
            finding.line = Some(row);
            return (is_caret || mentions(rest, "fatal")).then_some(finding);
        }
        if let Some((file, row, rest)) = super::scan::place_before(body)
            && (rest.trim_start().starts_with('^') || mentions(rest, "syntax error"))
        {
            return Some(
                high(at, "SyntaxError", rest.trim_start_matches(['^', ' '])).at(file, row),
            );
        }
    }
    if base == "unzip" && mentions(body, "cannot find or open ") {
        let file = body
            .split("cannot find or open ")
            .nth(1)?
            .split(", ")
            .next()?;
        return Some(high(at, "FileNotFoundError", body).at(file, None));
    }
    let is_option = starts_any(
        body,
        &[
            "unrecognized option",
            "invalid option",
            "unknown option",
            "illegal option",
            "missing operand",
            "missing file operand",
            "missing destination file",
            "extra operand",
            "option requires an argument",
            "invalid number of",
            "paths must precede expression",
            "unknown predicate",
            "missing argument to",
            "missing URL",
            "unexpected argument",
            "You must specify one of",
            "invalid mode:",
            "invalid user:",
            "invalid group:",
            "invalid argument",
            "invalid date",
            "no file operand",
        ],
    );
    if is_option {
        return Some(high(at, "BuildError", body));
    }
    let is_damaged = mentions_any(
        body,
        &[
            "not in gzip format",
            "This does not look like a tar archive",
            "Unexpected EOF in archive",
            "unexpected end of file",
            "File format not recognized",
            "data integrity error",
            "crc error",
            "invalid compressed data",
        ],
    );
    if is_damaged {
        let finding = high(at, "BuildError", body);
        return Some(match body.split_once(": ") {
            Some((file, _)) if !file.contains(' ') && file != "stdin" => finding.at(file, None),
            _ => finding,
        });
    }
    None
}

/// Endings of a message that the system gives as a reason.
const REASONS: &[(&str, &str)] = &[
    ("No such file or directory", "FileNotFoundError"),
    ("No such file", "FileNotFoundError"),
    ("Permission denied", "PermissionError"),
    ("Operation not permitted", "PermissionError"),
    ("Read-only file system", "PermissionError"),
    ("No space left on device", "DiskFull"),
    ("Disk quota exceeded", "DiskFull"),
    ("Cannot allocate memory", "OutOfMemory"),
    ("memory exhausted", "OutOfMemory"),
    ("Address already in use", "AddressInUse"),
    ("Connection refused", "ConnectionError"),
    ("Connection timed out", "ConnectionError"),
    ("Connection reset by peer", "ConnectionError"),
    ("Network is unreachable", "ConnectionError"),
    ("No route to host", "ConnectionError"),
    ("Name or service not known", "ConnectionError"),
    ("Temporary failure in name resolution", "ConnectionError"),
    ("File exists", "BuildError"),
    ("Directory not empty", "BuildError"),
    ("Is a directory", "BuildError"),
    ("Not a directory", "FileNotFoundError"),
    ("Not a directory", "FileNotFoundError"),
];

/// Reads `program: file: reason`, the form of `perror`.
fn system(lines: &[Line], at: usize, program: &str, body: &str, is_known: bool) -> Option<Finding> {
    let bare = body
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
        .map_or(body, |(before, inside)| {
            // `rg: x: No such file or directory (os error 2)`, `awk: cannot open x (No such file or directory)`
            if inside.starts_with("os error ")
                || number(inside).is_some_and(|(_, rest)| rest.is_empty())
            {
                before
            } else {
                body
            }
        });
    let inner = bare.trim_end_matches(')').trim_end_matches('.');
    let (ending, name) = REASONS.iter().find(|(ending, _)| inner.ends_with(ending))?;
    let before = inner[..inner.len() - ending.len()]
        .trim_end_matches(['(', ' '])
        .trim_end_matches(':')
        .trim();
    if *name == "BuildError" && !is_known {
        return None;
    }
    if !is_known {
        // Of a program that is not known, only the exact form counts.
        let segments = before.split(": ").count();
        let is_exact = bare.ends_with(ending)
            && segments <= 2
            && before.len() <= 200
            && !before.contains(['`', '"', '{', '=']);
        let is_name = program.starts_with(|letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '.' | '/' | '_')
        }) && !program.contains(':');
        let has_words = before
            .rsplit(": ")
            .next()
            .is_some_and(|last| last.split(' ').count() > 6);
        if !is_exact || !is_name || has_words {
            return None;
        }
    }
    let _ = lines;
    let finding = high(at, name, body);
    let last = before.rsplit(": ").next().unwrap_or(before);
    let file = quoted(before)
        .or_else(|| {
            let word = last
                .strip_prefix("can't read ")
                .or(last.strip_prefix("cannot open "))
                .or(last.strip_prefix("cannot access "))
                .or(last.strip_prefix("cannot create "))
                .or(last.strip_prefix("cannot stat "))
                .or(last.strip_prefix("can't open "))
                .or(last.strip_prefix("fopen "))
                .or(last.strip_prefix("Unable to open "))
                .unwrap_or(last);
            // `tar: x: Cannot open: No such file or directory`
            if matches!(
                word,
                "Cannot open"
                    | "Cannot stat"
                    | "Cannot mkdir"
                    | "Cannot unlink"
                    | "Cannot read"
                    | "Cannot write"
                    | "Cannot chdir"
                    | "write error"
                    | "read error"
                    | "open"
                    | "fopen"
            ) || word.starts_with("IO error")
            {
                before.split(": ").next().filter(|first| *first != word)
            } else {
                Some(word)
            }
        })
        .map(|file| file.trim_start_matches("open ").trim_start_matches("stat "))
        .filter(|file| {
            !file.is_empty()
                && (is_known || file.contains(['/', '.']))
                && (!file.contains(' ') || quoted(before).is_some() || is_known)
        });
    let is_network = matches!(*name, "ConnectionError" | "AddressInUse" | "OutOfMemory");
    Some(match file {
        Some(file) if !is_network => finding.at(file, None),
        _ => finding,
    })
}
