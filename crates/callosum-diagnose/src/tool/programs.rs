//! Programs of a shell: coreutils, grep, sed, awk, tar, curl, wget, ssh, psql, openssl, package managers, and `perror`'s
//! `program: file: reason`.

use super::scan::{between, mentions, mentions_any, number, quoted, reason, starts_any, text};
use crate::{Severity, finding::Finding, line::Line, window::Window};

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

/// Programs that run another one: what they do not find is a command.
const RUNNERS: &[&str] = &[
    "env", "xargs", "nohup", "timeout", "nice", "time", "setsid", "stdbuf", "watch", "strace",
    "gdb", "exec", "ionice", "unshare", "entr", "parallel", "doas", "flock", "su-exec", "gosu",
    "tini", "command", "which", "chrt", "taskset", "runuser", "setarch",
];

/// Without one of these there is no error of a program.
pub(super) const WORDS: &[&str] = &[
    "o such file",
    "denied",
    "annot ",
    "o space left",
    "curl: ",
    "wget: ",
    "ssh: ",
    "failed: ",
    "psql",
    "ERROR",
    "E: ",
    "nvalid",
    "unrecognized",
    "nmatched",
    "nterminated",
    "missing ",
    "Wrote only",
    "bad permissions",
    "verification failed",
    "Could not",
    "not permitted",
    "already in use",
    "refused",
    "not found",
    "Read-only",
    "unknown ",
    "Connection ",
    "SASL",
    "expression #",
    "memory",
];

/// A line that starts an error has one of these.
const STARTS: &[&str] = &[
    "curl: ",
    "... failed: ",
    "wget: ",
    "ssh: ",
    "kex_exchange_identification: ",
    "client_loop: ",
    "ssh_exchange_identification: ",
    " ERROR ",
    "Host key verification failed.",
    "Connection closed by ",
    "Could not connect to Redis",
    "are too open.",
    "Load key \"",
    " not accessible: ",
    "rsync: ",
    "psql:",
    "ERROR: ",
    "ERROR ",
    "E: ",
    "No available formula",
    "No match for argument: ",
    "Could not open file or uri",
    "Can't open ",
    ": command not found",
    "password",
    "a terminal is required",
    "no tty present",
    "sorry, you must",
    "Wrote only ",
    "grep: ",
    "rg: ",
    "find: ",
    "expr: ",
    "sed: ",
    "awk: ",
    "unzip: ",
    "option",
    "missing ",
    "extra operand",
    "invalid ",
    "paths must precede expression",
    "unknown predicate",
    "unexpected argument",
    "You must specify one of",
    "no file operand",
    "not in gzip format",
    "does not look like a tar archive",
    "Unexpected EOF in archive",
    "unexpected end of file",
    "File format not recognized",
    "data integrity error",
    "crc error",
    "No such file",
    "ermission denied",
    "not permitted",
    "Read-only file system",
    "No space left",
    "Disk quota exceeded",
    "Cannot allocate memory",
    "memory exhausted",
    "Address already in use",
    "onnection refused",
    "onnection timed out",
    "onnection reset",
    "unreachable",
    "oute to host",
    "not known",
    "emporary failure in name resolution",
    "File exists",
    "Directory not empty",
    "s a directory",
    "ot a directory",
    "no such host",
    "timeout",
    "ould not resolve host",
    "already in use",
    "already allocated",
    "ENO",
    "ECONN",
    "EACCES",
    "EPERM",
    "ETIMEDOUT",
    "EADDRINUSE",
    "EAI_AGAIN",
    "EHOSTUNREACH",
];

/// Reads errors of programs.
pub(super) fn read(lines: &Window<'_>, found: &mut Vec<Finding>) {
    if !lines.has_any(WORDS) {
        return;
    }
    for at in lines.lines_with(STARTS) {
        let line = text(lines, at).trim_end();
        if line.is_empty() || line.len() > 600 {
            continue;
        }
        let finding = curl(at, line)
            .or_else(|| network(at, line))
            .or_else(|| database(lines, at, line))
            .or_else(|| packages(at, line))
            .or_else(|| openssl(at, line))
            .or_else(|| of_program(lines, at, line));
        found.extend(finding);
    }
}

fn high(at: usize, name: &'static str, message: &str) -> Finding {
    let severity = match name {
        "DiskFull" | "OutOfMemory" => Severity::Critical,
        _ => Severity::High,
    };
    Finding::new(at, at, name, severity, message)
}

