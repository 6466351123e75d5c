//! `callosum replay`: the ledger rebuilt from the audit journal and held against the real one.

use std::fmt::Write as _;

use callosum_redact::terminal_escape::on_one_line;
use schemars::JsonSchema;
use serde::Serialize;

use crate::many;

/// `callosum replay --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReplayOutput {
    /// Whether the real files are what the journal makes.
    pub identical: bool,
    /// Records that were replayed.
    pub records: u64,
    /// Entries of the rebuilt ledger.
    pub entries: u64,
    /// Archives that were rebuilt.
    pub archives: u64,
    /// Entries of the rebuilt archives.
    pub archived_entries: u64,
    /// Whether the journal ends in a record that is not finished, which was left out.
    pub truncated_tail: bool,
    /// The first place at which a real file differs.
    pub difference: Option<DifferenceOutput>,
}

/// The first place at which a real file differs from the rebuilt one.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DifferenceOutput {
    /// The real file.
    pub path: String,
    /// The byte, from 0.
    pub offset: u64,
    /// The line, from 1.
    pub line: u64,
    /// That line as it was rebuilt; null where the rebuilt file ends before.
    pub expected: Option<String>,
    /// The line in the file on disk; null if that file ends earlier.
    pub found: Option<String>,
}

/// Returns the result of a replay as text.
pub fn as_text(output: &ReplayOutput) -> String {
    let mut text = format!(
        "{} replayed, {} and {} rebuilt: {}\n",
        many(output.records, "record"),
        many(output.entries + output.archived_entries, "entry"),
        many(output.archives, "archive"),
        if output.identical {
            "identical"
        } else {
            "differs from the files"
        }
    );
    if output.truncated_tail {
        text.push_str("the journal ends in an incomplete record, which was ignored\n");
    }
    if let Some(difference) = &output.difference {
        let from = differs_at(difference);
        let shown = |line: &Option<String>| match line {
            Some(line) => cut(line, from),
            None => "(the file ends earlier)".to_owned(),
        };
        let _ = writeln!(
            text,
            "{} differs at byte {}, line {}\n  rebuilt: {}\n  on disk: {}",
            difference.path,
            difference.offset,
            difference.line,
            shown(&difference.expected),
            shown(&difference.found),
        );
    }
    text
}

/// The first character at which the two lines differ.
fn differs_at(difference: &DifferenceOutput) -> usize {
    match (&difference.expected, &difference.found) {
        (Some(expected), Some(found)) => {
            let pairs = expected.chars().zip(found.chars());
            pairs.take_while(|(a, b)| a == b).count()
        }
        _ => 0,
    }
}

/// As much of a line as a terminal bears, from a little before the character `at`, with nothing in
/// it that a terminal would obey.
fn cut(line: &str, at: usize) -> String {
    const BEFORE: usize = 40;
    const WIDTH: usize = 160;
    let from = at.saturating_sub(BEFORE);
    let mut shown = String::new();
    if from > 0 {
        shown.push('…');
    }
    let part: String = line.chars().skip(from).take(WIDTH).collect();
    shown.push_str(&on_one_line(&part));
    if line.chars().count() > from + WIDTH {
        shown.push('…');
    }
    shown
}
