//! `callosum ledger export`: entries as lines of JSON or as a table for a spreadsheet.

use callosum_ledger::Entry;
use serde_json::Value;

/// Columns of the exported table.
pub const COLUMNS: [&str; 13] = [
    "task_id",
    "timestamp",
    "executor",
    "kind",
    "mode",
    "priority",
    "repo",
    "branch",
    "tokens_used",
    "linked_tasks",
    "prompt",
    "summary",
    "checksum",
];

/// So many bytes are printed at once.
pub const AT_ONCE: usize = 64 * 1024;

/// Returns the columns of an entry.
pub fn fields(entry: &Entry) -> [String; COLUMNS.len()] {
    let known = |key: &str| match entry.metadata.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let links: Vec<&str> = entry.linked_tasks.iter().map(AsRef::as_ref).collect();
    [
        entry.task_id.to_string(),
        entry.timestamp.to_string(),
        entry.executor.clone(),
        known("kind"),
        known("mode"),
        known("priority"),
        known("repo"),
        known("branch"),
        entry.tokens_used.to_string(),
        links.join(" "),
        known("prompt"),
        entry.summary.clone(),
        entry.checksum.to_string(),
    ]
}

/// A line of RFC 4180.
pub fn row<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    let fields: Vec<String> = fields
        .into_iter()
        .map(|text| field(text.as_ref()))
        .collect();
    fields.join(",") + "\r\n"
}

/// A field, quoted where it must be, and never a formula.
///
/// Spreadsheets skip blanks before a formula, read signs of full width as the usual ones, and in many countries end a
/// field at a semicolon.
fn field(text: &str) -> String {
    const STARTS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    let is_formula = text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(STARTS);
    let guarded = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if guarded.contains(['"', ',', ';', '\t', '\r', '\n']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-SEC-1: what an executor wrote is never run by a spreadsheet.
    #[test]
    fn fields_are_quoted_and_never_formulas() {
        assert_eq!(row(["a", "b c", ""]), "a,b c,\r\n");
        assert_eq!(field("say \"hi\", now\n"), "\"say \"\"hi\"\", now\n\"");
        assert_eq!(field("=1+2"), "'=1+2");
        assert_eq!(field("-x,\"y\""), "\"'-x,\"\"y\"\"\"");
        assert_eq!(field("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(field(" \u{a0}=1+2"), "' \u{a0}=1+2");
        assert_eq!(field("＝1"), "'＝1");
        assert_eq!(field("\n=1"), "\"'\n=1\"");
        assert_eq!(field("a;=1"), "\"a;=1\"");
        assert_eq!(field("a - b = c"), "a - b = c");
    }
}
