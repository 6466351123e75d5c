//! `callosum ledger diff`: how two entries differ.

use std::fmt::Write as _;

use callosum_ledger::Entry;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use super::{entry, show};
use crate::{
    cli::{context::Context, store, task_prefix},
    ui::CommandError,
};

/// Show the differences between two entries
///
/// Prints each field that differs, and a unified diff of the summaries. Omits the checksum, since it
/// changes with any other field.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger diff cal_2026_01_02_0001 cal_2026_01_02_0002
  $ callosum ledger diff cal_2026_01_02_0001 cal_2026_01_02_0002 --json")]
pub(crate) struct DiffArgs {
    /// Task of the older entry: its id or a unique prefix
    #[arg(value_name = "A")]
    older: String,
    /// Task of the newer entry: its id or a unique prefix
    #[arg(value_name = "B")]
    newer: String,
}

/// `callosum ledger diff --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct DiffOutput {
    /// The fields that differ, those of `metadata` as `metadata.NAME`.
    pub(crate) fields: Vec<FieldOutput>,
    /// The unified diff of the summaries; empty where they are the same.
    pub(crate) summary: String,
}

/// A field that differs.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct FieldOutput {
    /// Its name.
    pub(crate) name: String,
    /// What it is in A; `null` where A has none.
    pub(crate) older: Option<Value>,
    /// What it is in B; `null` where B has none.
    pub(crate) newer: Option<Value>,
}

pub(super) fn run(context: &Context, args: &DiffArgs) -> Result<(), CommandError> {
    let reader = store::reader(context)?;
    let id = |text: &str| task_prefix::entry_id(&reader, text);
    let older = show::find(context, &reader, &id(&args.older)?)?.entry;
    let newer = show::find(context, &reader, &id(&args.newer)?)?.entry;
    let output = DiffOutput {
        fields: differing(&older, &newer)?,
        summary: unified(&older, &newer),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut text = String::new();
    for field in &output.fields {
        let shown = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "(none)".to_owned(),
        };
        let (older, newer) = (shown(&field.older), shown(&field.newer));
        let _ = writeln!(text, "{}: {older} -> {newer}", field.name);
    }
    text.push_str(&output.summary);
    context.ui.foreign(&text)
}

fn differing(older: &Entry, newer: &Entry) -> Result<Vec<FieldOutput>, CommandError> {
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

fn unified(older: &Entry, newer: &Entry) -> String {
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
