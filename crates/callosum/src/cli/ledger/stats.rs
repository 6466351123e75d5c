//! `callosum ledger stats`: how much there is, from whom, and what it spared.

use std::fmt::Write as _;

use std::collections::BTreeMap;

use callosum_ledger::LedgerState;
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Table, many, shown_time, thousands},
};

/// Count the entries, bytes and tokens of the ledger and its archives
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  $ callosum ledger stats
  $ callosum ledger stats --json")]
pub(crate) struct StatsArgs {}

/// `callosum ledger stats --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct StatsOutput {
    /// Entries, archives included.
    pub(crate) entries: u64,
    /// Entries in archives.
    pub(crate) archived_entries: u64,
    /// How many archives there are.
    pub(crate) archives: u64,
    /// Bytes of the active ledger.
    pub(crate) ledger_bytes: u64,
    /// How many ledgers are in each state, and how many entries they have: `active`, `rotating`,
    /// `archived` (a checksum in it is wrong) and `validated` (an archive whose every checksum is
    /// right).
    pub(crate) states: BTreeMap<String, StateStatsOutput>,
    /// Tokens that executors say they used.
    pub(crate) tokens_used: u64,
    /// The same for each executor.
    pub(crate) executors: BTreeMap<String, ExecutorStatsOutput>,
    /// The time of the earliest entry.
    pub(crate) first: Option<String>,
    /// The time of the latest entry.
    pub(crate) last: Option<String>,
}

/// The ledgers of one state in numbers.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct StateStatsOutput {
    /// How many there are.
    pub(crate) ledgers: u64,
    /// How many entries they have.
    pub(crate) entries: u64,
}

/// One executor in numbers.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ExecutorStatsOutput {
    /// Its entries.
    pub(crate) entries: u64,
    /// Tokens that it says it used.
    pub(crate) tokens_used: u64,
}

pub(super) fn run(context: &Context) -> Result<(), CommandError> {
    let stats = store::reader(context)?
        .stats()
        .map_err(|error| store::unreadable(&error))?;
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
