//! Arguments and output of `callosum ledger stats`.
//!
//! The use case is [`callosum_app::ledger::stats`].

use std::fmt::Write as _;

use callosum_app::ledger::stats::{ExecutorStatsOutput, StateStatsOutput, StatsOutput};
use callosum_app::{CommandError, ledger_errors, many, open_ledger, thousands};
use callosum_ledger::LedgerState;
use clap::Args;

use crate::cli::context::Context;
use crate::ui::{Table, shown_time};

/// Count the entries, bytes and tokens of the ledger and its archives
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger stats
  $ callosum ledger stats --json")]
pub(crate) struct StatsArgs {}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let stats = open_ledger::reader(context)?
        .stats()
        .map_err(|error| ledger_errors::unreadable(&error))?;
    let executors = stats.executors.into_iter().map(|(id, of)| {
        let numbers = ExecutorStatsOutput {
            entries: of.entries,
            tokens_used: of.tokens_used,
        };
        (id, numbers)
    });
    let states = LedgerState::ALL.map(|state| {
        let of = stats.states.get(&state).copied().unwrap_or_default();
        let numbers = StateStatsOutput {
            ledgers: of.ledgers,
            entries: of.entries,
        };
        (state.to_string(), numbers)
    });
    let output = StatsOutput {
        entries: stats.entries,
        archived_entries: stats.archived_entries,
        archives: stats.archives,
        ledger_bytes: stats.ledger_bytes,
        states: states.into(),
        tokens_used: stats.tokens_used,
        executors: executors.collect(),
        first: stats.first.map(|time| time.to_string()),
        last: stats.last.map(|time| time.to_string()),
    };
    if context.ui.json {
        return context.ui.json_data(&output);
    }
    let mut text = format!(
        "{} ({} in {}), {} active, {} used",
        many(output.entries, "entry"),
        thousands(output.archived_entries),
        many(output.archives, "archive"),
        many(output.ledger_bytes, "byte"),
        many(output.tokens_used, "token")
    );
    if let (Some(first), Some(last)) = (&output.first, &output.last) {
        let (first, last) = (shown_time(first), shown_time(last));
        let _ = write!(text, "\nfrom {first} to {last}");
    }
    text.push('\n');
    for state in LedgerState::ALL {
        let of = &output.states[&state.to_string()];
        if of.ledgers > 0 {
            let _ = writeln!(
                text,
                "{state}: {}, {}",
                many(of.ledgers, "ledger"),
                many(of.entries, "entry")
            );
        }
    }
    if !output.executors.is_empty() {
        let mut table = Table::new(&["executor", "entries", "tokens"]);
        for (id, of) in &output.executors {
            table.row([id.clone(), thousands(of.entries), thousands(of.tokens_used)]);
        }
        text.push_str(&table.render());
    }
    context.ui.data(&text)
}
