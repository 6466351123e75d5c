//! [`Denials`]: what an executor said of a write to the ledger that was denied it (REQ-GOV-005).
//!
//! The operating system denies the write and tells only the executor, so what that says on standard error is all
//! that there is: a claim, which the hashes beside it bear out or not. Deliberately not here: tries that failed, whose words are kept whatever they say.

/// How the names begin of what the ledger consists of, and of what steers it.
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

/// How programs say that the operating system did not let them.
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

/// The lines of an executor's standard error that tell of a denied write to the ledger.
#[derive(Debug, Default)]
pub(super) struct Denials {
    lines: Vec<String>,
}

impl Denials {
    /// Hears a line, already masked; keeps it where it tells of a denial.
    pub(super) fn hear(&mut self, line: &str) {
        if self.lines.len() < MOST_LINES && tells_of_a_denial(line) {
            let end = line.floor_char_boundary(LONGEST_LINE);
            self.lines.push(line[..end].to_owned());
        }
    }

    /// Its words; `None` where it told of no denial.
    pub(super) fn words(&self) -> Option<String> {
        (!self.lines.is_empty()).then(|| self.lines.join("\n"))
    }
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
        let said = "bash: line 1: .cal_memory.json: Read-only file system";
        denials.hear(said);
        denials.hear("Error: EACCES: open '/p/registry.json'");
        let words = denials.words().unwrap();
        assert_eq!(
            words,
            format!("{said}\nError: EACCES: open '/p/registry.json'")
        );
    }

    #[test]
    fn its_words_are_bounded() {
        let mut denials = Denials::default();
        for _ in 0..100 {
            denials.hear(&format!(
                "cal_audit: permission denied {}",
                "ü".repeat(1000)
            ));
        }
        let words = denials.words().unwrap();
        assert_eq!(words.lines().count(), MOST_LINES);
        assert!(words.len() <= MOST_LINES * (LONGEST_LINE + 1));
    }
}
