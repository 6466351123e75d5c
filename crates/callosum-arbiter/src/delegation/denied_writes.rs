//! [`Denials`]: an executor's reports of denied writes to the ledger (REQ-GOV-005).
//!
//! The operating system denies the write and reports it only to the executor. So its standard
//! error, and the results of its tools, are the only source: a claim, which the hashes in the same
//! record bear out or not. Deliberately not here: the standard error of failed tries, which is
//! always kept.

use callosum_redact::{secrets, terminal_escape::harmless};

/// Prefixes of the names of the ledger's files, and of those that steer it.
const OF_THE_LEDGER: [&str; 10] = [
    ".cal_memory",
    ".cal_hashlog",
    ".cal_lock",
    ".cal_backup",
    ".cal_answers",
    ".cal_quarantine",
    ".calrc",
    "cal_audit",
    "registry.json",
    "cake_config.yaml",
];

/// Phrases with which programs report that the operating system denied access.
const DENIED: [&str; 6] = [
    "read-only file system",
    "permission denied",
    "operation not permitted",
    "EROFS",
    "EACCES",
    "EPERM",
];

/// Most lines that are kept.
const MOST_LINES: usize = 8;

/// Longest part of a line that is kept, in bytes.
const LONGEST_LINE: usize = 500;

/// The lines of an executor that tell of a denied write to the ledger.
#[derive(Debug, Default)]
pub(super) struct Denials {
    /// On standard error.
    of_stderr: Vec<String>,
    /// Of what its tools gave back.
    of_tools: Vec<String>,
}

impl Denials {
    /// Hears a line, already masked; keeps it where it tells of a denial.
    pub(super) fn hear(&mut self, line: &str) {
        if tells_of_a_denial(line) {
            keep(&mut self.of_stderr, line);
        }
    }

    /// Hears what a tool gave back, as it came; keeps the lines that tell of a denial, masked.
    pub(super) fn hear_tool(&mut self, result: &str) {
        for line in result.lines().filter(|line| tells_of_a_denial(line)) {
            let masked = secrets::mask(line.trim()).text;
            keep(&mut self.of_tools, &harmless(&masked));
        }
    }

    /// Returns all its words; `None` if it reported no denial.
    pub(super) fn words(&self) -> Option<String> {
        joined(self.of_stderr.iter().chain(&self.of_tools))
    }

    /// Returns the words of its tools; `None` if none reported a denial.
    pub(super) fn of_tools(&self) -> Option<String> {
        joined(self.of_tools.iter())
    }
}

/// Keeps the beginning of a line, once.
fn keep(lines: &mut Vec<String>, line: &str) {
    let line = &line[..line.floor_char_boundary(LONGEST_LINE)];
    if lines.len() < MOST_LINES && lines.iter().all(|known| known != line) {
        lines.push(line.to_owned());
    }
}

fn joined<'l>(lines: impl Iterator<Item = &'l String>) -> Option<String> {
    let lines: Vec<&str> = lines.map(String::as_str).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn tells_of_a_denial(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_denied = |word: &&str| line.contains(*word) || lower.contains(*word);
    let around = |c: char| c.is_whitespace() || "/'\"`:;,()[]".contains(c);
    let is_of_the_ledger = |part: &str| OF_THE_LEDGER.iter().any(|name| part.starts_with(name));
    line.split(around).any(is_of_the_ledger) && DENIED.iter().any(is_denied)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// REQ-GOV-005: a program's complaint about a file of the ledger is one about access.
    #[test]
    fn only_a_denied_write_to_the_ledger_is_one() {
        let mut denials = Denials::default();
        for line in [
            "bash: line 1: src/main.rs: Read-only file system",
            "reading .cal_memory.json",
            "Permission denied: '/srv/.calendar.db'",
            "at Function.call (x.js:1): eacces, Error: EACCES: open '/p/other.json'",
        ] {
            denials.hear(line);
        }
        assert_eq!(denials.words(), None);
        let line = "bash: line 1: .cal_memory.json: Read-only file system";
        denials.hear(line);
        denials.hear("Error: EACCES: open '/p/registry.json'");
        let words = denials.words().unwrap();
        assert_eq!(
            words,
            format!("{line}\nError: EACCES: open '/p/registry.json'")
        );
    }

    /// REQ-GOV-005: what a tool gave back is kept line by line, once, and without what a terminal would obey.
    #[test]
    fn what_a_tool_gave_back_tells_of_a_denial() {
        let mut denials = Denials::default();
        let result = "total 1\n  zsh:1: read-only file system: /p/.cal_memory.json\u{7}\nsrc/a.rs: Permission denied";
        denials.hear_tool(result);
        denials.hear_tool(result);
        let line_of_tool = "zsh:1: read-only file system: /p/.cal_memory.json\\u{7}";
        assert_eq!(denials.of_tools().as_deref(), Some(line_of_tool));
        assert_eq!(denials.words().as_deref(), Some(line_of_tool));
        let mut of_stderr = Denials::default();
        of_stderr.hear("sh: cal_audit/x: Permission denied");
        assert_eq!(of_stderr.of_tools(), None);
    }

    #[test]
    fn its_words_are_bounded() {
        let mut denials = Denials::default();
        for number in 0..100 {
            denials.hear(&format!(
                "cal_audit: permission denied {number} {}",
                "ü".repeat(1000)
            ));
        }
        let words = denials.words().unwrap();
        assert_eq!(words.lines().count(), MOST_LINES);
        assert!(words.len() <= MOST_LINES * (LONGEST_LINE + 1));
    }
}