/// Reads `curl: (7) text`, also behind a progress meter.
fn curl(at: usize, line: &str) -> Option<Finding> {
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
fn network(at: usize, line: &str) -> Option<Finding> {
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

/// Reads psql, MySQL and their servers' messages.
fn database(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
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

/// Reads apt, dpkg, apk, dnf and Homebrew.
fn packages(at: usize, line: &str) -> Option<Finding> {
    let missing = |name: &str| {
        let mut finding = high(at, "DependencyError", line);
        finding.module = Some(name.trim_matches(['\'', '"', '.']).to_owned());
        Some(finding)
    };
    if let Some(message) = line.strip_prefix("E: ") {
        if let Some(name) = message.strip_prefix("Unable to locate package ") {
            return missing(name);
        }
        if mentions(message, "has no installation candidate")
            || starts_any(
                message,
                &[
                    "Version '",
                    "Unable to correct problems",
                    "Unmet dependencies",
                ],
            )
        {
            return missing(quoted(message).unwrap_or_default());
        }
        if mentions_any(message, &["Permission denied", "are you root?"]) {
            return Some(high(at, "PermissionError", message));
        }
        if message.starts_with("Failed to fetch ") {
            return Some(high(at, "ConnectionError", message));
        }
        if message.starts_with("Could not get lock ") {
            return Some(high(at, "BuildError", message));
        }
        return None;
    }
    if let Some(rest) = line
        .strip_prefix("Error: No available formula with the name ")
        .or(line.strip_prefix("No match for argument: "))
    {
        return missing(rest.split(". ").next().unwrap_or(rest));
    }
    if line == "ERROR: unable to select packages:" {
        return missing("");
    }
    None
}

/// Reads openssl, whose messages have no program.
fn openssl(at: usize, line: &str) -> Option<Finding> {
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
fn of_program(lines: &[Line], at: usize, line: &str) -> Option<Finding> {
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

/// Reads what a program that runs another one says.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::scan::tests::{event, findings, first};

    /// CAKE-WATCH-1: programs name the file, in their many forms.
    #[test]
    fn programs_name_the_file() {
        for text in [
            "cat: a b.txt: No such file or directory",
            "ls: cannot access 'a b.txt': No such file or directory",
            "head: cannot open 'a b.txt' for reading: No such file or directory",
            "tar: a b.txt: Cannot open: No such file or directory",
            "sed: can't read a b.txt: No such file or directory",
            "gawk: fatal: cannot open file `a b.txt' for reading: No such file or directory",
            "mawk: cannot open a b.txt (No such file or directory)",
            "rg: a b.txt: No such file or directory (os error 2)",
        ] {
            assert_eq!(
                first(read, text),
                event("FileNotFoundError", "a b.txt", 0),
                "{text}"
            );
        }
        assert_eq!(
            first(read, "shop: shop.conf: No such file or directory"),
            event("FileNotFoundError", "shop.conf", 0)
        );
        assert_eq!(
            first(read, "open: No such file or directory"),
            event("FileNotFoundError", "", 0)
        );
        assert_eq!(
            first(read, "bind: Address already in use"),
            event("AddressInUse", "", 0)
        );
    }

    /// CAKE-WATCH-1: programs that run others name the command.
    #[test]
    fn runners_name_the_command() {
        for text in [
            "env: 'node9': No such file or directory",
            "/usr/bin/env: \u{2018}node9\u{2019}: No such file or directory",
            "timeout: failed to run command \u{2018}node9\u{2019}: No such file or directory",
            "xargs: node9: No such file or directory",
            "sudo: node9: command not found",
        ] {
            let found = findings(read, text);
            assert_eq!(found[0].error_type, "CommandNotFound", "{text}");
            assert_eq!(found[0].module.as_deref(), Some("node9"), "{text}");
        }
    }

    /// CAKE-WATCH-1: prose with the same words is not an error.
    #[test]
    fn prose_is_not_an_error_of_a_program() {
        for text in [
            "We saw: No such file or directory",
            "- Fix: cat: No such file or directory",
            "`curl: (6) Could not resolve host`",
            "errors: \"Permission denied\"",
            "let error = \"open: No such file or directory\";",
        ] {
            assert_eq!(findings(read, text), [], "{text}");
        }
    }
}
