//! Arguments and output of `callosum ledger query`.
//!
//! The use case is [`callosum_app::ledger::query`].

use std::num::NonZeroUsize;

use callosum_app::ledger::entry;
use callosum_app::ledger::filter::Filter;
use callosum_app::ledger::query::{QueryOutput, entries, first_words};
use callosum_app::{CommandError, thousands};
use callosum_ledger::Entry;
use clap::Args;
use serde_json::Value;

use super::filter::FilterArgs;
use crate::cli::context::Context;
use crate::ui::{Table, at_least_one, shown_time};

/// List entries, newest first
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger query
  $ callosum ledger query --executor scout --limit 3 --json
  $ callosum ledger query --since 7d --text parser")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    filter: FilterArgs,
    /// Print at most N entries
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: NonZeroUsize,
}

pub(super) fn run(context: &Context, args: &QueryArgs) -> Result<(), CommandError> {
    let found = entries(context, &Filter::from(&args.filter), args.limit.get())?;
    if context.ui.json {
        let entries = found
            .iter()
            .map(entry::as_value)
            .collect::<Result<_, _>>()?;
        return context.ui.json_data(&QueryOutput { entries });
    }
    if found.is_empty() {
        context.report.say("no entry matches");
        return Ok(());
    }
    let mut rows = Rows::new();
    for entry in &found {
        rows.push(entry);
    }
    context.ui.data(&rows.render())
}

/// Entries as a table for a person.
pub(super) struct Rows(Table);

impl Rows {
    pub(super) fn new() -> Self {
        Self(Table::new(&[
            "task", "time", "executor", "kind", "mode", "tokens", "prompt",
        ]))
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        let known = |key: &str| {
            entry
                .metadata
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or("-")
        };
        self.0.row([
            entry.task_id.to_string(),
            shown_time(&entry.timestamp.to_string()),
            entry.executor.clone(),
            known("kind").to_owned(),
            known("mode").to_owned(),
            thousands(entry.tokens_used),
            first_words(known("prompt")),
        ]);
    }

    pub(super) fn render(&self) -> String {
        self.0.render()
    }
}
