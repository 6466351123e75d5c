//! Programs of a shell: the words of their errors, and the order in which their families are tried.
//!
//! The families: `network_clients`, `databases`, `package_managers` and `coreutils`.

use super::{
    coreutils::{of_program, openssl},
    databases::database,
    network_clients::{curl, network},
    package_managers::packages,
    scan::text,
};
use crate::{Severity, finding::Finding, window::Window};

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

pub(super) fn high(at: usize, name: &'static str, message: &str) -> Finding {
    let severity = match name {
        "DiskFull" | "OutOfMemory" => Severity::Critical,
        _ => Severity::High,
    };
    Finding::new(at, at, name, severity, message)
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
