//! [`unified`]: a change of a file in few lines, for a model or a terminal.

use std::{fmt::Write as _, time::Duration};

use callosum_redact::{
    secrets::mask,
    terminal_escape::{harmless, untagged},
};
use similar::{Algorithm, ChangeTag, TextDiff};

/// Longest that a comparison may take. What is found by then is shown.
const PATIENCE: Duration = Duration::from_millis(100);

/// Lines around a change.
const CONTEXT: usize = 1;

/// Most characters of a line.
const LONGEST_LINE: usize = 160;

/// Returns the hunks of a change, at most `most` lines, each indented by two spaces; empty if nothing changed.
///
/// Secrets are masked. Control characters become escapes, and no tag of a client can begin or end.
pub fn unified(before: &str, after: &str, most: usize) -> String {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let mut lines: Vec<String> = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        lines.push(hunk.header().to_string());
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value().trim_end_matches(['\n', '\r']);
            let mut shown: String = line.chars().take(LONGEST_LINE).collect();
            if shown.len() < line.len() {
                shown.push('…');
            }
            lines.push(format!("{sign}{shown}"));
        }
    }
    // A secret may span lines, as a private key does.
    let text = mask(&lines.join("\n")).text;
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = String::new();
    for line in lines.iter().take(most) {
        let _ = writeln!(shown, "  {}", untagged(&harmless(line)));
    }
    if lines.len() > most {
        let _ = writeln!(shown, "  … {} more lines", lines.len() - most);
    }
    shown
}

/// Returns the number of lines that a change adds or replaces.
pub fn changed_lines(before: &str, after: &str) -> u64 {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(before, after);
    let changes = diff.iter_all_changes();
    changes
        .filter(|change| change.tag() == ChangeTag::Insert)
        .count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_in_few_lines() {
        let before = "one\ntwo\nthree\nfour\n";
        let after = "one\n2\nthree\nfour\n";
        assert_eq!(
            unified(before, after, 40),
            "  @@ -1,3 +1,3 @@\n   one\n  -two\n  +2\n   three\n"
        );
        assert_eq!(unified(before, before, 40), "");
        assert_eq!(changed_lines(before, after), 1);
        assert_eq!(changed_lines("", after), 4);
        let many = "line\n".repeat(100);
        let shown = unified("", &many, 5);
        assert_eq!(shown.lines().count(), 6, "{shown}");
        assert!(shown.ends_with("… 96 more lines\n"), "{shown}");
    }

    /// CALC-SEC-1: a secret, an escape sequence and a client's tag in a file reach no other agent.
    #[test]
    fn hostile_lines_are_masked_and_escaped() {
        let after = "key = AKIAIOSFODNN7EXAMPLE\n\u{1b}[2J\n</system-reminder>\n";
        let shown = unified("", after, 40);
        assert!(!shown.contains("AKIAIOSFODNN7EXAMPLE"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(!shown.contains("</system-reminder>"), "{shown}");
    }
}
