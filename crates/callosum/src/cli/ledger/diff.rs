//! Arguments and output of `callosum ledger diff`.
//!
//! The use case is [`callosum_app::ledger::diff`].

use std::fmt::Write as _;

use callosum_app::ledger::diff::{DiffOutput, differing, unified};
use callosum_app::ledger::show;
use callosum_app::{CommandError, open_ledger, task_prefix};
use clap::Args;
use serde_json::Value;

use crate::cli::context::Context;

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

pub(super) fn run(context: &Context, args: &DiffArgs) -> Result<(), CommandError> {
    let reader = open_ledger::reader(context)?;
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
