//! `callosum ledger diff`: differences between two entries.

use callosum_ledger::Entry;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use crate::CommandError;
use crate::ledger::entry;

/// `callosum ledger diff --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiffOutput {
    /// The fields that differ, those of `metadata` as `metadata.NAME`.
    pub fields: Vec<FieldOutput>,
    /// The unified diff of the summaries; empty where they are the same.
    pub summary: String,
}

/// A field that differs.
#[derive(Debug, JsonSchema, Serialize)]
pub struct FieldOutput {
    /// Its name.
    pub name: String,
    /// Value in A; `null` if A has none.
    pub older: Option<Value>,
    /// Value in B; `null` if B has none.
    pub newer: Option<Value>,
}

/// Returns the fields that differ between two entries.
pub fn differing(older: &Entry, newer: &Entry) -> Result<Vec<FieldOutput>, CommandError> {
    let (older, newer) = (flat(older)?, flat(newer)?);
    let mut names: Vec<&String> = older.iter().chain(&newer).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let value_in = |fields: &[(String, Value)], name: &str| {
        let field = fields.iter().find(|(known, _)| known == name);
        field.map(|(_, value)| value.clone())
    };
    let fields = names.into_iter().map(|name| FieldOutput {
        name: name.clone(),
        older: value_in(&older, name),
        newer: value_in(&newer, name),
    });
    Ok(fields.filter(|field| field.older != field.newer).collect())
}

/// The fields but for summary and checksum, those of the metadata among them.
fn flat(entry: &Entry) -> Result<Vec<(String, Value)>, CommandError> {
    let mut fields = Vec::new();
    let Value::Object(object) = entry::as_value(entry)? else {
        return Ok(fields);
    };
    for (name, value) in object {
        match value {
            Value::Object(inner) if name == "metadata" => fields.extend(
                inner
                    .into_iter()
                    .map(|(key, value)| (format!("metadata.{key}"), value)),
            ),
            value if name != "summary" && name != "checksum" => fields.push((name, value)),
            _ => {}
        }
    }
    Ok(fields)
}

/// Returns the difference of two entries as a unified diff.
pub fn unified(older: &Entry, newer: &Entry) -> String {
    if older.summary == newer.summary {
        return String::new();
    }
    let with_end = |text: &str| format!("{}\n", text.trim_end_matches('\n'));
    let (before, after) = (with_end(&older.summary), with_end(&newer.summary));
    TextDiff::from_lines(&before, &after)
        .unified_diff()
        .header(older.task_id.as_str(), newer.task_id.as_str())
        .to_string()
}
